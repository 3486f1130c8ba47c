import Audio
import Media
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine

/// `concat`: several recordings one after the other.
struct ConcatStage: PlainStage, SoundSourceStage {
  let crossfade: Seconds
  let curve: FadeCurve
  let sampleRate: Hertz?
  let channels: Int?

  static let descriptor = StageDescriptor(
    kind: "concat", revision: 2,
    summary: "Put several recordings one after the other, with or without crossfades",
    discussion: """
      Takes recordings and sound from the steps above, in this order: from: [intro, $parts]. What \
      has another rate or other channels than the first part is brought to its, or to the \
      sample-rate and channels that are given: rates as resample does it, two channels as stereo \
      makes them from any number, one as the mean of two (mono); no other number of channels is \
      made. All else stays as it is, bit for bit, so that the pieces of a split give the whole \
      again. Each crossfade makes the sound shorter by its length. A part between two others must \
      be twice as long as the crossfade, the first and the last once, or it is an error. The \
      measurement says where each part lies, in seconds.
      """,
    flow: .streaming(.sound, .source),
    inputs: [
      Port(PortName("parts"), .sound, "the parts, in order", intake: .both, isList: true)
    ],
    outputs: [
      Port(.sound, .sound, "all parts as one"),
      Port(.measurement, .measurement, "where each part lies, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "crossfade", .number(.milliseconds, 0...10_000), .defaulted("0 ms"),
        "how long the end of a part and the beginning of the next sound together"),
      ParameterDescriptor(
        "curve", .choice([FadeCurve.linear, .sCurve, .equalPower].map(\.rawValue)),
        .defaulted("equal-power"), "how one goes over into the other"),
      ParameterDescriptor(
        "sample-rate", .number(.hertz, 4000...768_000), .optional,
        "the rate of the whole; without it that of the first part"),
      ParameterDescriptor(
        "channels", .integer(1...64), .optional,
        "the channels of the whole; without it those of the first part"),
    ])

  static var libraries: [String: String] { MediaLibraries.versions }

  init(_ parameters: Self) throws(SpoolError) {
    self = parameters
    try sampleRate?.checkWhole(for: "concat", "sample-rate")
  }

  func open(_ inputs: [SoundInput]) throws(SpoolError) -> any SoundSource {
    ConcatSource(try layout(inputs))
  }

  func outline(of inputs: [SoundInput]) throws(SpoolError) -> SoundOutline {
    try layout(inputs).outline
  }

  private func layout(_ inputs: [SoundInput]) throws(SpoolError) -> ConcatLayout {
    var parts: [PartInput] = []
    for input in inputs { parts.append(try PartInput(input, number: parts.count + 1)) }
    return try ConcatLayout(
      parts, crossfade: crossfade, curve: curve, sampleRate: sampleRate, channelCount: channels)
  }
}

