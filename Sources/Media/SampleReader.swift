internal import AudioModel
internal import CLibAV
internal import CLibAVLoader

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
