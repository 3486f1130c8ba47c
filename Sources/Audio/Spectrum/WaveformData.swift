/// One zoom level of a waveform in version 2 of the data format of the BBC's `audiowaveform` (its
/// `doc/DataFormat.md`): pairs of minimum and maximum, with the channels of a point side by side.
/// Browser players read both its binary and its JSON form.
///
/// The JSON form has one additional member, `rms`: a value for each channel of each point, on the
/// scale of `data`. Readers ignore unknown members.
package struct WaveformData: Hashable, Sendable {
  /// The resolution of the values.
  package enum Bits: Int, Hashable, Sendable {
    /// −128 … 127.
    case eight = 8
    /// −32768 … 32767.
    case sixteen = 16
  }

  /// The format of the sound.
  package let format: AudioFormat
  package let framesPerPoint: Int
  /// Points of each channel.
  package let pointCount: Int
  package let bits: Bits

  package init(format: AudioFormat, framesPerPoint: Int, pointCount: Int, bits: Bits) {
    self.format = format
    self.framesPerPoint = framesPerPoint
    self.pointCount = pointCount
    self.bits = bits
  }

  /// The header of the binary form: 24 bytes, little-endian.
  package var binaryHead: [UInt8] {
    let fields = [
      2, bits == .eight ? 1 : 0, Int(format.sampleRate.value.rounded()), framesPerPoint, pointCount,
      format.channelCount,
    ]
    return fields.flatMap { field in
      (0..<4).map { UInt8(truncatingIfNeeded: UInt32(field) >> ($0 * 8)) }
    }
  }

  /// Appends a point of one channel in the binary form.
  package func appendBinary(_ peak: Peak, to bytes: inout [UInt8]) {
    let (lowest, highest) = (scaled(peak.lowest), scaled(peak.highest))
    bytes.append(UInt8(truncatingIfNeeded: lowest))
    if bits == .sixteen { bytes.append(UInt8(truncatingIfNeeded: lowest >> 8)) }
    bytes.append(UInt8(truncatingIfNeeded: highest))
    if bits == .sixteen { bytes.append(UInt8(truncatingIfNeeded: highest >> 8)) }
  }

  /// The JSON text before the first value of `data`.
  package var textHead: String {
    """
    {"version":2,"channels":\(format.channelCount),\
    "sample_rate":\(Int(format.sampleRate.value.rounded())),\
    "samples_per_pixel":\(framesPerPoint),"bits":\(bits.rawValue),"length":\(pointCount),"data":[
    """
  }

  /// The JSON text between `data` and `rms`.
  package var textMiddle: String { "],\"rms\":[" }

  /// The end of the JSON text.
  package var textEnd: String { "]}\n" }

  /// A sample on the scale of the format. Values beyond full scale are clipped; eight bits are
  /// sixteen divided by 256 and truncated, as in `audiowaveform`.
  package func scaled(_ sample: Float) -> Int {
    let bounded = min(max(Double(sample) * 32768, -32768), 32767)
    // To the nearest, halves away from zero; `rounded()` is a call to the maths library.
    let wide = Int(bounded < 0 ? bounded - 0.5 : bounded + 0.5)
    return bits == .eight ? wide / 256 : wide
  }
}
