internal import Audio
internal import CLibAV
internal import CLibAVLoader

/// The owner of a libswresample converter: any samples to planar floats at another rate or channel
/// count.
///
/// Channels are mixed by the library's standard matrix, scaled so that a mix never exceeds full
/// scale (stereo to mono is the mean of both); mono keeps its level in both stereo channels, where
/// the library would lower it by 3 dB.
@safe final class Resampler {
  private let context: OpaquePointer
  private let channelCount: Int

  /// Nil if the library does not support the conversion. Channels without positions are mixed as
  /// if they had some, of which none is for low frequencies alone and left out.
  init?(from shape: SampleShape, _ positions: ChannelPositions, to format: AudioFormat) {
    let count = shape.channelCount
    // Equal channel counts pass unmixed, whatever their layout.
    let isMixed = count != format.channelCount
    var source = unsafe AVChannelLayout()
    unsafe source.set(
      isMixed && positions.isEmpty ? .substitute(for: count) : positions, channelCount: count)
    var target = unsafe AVChannelLayout()
    unsafe target.set(
      isMixed ? format.positions : positions, channelCount: format.channelCount)
    defer {
      unsafe av_channel_layout_uninit(&source)
      unsafe av_channel_layout_uninit(&target)
    }
    let made = unsafe spool_resampler_make(
      &target, AV_SAMPLE_FMT_FLTP.rawValue, Int32(format.sampleRate.value),
      &source, shape.format.rawValue, Int32(shape.sampleRate))
    guard let context = unsafe made else { return nil }
    unsafe av_opt_set_double(UnsafeMutableRawPointer(context), "rematrix_maxval", 1, 0)
    if shape.channelCount == 1 && format.channelCount == 2 {
      unsafe av_opt_set_double(
        UnsafeMutableRawPointer(context), "rematrix_volume", 2.0.squareRoot(), 0)
    }
    guard LibAV.calling({ unsafe swr_init(context) }) >= 0 else {
      var context: OpaquePointer? = unsafe context
      unsafe swr_free(&context)
      return nil
    }
    unsafe self.context = context
    channelCount = format.channelCount
  }

  /// Nil if the library does not support the conversion between planar formats.
  convenience init?(from source: AudioFormat, to target: AudioFormat) {
    let shape = SampleShape(
      format: AV_SAMPLE_FMT_FLTP, sampleRate: Int(source.sampleRate.value),
      channelCount: source.channelCount)
    self.init(from: shape, source.positions, to: target)
  }

  deinit {
    var context: OpaquePointer? = unsafe context
    unsafe swr_free(&context)
  }

  /// Converts `count` frames and replaces the content of `output`, which grows if needed.
  func convert(
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, count: Int,
    into output: inout AudioBuffer
  ) {
    let most = unsafe Int(swr_get_out_samples(context, Int32(count)))
    output.reserve(Frames(max(most, 0) + 32))
    var targets: [UnsafeMutablePointer<UInt8>?] = unsafe (0..<output.channelCount).map {
      unsafe UnsafeMutableRawPointer(output.baseAddress(ofChannel: $0))
        .assumingMemoryBound(to: UInt8.self)
    }
    let capacity = Int32(output.capacity.count)
    let sources = unsafe UnsafeMutableRawPointer(planes)?
      .assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
    let made = unsafe spool_resampler_convert(
      context, &targets, capacity, sources, Int32(count))
    output.frameCount = Frames(max(0, Int(made)))
  }

  /// Converts a planar block; the library may hold some of it back.
  func convert(_ block: borrowing AudioBuffer) -> AudioBuffer {
    var planes: [UnsafeMutablePointer<UInt8>?] = unsafe (0..<block.channelCount).map {
      unsafe UnsafeMutableRawPointer(block.baseAddress(ofChannel: $0))
        .assumingMemoryBound(to: UInt8.self)
    }
    var output = AudioBuffer(channelCount: channelCount, capacity: block.capacity)
    unsafe convert(&planes, count: block.frameCount.count, into: &output)
    return output
  }

  /// The frames held back; no calls may follow.
  func finish() -> AudioBuffer {
    var output = AudioBuffer(channelCount: channelCount, capacity: Frames(64))
    finish(into: &output)
    return output
  }

  /// Converts the frames held back; no calls may follow.
  func finish(into output: inout AudioBuffer) {
    unsafe convert(nil, count: 0, into: &output)
  }

  /// Converts `count` frames of silence, and replaces the content of `output` with the result.
  func convertSilence(_ count: Int, into output: inout AudioBuffer) {
    // The library converts the silence together with the next sound.
    _ = unsafe swr_inject_silence(context, Int32(count))
    output.frameCount = .zero
  }
}

extension AudioBuffer {
  /// Ensures room for `count` frames; growing discards the content.
  mutating func reserve(_ count: Frames) {
    guard count > capacity else { return }
    self = AudioBuffer(channelCount: channelCount, capacity: count)
  }
}
