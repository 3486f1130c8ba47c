internal import AudioModel
internal import CLibAV
internal import CLibAVLoader

/// Turns decoded frames into one unchanging format, however the stream changes on its way.
struct SampleConverter: ~Copyable {
  private let format: AudioFormat
  private var shape: SampleShape?
  // Nil while the stream's own rate and channels are those that are wanted.
  private var resampler: Resampler?

  init(to format: AudioFormat) {
    self.format = format
  }

  /// What a frame became.
  enum Outcome {
    /// The output holds it.
    case converted
    /// The stream changes here: the output holds the end of what came before, and the frame is
    /// to be given once more.
    case changed
    /// There is no way to convert it.
    case impossible(String)
  }

  /// Replaces the content of `output` with a frame's sound.
  mutating func convert(_ frame: borrowing Frame, into output: inout AudioBuffer) -> Outcome {
    let shape = frame.shape
    if shape != self.shape {
      let hadSound = self.shape != nil
      if hadSound { finish(into: &output) }
      guard prepare(for: frame, shape) else {
        return .impossible(
          "no way from \(shape.channelCount) channels at \(shape.sampleRate) Hz to \(format)")
      }
      if hadSound { return .changed }
    }
    switch resampler {
    case nil: SampleReader.read(frame, into: &output)
    case .some(let resampler):
      unsafe resampler.convert(
        frame.pointer.pointee.extended_data, count: frame.count, into: &output)
    }
    return .converted
  }

  /// The rate of the stream as it is now.
  var streamRate: Hertz { shape.map { Hertz(Double($0.sampleRate)) } ?? format.sampleRate }

  /// Replaces the content of `output` with `count` of the stream's frames of silence, in place of
  /// lost sound.
  mutating func convertSilence(_ count: Frames, into output: inout AudioBuffer) {
    switch resampler {
    case nil:
      output.reserve(count)
      output.frameCount = count
      output.silence()
    case .some(let resampler):
      resampler.convertSilence(count.count, into: &output)
    }
  }

  /// Replaces the content of `output` with what was held back.
  mutating func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    switch resampler {
    case nil: break
    case .some(let resampler): resampler.finish(into: &output)
    }
    shape = nil
    resampler = nil
  }

  private mutating func prepare(for frame: borrowing Frame, _ shape: SampleShape) -> Bool {
    guard shape.sampleRate > 0, shape.channelCount > 0 else { return false }
    self.shape = shape
    let isSame =
      Double(shape.sampleRate) == format.sampleRate.value
      && shape.channelCount == format.channelCount && SampleReader.canRead(shape.format)
    guard !isSame else { return true }
    resampler = unsafe Resampler(from: &frame.pointer.pointee.ch_layout, shape, to: format)
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