extension StageRegistration { static let concat = StageRegistration(ConcatStage.self) }

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
  func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
    try ready.fill(&buffer) { (stretch) throws(SpoolError) in try advance(into: &stretch) }
  }

  /// Gives the next stretch of sound, which may be empty; false behind the last part.
  private func advance(into stretch: inout AudioBuffer) throws(SpoolError) -> Bool {
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

/// Parts in their order, and what they become together. Nothing is decoded yet.
struct ConcatLayout {
  let parts: [PartInput]
  /// What comes out.
  let format: AudioFormat
  let crossfade: Frames
  let curve: FadeCurve
  /// How long each part is in the whole's format, as far as that is known.
  private let lengths: [SoundOutline?]

  /// Throws where parts cannot be joined, as far as their headers tell.
  /// - Parameters:
  ///   - sampleRate: nil for that of the first part of which anything is known.
  ///   - channelCount: the same.
  init(
    _ parts: [PartInput], crossfade: Seconds, curve: FadeCurve, sampleRate: Hertz?,
    channelCount: Int?
  ) throws(SpoolError) {
    guard !parts.isEmpty else {
      throw SpoolError("concat has no parts", advice: "name at least one recording")
    }
    self.parts = parts
    self.curve = curve
    let first = parts.lazy.compactMap(\.outline?.format).first
    let count = channelCount ?? first?.channelCount ?? 2
    let positions = Set(
      parts.compactMap(\.outline?.format).filter { $0.channelCount == count }.map(\.positions))
    let format = AudioFormat(
      sampleRate: sampleRate ?? first?.sampleRate ?? Hertz(48_000), channelCount: count,
      positions: positions.count == 1 ? positions.first : nil)
    self.format = format
    self.crossfade = crossfade.frames(at: format.sampleRate)
    var lengths: [SoundOutline?] = []
    for part in parts {
      guard let own = part.outline else {
        lengths.append(nil)
        continue
      }
      let fitting = try SoundFitting(from: own.format, to: format, of: part.title)
      lengths.append(own.changed(to: format) { fitting?.length(of: $0) ?? $0 })
    }
    self.lengths = lengths
    for (index, length) in lengths.enumerated() {
      if let frames = length?.certainFrames, frames < least(ofPart: index) {
        throw tooShort(index, frames)
      }
    }
  }

  /// Its format and, where the headers say how long the parts are, its length.
  var outline: SoundOutline {
    var total: Frames? = Frames(-(parts.count - 1) * crossfade.count)
    var isGuessed = false
    for length in lengths {
      total = total.flatMap { total in length?.frames.map { total + $0 } }
      isGuessed = isGuessed || length?.isGuessed ?? true
    }
    return SoundOutline(format: format, frames: total.map { max($0, .zero) }, isGuessed: isGuessed)
  }

  /// How long a part must be for its crossfades.
  private func least(ofPart index: Int) -> Frames {
    let joints = (index > 0 ? 1 : 0) + (index < parts.count - 1 ? 1 : 0)
    return Frames(joints * crossfade.count)
  }

  /// What is to be said of a part that has no room for its crossfades.
  func tooShort(_ index: Int, _ frames: Frames) -> SpoolError {
    let rate = format.sampleRate
    return SpoolError(
      "\(parts[index].title) is too short for crossfades of \(crossfade.duration(at: rate).words)",
      reason: "it is \(frames.duration(at: rate).words) long, and they take "
        + least(ofPart: index).duration(at: rate).words,
      advice: "a shorter crossfade, or leave the part out")
  }
}

/// One part of a whole, and what its header says.
struct PartInput {
  /// For messages: `part 2 (chorus.wav)`.
  let title: String
  /// What it is by itself; nil while nothing is known of it.
  let outline: SoundOutline?

  private let input: SoundInput

  /// Looks at a recording's header, or at kept sound.
  /// - Parameters:
  ///   - number: counted from 1.
  ///   - noun: what messages call it.
  init(_ input: SoundInput, number: Int, noun: String = "part") throws(SpoolError) {
    self.input = input
    switch input.origin {
    case .recording(let file):
      title = "\(noun) \(number) (\(file.title))"
      outline = try PartInput.decode.outline(of: [input])
    case .kept(let sound): (title, outline) = ("\(noun) \(number)", sound.outline)
    case .awaited(let outline): (title, self.outline) = ("\(noun) \(number)", outline)
    }
  }

  /// Opens it, brought to a format.
  func open(as format: AudioFormat) throws(SpoolError) -> any SoundSource {
    let source: any SoundSource
    switch input.origin {
    case .recording: source = try PartInput.decode.open([input])
    case .kept(let sound): source = try sound.open()
    case .awaited: throw SpoolError("\(title) is not made yet")
    }
    guard let fitting = try SoundFitting(from: source.outline.format, to: format, of: title) else {
      return source
    }
    return FittedSource(source, fitting)
  }

  /// A part is decoded as the stage of that name does it.
  private static let decode = DecodeStage(
    DecodeStage.Parameters(sampleRate: nil, channels: nil, stream: nil, damaged: "refuse"))
}

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
  ) throws(SpoolError) {
    guard source != target else { return nil }
    self.source = source
    self.target = target
    switch (source.channelCount, target.channelCount) {
    case (let old, let new) where old == new: matrix = nil
    case (_, 1): matrix = Downmix.mono(from: source, law: .linear)
    case (_, 2): matrix = Downmix.stereo(from: source)
    case (let old, let new):
      throw SpoolError(
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

  func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
    try ready.fill(&buffer) { (piece) throws(SpoolError) in
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
