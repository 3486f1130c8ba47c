internal import AudioModel
internal import CLibAV
internal import CLibAVLoader

/// Changes the rate of planar sound, block by block.
final class RateConverter {
  private let resampler: Resampler
  private let format: AudioFormat

  /// Prepares a conversion between two rates of the same channels.
  init(from source: AudioFormat, to target: AudioFormat, path: String) throws(MediaError) {
    var layout = unsafe AVChannelLayout()
    unsafe av_channel_layout_default(&layout, Int32(source.channelCount))
    defer { unsafe av_channel_layout_uninit(&layout) }
    let shape = SampleShape(
      format: AV_SAMPLE_FMT_FLTP, sampleRate: Int(source.sampleRate.value),
      channelCount: source.channelCount)
    guard let resampler = unsafe Resampler(from: &layout, shape, to: target) else {
      throw MediaError(
        .unsupported, "write", path: path, reason: "no way from \(source) to \(target)",
        advice: "choose another rate")
    }
    self.resampler = resampler
    format = target
  }

  /// Converts a block; the library may hold some of it back.
  func convert(_ block: borrowing AudioBuffer) -> AudioBuffer {
    var planes: [UnsafeMutablePointer<UInt8>?] = unsafe (0..<block.channelCount).map {
      unsafe UnsafeMutableRawPointer(block.baseAddress(ofChannel: $0))
        .assumingMemoryBound(to: UInt8.self)
    }
    var output = AudioBuffer(channelCount: format.channelCount, capacity: block.capacity)
    unsafe resampler.convert(&planes, count: block.frameCount.count, into: &output)
    return output
  }

  /// What was held back.
  func finish() -> AudioBuffer {
    var output = AudioBuffer(channelCount: format.channelCount, capacity: Frames(64))
    resampler.finish(into: &output)
    return output
  }
}
