import AudioModel
import DSP
import PipelineModel

/// The way from one format to another.
struct SoundFitting {
  let source: AudioFormat
  let target: AudioFormat
  /// For each channel that comes out, a gain for each that comes in; nil where they stay.
  private let matrix: [[Double]]?

  /// Nil where there is nothing to do; throws where there is no way.
  /// - Parameter title: whose sound it is, for messages.
  init?(
    from source: AudioFormat, to target: AudioFormat, of title: String
  ) throws(StageError) {
    guard source != target else { return nil }
    self.source = source
    self.target = target
    switch (source.channelCount, target.channelCount) {
    case (let old, let new) where old == new: matrix = nil
    case (let old, 1): matrix = Downmix.mono(from: old, law: .amplitude)
    case (let old, 2): matrix = Downmix.stereo(from: old)
    case (let old, let new):
      throw StageError(
        "\(title) has \(old) channel\(old == 1 ? "" : "s"), and the whole has \(new)",
        reason: "only one or two channels are made of others",
        advice: "channels: 2, or put channels above for this part")
    }
  }

  /// Fewer channels come first: they are less to resample.
  func makeChain() -> ProcessorChain {
    var processors: [any Processor] = []
    if let matrix { processors.append(ChannelMatrix(matrix, format: source)) }
    if source.sampleRate != target.sampleRate {
      processors.append(
        Resampler(
          to: target.sampleRate, format: processors.last?.outputFormat ?? source))
    }
    return ProcessorChain(processors, format: source)
  }

  /// How many frames come out.
  func length(of frames: Frames) -> Frames {
    guard source.sampleRate != target.sampleRate else { return frames }
    return Resampler.length(of: frames, from: source.sampleRate, to: target.sampleRate)
  }
}

/// A source brought to another format.
final class FittedSource: SoundSource {
  let outline: SoundOutline
  private let source: any SoundSource
  private let chain: ProcessorChain
  private var incoming: AudioBuffer
  private var ready: BlockFiller
  private var isOver = false

  /// Reads `source`, from which the way begins.
  init(_ source: any SoundSource, _ fitting: SoundFitting) {
    self.source = source
    outline = source.outline.changed(to: fitting.target) { fitting.length(of: $0) }
    chain = fitting.makeChain()
    let length = SoundStream.blockLength
    incoming = AudioBuffer(channelCount: fitting.source.channelCount, capacity: length)
    ready = BlockFiller(
      channelCount: fitting.target.channelCount,
      capacity: max(chain.blockCapacity(for: length), chain.capacity(for: .zero)))
  }

  var warnings: [String] { source.warnings }

  func read(into buffer: inout AudioBuffer) throws(StageError) -> Bool {
    try ready.fill(&buffer) { (piece) throws(StageError) in
      if isOver { return false }
      if try source.read(into: &incoming) {
        chain.process(incoming, into: &piece)
      } else {
        chain.finish(into: &piece)
        isOver = true
      }
      return true
    }
  }

  func report() -> String? { nil }
}
