import Audio
import CLibAV
import CLibAVLoader
import Platform

/// Converts decoded frames to one fixed format, even if the stream's format changes.
struct SampleConverter {
  private let format: AudioFormat
  private var shape: SampleShape?
  // Nil while the stream has the wanted rate and channels.
  private var resampler: Resampler?

  init(to format: AudioFormat) {
    self.format = format
  }

  /// What a frame became.
  enum Outcome {
    /// The output holds it.
    case converted
    /// The stream's format changes here: the output holds the end of the old format, and the frame
    /// must be passed again.
    case changed
    /// The frame cannot be converted.
    case impossible(String)
  }

  /// Replaces the content of `output` with the sound of a frame whose channels have `positions`.
  mutating func convert(
    _ frame: borrowing Frame, _ positions: ChannelPositions, into output: inout AudioBuffer
  ) -> Outcome {
    let shape = frame.shape
    if shape != self.shape {
      let hadSound = self.shape != nil
      if hadSound { finish(into: &output) }
      guard prepare(for: shape, positions) else {
        return .impossible(
          "no way from \(shape.channelCount) channels at \(shape.sampleRate) Hz to \(format)")
      }
      if hadSound { return .changed }
    }
    if let resampler {
      unsafe resampler.convert(
        frame.pointer.pointee.extended_data, count: frame.count, into: &output)
    } else {
      SampleReader.read(frame, into: &output)
    }
    return .converted
  }

  /// The rate of the stream as it is now.
  var streamRate: Hertz { shape.map { Hertz(Double($0.sampleRate)) } ?? format.sampleRate }

  /// Replaces the content of `output` with silence for `count` of the stream's lost frames.
  mutating func convertSilence(_ count: Frames, into output: inout AudioBuffer) {
    if let resampler { return resampler.convertSilence(count.count, into: &output) }
    output.reserve(count)
    output.frameCount = count
    output.silence()
  }

  /// Replaces the content of `output` with the frames held back.
  mutating func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    resampler?.finish(into: &output)
    shape = nil
    resampler = nil
  }

  private mutating func prepare(for shape: SampleShape, _ positions: ChannelPositions) -> Bool {
    guard shape.sampleRate > 0, shape.channelCount > 0 else { return false }
    self.shape = shape
    let isSame =
      Double(shape.sampleRate) == format.sampleRate.value
      && shape.channelCount == format.channelCount && SampleReader.canRead(shape.format)
    guard !isSame else { return true }
    resampler = Resampler(from: shape, positions, to: format)
    return resampler != nil
  }
}

extension AudioBuffer {
  /// Sets all the frames that the buffer holds to zero.
  mutating func silence() {
    for channel in 0..<channelCount {
      unsafe baseAddress(ofChannel: channel).update(repeating: 0, count: frameCount.count)
    }
  }
}

/// Reads a decoder's samples as planar floats, full scale ±1, without changing rate or channels.
enum SampleReader {
  /// Whether samples of this kind can be read.
  static func canRead(_ format: AVSampleFormat) -> Bool {
    [
      AV_SAMPLE_FMT_U8, AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_FLT,
      AV_SAMPLE_FMT_DBL, AV_SAMPLE_FMT_U8P, AV_SAMPLE_FMT_S16P, AV_SAMPLE_FMT_S32P,
      AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_DBLP, AV_SAMPLE_FMT_S64, AV_SAMPLE_FMT_S64P,
    ].contains(format)
  }

  /// Replaces the content of `output`, which has the frame's channels, with the frame's samples.
  static func read(_ frame: borrowing Frame, into output: inout AudioBuffer) {
    let count = frame.count
    output.reserve(Frames(count))
    output.frameCount = Frames(count)
    let format = frame.shape.format
    let isPlanar = av_sample_fmt_is_planar(format) != 0
    let stride = isPlanar ? 1 : output.channelCount
    for channel in 0..<output.channelCount {
      guard let plane = unsafe frame.pointer.pointee.extended_data[isPlanar ? channel : 0] else {
        continue
      }
      let source = UnsafeRawPointer(plane)
      let first = isPlanar ? 0 : channel
      let target = unsafe output.baseAddress(ofChannel: channel)
      switch format {
      case AV_SAMPLE_FMT_FLTP:
        unsafe target.update(from: source.assumingMemoryBound(to: Float.self), count: count)
      case AV_SAMPLE_FMT_FLT:
        unsafe read(source, first, stride, count, target) { (sample: Float) in sample }
      case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P:
        unsafe read(source, first, stride, count, target) { (sample: Int16) in
          Float(sample) * 0x1p-15
        }
      case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P:
        unsafe read(source, first, stride, count, target) { (sample: Int32) in
          Float(sample) * 0x1p-31
        }
      case AV_SAMPLE_FMT_S64, AV_SAMPLE_FMT_S64P:
        unsafe read(source, first, stride, count, target) { (sample: Int64) in
          Float(sample) * 0x1p-63
        }
      case AV_SAMPLE_FMT_DBL, AV_SAMPLE_FMT_DBLP:
        unsafe read(source, first, stride, count, target) { (sample: Double) in Float(sample) }
      default:
        unsafe read(source, first, stride, count, target) { (sample: UInt8) in
          (Float(sample) - 128) * 0x1p-7
        }
      }
    }
  }

  @inline(__always)
  private static func read<Sample: BitwiseCopyable>(
    _ source: UnsafeRawPointer, _ first: Int, _ stride: Int, _ count: Int,
    _ target: UnsafeMutablePointer<Float>, _ convert: (Sample) -> Float
  ) {
    let samples = unsafe source.assumingMemoryBound(to: Sample.self) + first
    if stride == 1 {
      for index in 0..<count { unsafe target[index] = unsafe convert(samples[index]) }
    } else {
      for index in 0..<count { unsafe target[index] = unsafe convert(samples[index &* stride]) }
    }
  }
}
