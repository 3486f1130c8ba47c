package import Audio
package import PipelineEngine
package import PipelineModel
package import Platform

extension StageFamily {
  /// The stages that sound streams through.
  package static let sound = StageFamily("sound")
}

/// A stage that sound begins with.
package protocol SoundSourceStage: Stage {
  /// Opens what it reads, in the order of its ports; nothing, where it makes sound by itself.
  func open(_ inputs: [SoundInput]) throws(SpoolError) -> any SoundSource
  /// What the inputs' headers say, without decoding them.
  func outline(of inputs: [SoundInput]) throws(SpoolError) -> SoundOutline
}

/// One of the things that a source reads.
package struct SoundInput {
  /// The port, or the place in a port's list: `tracks.2`.
  package let place: PortName
  /// What is to be read.
  package let origin: Origin

  /// Where it lies.
  package enum Origin {
    /// A file as it came in.
    case recording(SourceFile)
    /// What an earlier step left.
    case kept(PCMArtifact)
    /// What an earlier step will have left; nil where nothing is known of it yet.
    case awaited(SoundOutline?)
  }

  /// Finds what a pass begins with.
  package init(_ input: PassOrder.SourceInput, in store: (any ArtifactStore)?) throws(SpoolError) {
    place = input.place
    switch (input.origin, store) {
    case (.recording(_, let file), _): origin = .recording(file)
    case (.kept(_, let artifact), let store?): origin = .kept(try PCMArtifact(artifact, in: store))
    case (.kept, nil): origin = .awaited(nil)
    case (.awaited(_, let outline), _):
      origin = .awaited(outline.flatMap { try? Findings.decode(SoundOutline.self, from: $0) })
    }
  }

  /// Finds several of them.
  static func all(
    _ inputs: [PassOrder.SourceInput], in store: (any ArtifactStore)?
  ) throws(SpoolError) -> [SoundInput] {
    try inputs.map { (input) throws(SpoolError) in try SoundInput(input, in: store) }
  }

  /// The file of a recording.
  package func file() throws(SpoolError) -> SourceFile {
    guard case .recording(let file) = origin else { throw SpoolError("\(place) is no recording") }
    return file
  }
}

/// A stage that changes sound as it flows by.
package protocol SoundFilterStage: Stage {
  /// Makes the processor for a stream of this format. One that is a `ReportingProcessor` has its
  /// report kept as the step's measurement.
  func makeProcessor(for format: AudioFormat) throws(SpoolError) -> any Processor
  /// The same for a stage whose processor waits for another program.
  /// - Parameter check: called several times a second while it waits; throws when the pass has to stop.
  func makeProcessor(
    for format: AudioFormat, check: @escaping @Sendable () throws(SpoolError) -> Void
  ) throws(SpoolError) -> any Processor
  /// What becomes of a stream of this kind. A stage that changes the format or the length says so
  /// here, and throws where nothing sensible can come out.
  func outline(after stream: SoundOutline) throws(SpoolError) -> SoundOutline
  /// What people are warned of when the stream has ended.
  /// - Parameter report: what the processor tells that it did.
  func warnings(of report: any Sendable) -> [String]
}

extension SoundFilterStage {
  package func makeProcessor(
    for format: AudioFormat, check: @escaping @Sendable () throws(SpoolError) -> Void
  ) throws(SpoolError) -> any Processor { try makeProcessor(for: format) }
  package func warnings(of report: any Sendable) -> [String] { [] }
  package func outline(after stream: SoundOutline) -> SoundOutline { stream }
}

/// A stage that changes sound, but must have heard all of it first.
package protocol AnalysedSoundStage: Stage {
  /// Makes the listener that hears the stream in the pass before.
  /// - Parameter resuming: the state of a listener that heard the beginning in another process.
  func makeAnalysis(
    of format: AudioFormat, resuming: ListenerProgress?
  ) throws(SpoolError) -> any SoundAnalysis
  /// Makes the processor from what the analysis recorded.
  func makeProcessor(for format: AudioFormat, memo: String) throws(SpoolError) -> any Processor
  /// What becomes of a stream of this kind.
  func outline(after stream: SoundOutline, memo: String) throws(SpoolError) -> SoundOutline
}

extension AnalysedSoundStage {
  package func outline(after stream: SoundOutline, memo: String) -> SoundOutline { stream }
}

/// A stage that takes sound and gives something else.
package protocol SoundSinkStage: Stage {
  /// Throws where nothing sensible can come of a stream, as far as is known beforehand.
  func check(_ stream: SoundOutline) throws(SpoolError)
  /// Makes the sink for a stream.
  func makeSink(for stream: SoundOutline, in context: SinkContext) throws(SpoolError)
    -> any SoundSink
  /// What it will write for a stream of this kind, and how long it will take on one core.
  func cost(of stream: SoundOutline) -> SinkCost
  /// Whether it writes the sound itself, and not what it finds in it.
  var writesSound: Bool { get }
}

