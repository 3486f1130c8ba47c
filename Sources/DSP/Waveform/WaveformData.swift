public import AudioModel

/// One zoom level of a waveform in the data format, version 2, of the BBC's `audiowaveform`, as its
/// `doc/DataFormat.md` describes it: pairs of a minimum and a maximum, the channels of a point side
/// by side. Players and viewers in browsers read both forms.
///
/// The text form carries one member more than the description has, `rms`: a value for each channel
/// of each point, on the scale of `data`. Readers look members up by name and pass it over.
public struct WaveformData: Hashable, Sendable {
  /// The resolution of the values.
  public enum Bits: Int, Hashable, Sendable {
    /// −128 … 127.
    case eight = 8
    /// −32768 … 32767.
    case sixteen = 16
  }

  /// What was heard.
  public let format: AudioFormat
  /// Frames behind each point but the last.
  public let framesPerPoint: Int
  /// Points of each channel.
  public let pointCount: Int
  /// The resolution.
  public let bits: Bits

  /// Describes a level.
  public init(format: AudioFormat, framesPerPoint: Int, pointCount: Int, bits: Bits) {
    self.format = format
    self.framesPerPoint = framesPerPoint
    self.pointCount = pointCount
    self.bits = bits
  }

  /// The head of the binary form: 24 bytes, little-endian.
  public var binaryHead: [UInt8] {
    let fields = [
      2, bits == .eight ? 1 : 0, Int(format.sampleRate.value.rounded()), framesPerPoint, pointCount,
      format.channelCount,
    ]
    return fields.flatMap { field in
      (0..<4).map { UInt8(truncatingIfNeeded: UInt32(field) >> ($0 * 8)) }
    }
  }

  /// Adds a point of one channel in the binary form.
  public func appendBinary(_ peak: Peak, to bytes: inout [UInt8]) {
    let (lowest, highest) = (scaled(peak.lowest), scaled(peak.highest))
    bytes.append(UInt8(truncatingIfNeeded: lowest))
    if bits == .sixteen { bytes.append(UInt8(truncatingIfNeeded: lowest >> 8)) }
    bytes.append(UInt8(truncatingIfNeeded: highest))
    if bits == .sixteen { bytes.append(UInt8(truncatingIfNeeded: highest >> 8)) }
  }

  /// The head of the text form, up to the first value of `data`.
  public var textHead: String {
    """
    {"version":2,"channels":\(format.channelCount),\
    "sample_rate":\(Int(format.sampleRate.value.rounded())),\
    "samples_per_pixel":\(framesPerPoint),"bits":\(bits.rawValue),"length":\(pointCount),"data":[
    """
  }

  /// What stands between the last value of `data` and the first one of `rms`.
  public var textMiddle: String { "],\"rms\":[" }

  /// The end of the text form.
  public var textEnd: String { "]}\n" }

  /// A sample as a value of the format. Samples beyond full scale become the last value, and eight
  /// bits are what is left of sixteen divided by 256 without its fraction, as in `audiowaveform`.
  public func scaled(_ sample: Float) -> Int {
    let bounded = min(max(Double(sample) * 32768, -32768), 32767)
    // To the nearest, halves away from zero; a sample's own rounding is a call to the maths library.
    let wide = Int(bounded < 0 ? bounded - 0.5 : bounded + 0.5)
    return bits == .eight ? wide / 256 : wide
  }
}
