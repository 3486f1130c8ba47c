import AudioModel
import PipelineEngine
import PipelineModel
import Threading

extension StageFamily {
  /// The stages that sound streams through.
  static let sound = StageFamily("sound")
}

/// A stage that sound begins with.
protocol SoundSourceStage: Stage {
  /// Opens what it reads, in the order of its ports; nothing, where it makes sound by itself.
  func open(_ inputs: [SoundInput]) throws(StageError) -> any SoundSource
  /// What the inputs' headers say, without decoding them.
  func outline(of inputs: [SoundInput]) throws(StageError) -> SoundOutline
}

/// One of the things that a source reads.
struct SoundInput {
  /// The port, or the place in a port's list: `tracks.2`.
  let place: PortName
  /// What is to be read.
  let origin: Origin

  /// Where it lies.
  enum Origin {
    /// A file as it came in.
    case recording(path: String)
    /// What an earlier step left.
    case kept(KeptSound)
    /// What an earlier step will have left; nothing is known of it yet.
    case awaited
  }

  /// Finds what a pass begins with.
  init(_ input: PassOrder.SourceInput, in store: (any ArtifactStore)?) throws(StageError) {
    place = input.place
    switch input.origin {
    case .recording(_, let path): origin = .recording(path: path)
    case .kept(_, let artifact):
      guard let store else {
        origin = .awaited
        return
      }
      origin = .kept(try KeptSound(artifact, in: store))
    case .awaited: origin = .awaited
    }
  }

  /// The path of a recording.
  func path() throws(StageError) -> String {
    guard case .recording(let path) = origin else {
      throw StageError("\(place) is no recording")
    }
    return path
  }
}

/// A stage that changes sound as it flows by.
protocol SoundFilterStage: Stage {
  /// Makes the processor for a stream of this format. One that is a `ReportingProcessor` has its
  /// report kept as the step's measurement.
  func makeProcessor(for format: AudioFormat) throws(StageError) -> any Processor
  /// What becomes of a stream of this kind. A stage that changes the format or the length says so
  /// here, and throws where nothing sensible can come out.
  func outline(after stream: SoundOutline) throws(StageError) -> SoundOutline
  /// What people are warned of when the stream has ended.
  /// - Parameter report: what the processor tells that it did.
  func warnings(of report: any Sendable) -> [String]
  /// Whether the same sound always gives the same. A pass with a stage that cannot promise it is
  /// never gone on with.
  var isRepeatable: Bool { get }
}

extension SoundFilterStage {
  /// Nothing.
  func warnings(of report: any Sendable) -> [String] { [] }
  /// It stays as it is.
  func outline(after stream: SoundOutline) -> SoundOutline { stream }
  /// It does.
  var isRepeatable: Bool { true }
}

/// A stage that changes sound, but must have heard all of it first.
protocol AnalysedSoundStage: Stage {
  /// Makes the listener that hears the stream in the pass before.
  /// - Parameter resuming: the state of a listener that heard the beginning in another process.
  func makeAnalysis(
    of format: AudioFormat, resuming: ListenerProgress?
  ) throws(StageError) -> any SoundAnalysis
  /// Makes the processor from what the analysis noted.
  func makeProcessor(for format: AudioFormat, memo: String) throws(StageError) -> any Processor
  /// What becomes of a stream of this kind.
  func outline(after stream: SoundOutline, memo: String) throws(StageError) -> SoundOutline
}

extension AnalysedSoundStage {
  /// It stays as it is.
  func outline(after stream: SoundOutline, memo: String) -> SoundOutline { stream }
}

/// A stage that takes sound and gives something else.
protocol SoundSinkStage: Stage {
  /// Throws where nothing sensible can come of a stream, as far as can be told beforehand.
  func check(_ stream: SoundOutline) throws(StageError)
  /// Makes the sink for a stream.
  func makeSink(for stream: SoundOutline, in context: SinkContext) throws(StageError)
    -> any SoundSink
  /// What it will write for a stream of this kind, and how long it will take on one core.
  func cost(of stream: SoundOutline) -> SinkCost
}

extension SoundSinkStage {
  /// It takes any stream.
  func check(_ stream: SoundOutline) {}
}

/// A stream of sound with its length, as far as that is known beforehand.
struct SoundOutline: Hashable, Sendable {
  let format: AudioFormat
  let frames: Frames?
  /// Whether the length is no more than a guess, from the bit rate: good enough to reckon with, and
  /// no reason to refuse anything.
  var isGuessed = false

  /// Its length in seconds, where that is known.
  var duration: Seconds? { frames?.duration(at: format.sampleRate) }

  /// Its length where that can be relied on, but for a codec's padding.
  var certainFrames: Frames? { isGuessed ? nil : frames }