extension SoundSinkStage {
  package var writesSound: Bool { false }
  /// It takes any stream.
  package func check(_ stream: SoundOutline) {}
}

/// A stream of sound with its length, as far as that is known beforehand.
package struct SoundOutline: Hashable, Sendable, Codable {
  package let format: AudioFormat
  package let frames: Frames?
  /// Whether the length is no more than a guess, from the bit rate: good enough to reckon with, and
  /// no reason to refuse anything.
  package var isGuessed = false

  package init(format: AudioFormat, frames: Frames?, isGuessed: Bool = false) {
    self.format = format
    self.frames = frames
    self.isGuessed = isGuessed
  }

  /// Its length in seconds, where that is known.
  package var duration: Seconds? { frames?.duration(at: format.sampleRate) }

  /// Its length where that can be relied on, but for a codec's padding.
  package var certainFrames: Frames? { isGuessed ? nil : frames }

  /// The stream with other lengths, or in another format.
  package func changed(
    to format: AudioFormat? = nil, _ length: (Frames) -> Frames = { $0 }
  ) -> SoundOutline {
    SoundOutline(format: format ?? self.format, frames: frames.map(length), isGuessed: isGuessed)
  }
}

/// An open recording, or kept sound, read from its beginning to its end by one thread.
package protocol SoundSource: AnyObject {
  /// What it gives.
  var outline: SoundOutline { get }
  /// Lets everything before `frame` go by, as far as that can be had for nothing; called once,
  /// before the first `read`.
  /// - Returns: the frame that comes next.
  func skip(to frame: Frames) throws(SpoolError) -> Frames
  /// Fills `buffer` as far as there is sound; false when there is no more.
  func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool
  /// What is worth keeping about it once it was read to its end, as JSON; nil if nothing is.
  func report() -> String?
  /// What went wrong on the way without ending it.
  var warnings: [String] { get }
  /// A warning of sound over full scale, for where no ceiling follows; nil where there is none.
  var overload: String? { get }
}

extension SoundSource {
  /// What comes from elsewhere is as it is.
  package var overload: String? { nil }

  /// A decoder that starts in the middle has another past than one that came from the beginning,
  /// and gives other samples for a while: nothing can be left out.
  package func skip(to frame: Frames) -> Frames { .zero }
}

/// Takes a stream on a thread of its own and gives artifacts. It may resume from the state of an
/// earlier process.
package protocol SoundSink: AnyObject {
  /// The first frame that it takes: what comes before, an earlier process has had.
  var firstFrame: Frames { get }
  /// Takes the next block.
  func take(_ block: SharedBuffer) throws(SpoolError)
  /// How far it is, asked on any thread; nil while it could only start from the beginning.
  func progress() -> ListenerProgress?
  /// Makes durable what it has written, as far as any earlier `progress` counted on it. Called on
  /// the thread that asked, while blocks are taken on another.
  func flush() throws(SpoolError)
  /// What an earlier process left of it and is damaged, by name, and the frame from which that is made
  /// again.
  var damagedParts: [String: Frames] { get }
  /// The pass has failed or is to stop: a thread that waits for this listener returns soon. Called
  /// once at most, on any thread.
  func cancel()
  /// The stream has ended: seals what was written.
  func finish() throws(SpoolError) -> PassOutcome.Result
  /// Whether it needs the stream once more, from where `progress` says: asked when it has finished.
  var needsStreamAgain: Bool { get }
}

extension SoundSink {
  /// The beginning.
  package var firstFrame: Frames { .zero }
  /// It starts from the beginning.
  package func progress() -> ListenerProgress? { nil }
  /// It has no parts that go on by themselves.
  package var damagedParts: [String: Frames] { [:] }
  /// It has written nothing.
  package func flush() {}
  /// No thread waits for it for long.
  package func cancel() {}
  /// It has all that it needs.
  package var needsStreamAgain: Bool { false }
}

/// How far a listener is.
package struct ListenerProgress: Hashable, Sendable {
  /// The frame from which it needs sound.
  package let needsFrom: Frames
  /// What it goes on from, in its own terms.
  package let state: String

  package init(needsFrom: Frames, state: String) {
    self.needsFrom = needsFrom
    self.state = state
  }
}

/// Where a listener keeps what outlives the process.
package struct ListenerWork {
  /// Where unfinished files lie.
  package let claim: any WorkClaim
  /// The beginning of its files' names: no other listener of the pass has it.
  package let name: String
  /// How far an earlier process came with it; nil where it begins.
  package let resuming: ListenerProgress?

  package init(claim: any WorkClaim, name: String, resuming: ListenerProgress?) {
    self.claim = claim
    self.name = name
    self.resuming = resuming
  }
}

/// Hears a whole stream, and then decides what its stage will do to it.
package protocol SoundAnalysis: SoundSink {
  /// The stream has ended. `sound` reads it again from the store each time it is opened; `pool` has
  /// a thread for each core.
  /// - Returns: the memo that the stage's processor is made from, and findings for people.
  func conclude(
    _ sound: PCMArtifact, store: any ArtifactStore, pool: WorkerPool,
    check: @escaping @Sendable () throws(SpoolError) -> Void
  ) throws(SpoolError) -> PassOutcome.Result
}

