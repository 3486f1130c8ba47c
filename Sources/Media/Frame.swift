internal import CLibAV
internal import CLibAVLoader

/// One owner of an `AVFrame`: a run of decoded sound in whatever form the codec has it.
@safe struct Frame: ~Copyable {
  let pointer: UnsafeMutablePointer<AVFrame>

  init() {
    guard let pointer = unsafe av_frame_alloc() else { fatalError("out of memory") }
    unsafe self.pointer = pointer
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVFrame>? = unsafe pointer
    unsafe av_frame_free(&pointer)
  }

  /// How many sample frames it holds.
  var count: Int { unsafe Int(pointer.pointee.nb_samples) }

  /// What its samples look like.
  var shape: SampleShape {
    unsafe SampleShape(
      format: AVSampleFormat(rawValue: pointer.pointee.format),
      sampleRate: Int(pointer.pointee.sample_rate),
      channelCount: Int(pointer.pointee.ch_layout.nb_channels))
  }

  /// Lets the content go.
  func clear() { unsafe av_frame_unref(pointer) }
}

/// What decides how decoded samples are to be read.
struct SampleShape: Hashable {
  var format: AVSampleFormat
  var sampleRate: Int
  var channelCount: Int
}