  /// The stream with other lengths, or in another format.
  func changed(
    to format: AudioFormat? = nil, _ length: (Frames) -> Frames = { $0 }
  ) -> SoundOutline {
    SoundOutline(format: format ?? self.format, frames: frames.map(length), isGuessed: isGuessed)
  }
}

/// An open recording, or kept sound, read from its beginning to its end by one thread.
protocol SoundSource: AnyObject {
  /// What it gives.
  var outline: SoundOutline { get }
  /// Lets everything before `frame` go by, as far as that can be had for nothing; called once,
  /// before the first `read`.
  /// - Returns: the frame that comes next.
  func skip(to frame: Frames) throws(StageError) -> Frames
  /// Fills `buffer` as far as there is sound; false when there is no more.
  func read(into buffer: inout AudioBuffer) throws(StageError) -> Bool
  /// What is worth keeping about it once it was read to its end, as JSON; nil if nothing is.
  func report() -> String?
  /// What went wrong on the way without ending it.
  var warnings: [String] { get }
}

extension SoundSource {
  /// A decoder that starts in the middle has another past than one that came from the beginning,
  /// and gives other samples for a while: nothing can be left out.
  func skip(to frame: Frames) -> Frames { .zero }
}

/// Hears a stream on a thread of its own, and may go on where it stood when an earlier process died.
protocol SoundListener: AnyObject {
  /// The first frame that it takes: what comes before, an earlier process has had.
  var firstFrame: Frames { get }
  /// Takes the next block.
  func take(_ block: SharedBuffer) throws(StageError)
  /// How far it is, asked on any thread; nil while it could only begin anew.
  func progress() -> ListenerProgress?
  /// Makes durable what it has written, as far as any earlier `progress` counted on it. Called on
  /// the thread that asked, while blocks are taken on another.
  func flush() throws(StageError)
  /// What an earlier process left of it and is damaged, by name, and the frame from which that is made
  /// again.
  var damagedParts: [String: Frames] { get }
  /// The pass has failed or is to stop: whoever waits for this listener returns soon. Called once at
  /// most, on any thread.
  func cancel()
}

extension SoundListener {
  /// The beginning.
  var firstFrame: Frames { .zero }
  /// It begins anew.
  func progress() -> ListenerProgress? { nil }
  /// It has no parts that go on by themselves.
  var damagedParts: [String: Frames] { [:] }
  /// It has written nothing.
  func flush() {}
  /// Nobody waits for it for long.
  func cancel() {}
}

/// How far a listener is.
struct ListenerProgress: Hashable, Sendable {
  /// The frame from which it needs sound.
  let needsFrom: Frames
  /// What it goes on from, in its own terms.
  let state: String
}

/// Where a listener keeps what outlives the process.
struct ListenerWork {
  /// Where unfinished files lie.
  let claim: any WorkClaim
  /// The beginning of its files' names: no other listener of the pass has it.
  let name: String
  /// How far an earlier process came with it; nil where it begins.
  let resuming: ListenerProgress?
}

/// Takes a stream and gives artifacts.
protocol SoundSink: SoundListener {
  /// The stream has ended: seals what was written.
  func finish() throws(StageError) -> PassOutcome.Result
}

/// Hears a whole stream, and then decides what its stage will do to it.
protocol SoundAnalysis: SoundListener {
  /// The stream has ended. `sound` reads it again from the store, as often as it is opened;
  /// `pool` has a thread for each core.
  /// - Returns: the memo that the stage's processor is made from, and findings for people.
  func conclude(
    _ sound: KeptSound, store: any ArtifactStore, pool: WorkerPool,
    check: @escaping @Sendable () throws(StageError) -> Void
  ) throws(StageError) -> PassOutcome.Result
}

/// What a sink may touch besides the stream.
struct SinkContext {
  /// Where artifacts are written.
  let store: any ArtifactStore
  /// Where those lie that are not finished.
  let work: ListenerWork
  /// What the stage reads besides the stream, in the order of its ports.
  var inputs: [SoundInput] = []
  /// Threads for work that can be cut in pieces, one a core.
  let pool: WorkerPool
  /// Memory for blocks.
  let buffers: BufferPool
  /// Told of each file as soon as it is whole, on the thread that made it.
  let didSeal: @Sendable (PortName, Artifact) -> Void
}

/// What a sink will write, and how long it will work.
struct SinkCost: Hashable, Sendable {
  /// Bytes for the store.
  var byteCount = 0
  /// Bytes for the store besides, which go when the work is done.
  var scratchByteCount = 0
  /// Of those that stay, bytes that go on to the output folder.
  var publishedByteCount = 0
  /// Seconds of one core for a second of sound.
  var coreSeconds = 0.0
}