extension SoundAnalysis {
  /// It has nothing to give before it concludes.
  package func finish() -> PassOutcome.Result { PassOutcome.Result() }
}

/// What a sink may touch besides the stream.
package struct SinkContext {
  /// Where artifacts are written.
  package let store: any ArtifactStore
  /// Where those lie that are not finished.
  package let work: ListenerWork
  /// What the stage reads besides the stream, in the order of its ports.
  package var inputs: [SoundInput] = []
  /// Threads for work that can be cut in pieces, one a core.
  package let pool: WorkerPool
  /// Memory for blocks.
  package let buffers: BufferPool
  /// What the stages above promise of the stream's levels; nil for nothing.
  package var promise: LevelPromise?
  /// Whether the same stream can be had once more.
  package var canRepeat = false
  /// Told of each file as soon as it is whole, on the thread that made it.
  package let didSeal: @Sendable (PortName, Artifact) -> Void

  package init(
    store: any ArtifactStore, work: ListenerWork, inputs: [SoundInput] = [], pool: WorkerPool,
    buffers: BufferPool, didSeal: @escaping @Sendable (PortName, Artifact) -> Void
  ) {
    self.store = store
    self.work = work
    self.inputs = inputs
    self.pool = pool
    self.buffers = buffers
    self.didSeal = didSeal
  }
}

/// What a sink will write, and how long it will work.
package struct SinkCost: Hashable, Sendable {
  /// Bytes for the store.
  package var byteCount = 0
  /// Bytes for the store besides, which go when the work is done.
  package var scratchByteCount = 0
  /// Of those that stay, bytes that go on to the output folder.
  package var publishedByteCount = 0
  /// Seconds of one core for a second of sound.
  package var coreSeconds = 0.0

  package init(
    byteCount: Int = 0, scratchByteCount: Int = 0, publishedByteCount: Int = 0,
    coreSeconds: Double = 0.0
  ) {
    self.byteCount = byteCount
    self.scratchByteCount = scratchByteCount
    self.publishedByteCount = publishedByteCount
    self.coreSeconds = coreSeconds
  }
}

extension StageDescriptor {
  /// A stage that takes sound and gives sound as it flows by, or in another role. `report` says what
  /// the processor's report tells, where it gives one.
  package static func soundFilter(
    _ kind: String, revision: Int, summary: String, discussion: String,
    parameters: [ParameterDescriptor], shorthand: String? = nil, report: String? = nil,
    role: Flow.Role = .filter
  ) -> StageDescriptor {
    StageDescriptor(
      kind: kind, revision: revision, summary: summary, discussion: discussion,
      flow: .streaming(.sound, role),
      inputs: [Port(.sound, .sound, "the sound to treat")],
      outputs: [Port(.sound, .sound, "the treated sound")]
        + (report.map { [Port(.measurement, .measurement, "\($0), as JSON")] } ?? []),
      parameters: parameters, shorthand: shorthand)
  }

  /// A stage that takes sound, hears it to its end, and then gives sound.
  package static func analysedFilter(
    _ kind: String, revision: Int, summary: String, discussion: String,
    parameters: [ParameterDescriptor], shorthand: String? = nil, report: String
  ) -> StageDescriptor {
    soundFilter(
      kind, revision: revision, summary: summary, discussion: discussion, parameters: parameters,
      shorthand: shorthand, report: report, role: .analysedFilter)
  }
}

/// A stage that moves sound in time.
package protocol TimeMovingStage: SoundFilterStage {
  /// Where what is left begins in what the stage took, where the rest follows it as it was; nil where
  /// anything else was moved too.
  func beginning(at rate: Hertz) -> Frames?
}

extension TimeMovingStage {
  /// More was moved than the beginning.
  package func beginning(at rate: Hertz) -> Frames? { nil }

  /// A stage that moves sound in time, and tells where it went.
  package static func timeChange(
    _ kind: String, revision: Int, summary: String, discussion: String,
    parameters: [ParameterDescriptor], shorthand: String? = nil
  ) -> StageDescriptor {
    .soundFilter(
      kind, revision: revision, summary: summary,
      discussion: discussion + """
         \nThe measurement is a map of the time, as JSON: the length in seconds `before` and \
        `after`, and the `pieces` that are left, each `from` and `to` when it was, and `at` and \
        `until` when it is; words and markers move with it.
        """,
      parameters: parameters, shorthand: shorthand,
      report: "where each stretch of the old time went")
  }
}

extension Seconds {
  /// For people: `2.5 s`, to the millisecond.
  package var words: String {
    let rounded = (value * 1000).rounded() / 1000
    return rounded == rounded.rounded() ? "\(Int(rounded)) s" : "\(rounded) s"
  }
}
