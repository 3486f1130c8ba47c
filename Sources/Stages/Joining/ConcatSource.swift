import AudioModel
import DSP
import PipelineEngine
import PipelineModel

/// Parts one after the other as the source of a pass. One of them is open at a time, and a block and
/// two crossfades of sound are in memory, however many there are.
final class ConcatSource: SoundSource {
  let outline: SoundOutline
  private(set) var warnings: [String] = []
  private let layout: ConcatLayout
  private let joiner: Joiner
  /// The part that is read, and its number, counted from 0.
  private var source: (any SoundSource)?
  private var index = 0
  /// Frames of it so far.
  private var taken = Frames.zero
  private var lengths: [Frames] = []
  private var incoming: AudioBuffer
  private var ready: BlockFiller

  /// Makes ready to read; nothing is decoded before the first `read`.
  init(_ layout: ConcatLayout) {
    self.layout = layout
    outline = layout.outline
    joiner = Joiner(crossfade: layout.crossfade, curve: layout.curve, format: layout.format)
    let channels = layout.format.channelCount
    incoming = AudioBuffer(channelCount: channels, capacity: SoundStream.blockLength)
    ready = BlockFiller(
      channelCount: channels, capacity: max(SoundStream.blockLength, layout.crossfade))
  }

  /// Fills the buffer across the joints.
  func read(into buffer: inout AudioBuffer) throws(StageError) -> Bool {
    try ready.fill(&buffer) { (stretch) throws(StageError) in try advance(into: &stretch) }
  }

  /// Gives the next stretch of sound, which may be empty; false behind the last part.
  private func advance(into stretch: inout AudioBuffer) throws(StageError) -> Bool {
    guard index < layout.parts.count else { return false }
    let part: any SoundSource
    if let source { part = source } else { part = try layout.parts[index].open(as: layout.format) }
    source = part
    if try part.read(into: &incoming) {
      taken += incoming.frameCount
      joiner.take(incoming, into: &stretch)
      return true
    }
    let title = layout.parts[index].title
    warnings += part.warnings.map { "\(title): \($0)" }
    lengths.append(taken)
    let isLast = index == layout.parts.count - 1
    let hasRoom = isLast ? joiner.finish(into: &stretch) : joiner.endPart()
    guard hasRoom else { throw layout.tooShort(index, taken) }
    source = nil
    index += 1
    taken = .zero
    return true
  }

  func report() -> String? {
    try? Findings.json(ConcatReport(lengths, crossfade: layout.crossfade, format: layout.format))
  }
}

/// What is written down about parts that were joined.
struct ConcatReport: Codable {
  /// Where one part lies in the whole, in seconds; it begins before the one above has ended where
  /// they are crossfaded.
  struct Part: Codable {
    let from: Seconds
    let to: Seconds
  }

  let sampleRate: Hertz
  let channels: Int
  /// How long the whole is, in seconds.
  let duration: Seconds
  let parts: [Part]

  /// - Parameter lengths: of the parts, in frames of the whole.
  init(_ lengths: [Frames], crossfade: Frames, format: AudioFormat) {
    let rate = format.sampleRate
    var end = crossfade
    parts = lengths.map { length in
      let start = end - crossfade
      end = start + length
      return Part(from: start.duration(at: rate), to: end.duration(at: rate))
    }
    sampleRate = rate
    channels = format.channelCount
    duration = end.duration(at: rate)
  }
}
