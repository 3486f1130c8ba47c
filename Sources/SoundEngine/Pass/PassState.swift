import Audio
import FoundationEssentials
import PipelineEngine
import PipelineModel
import Platform

/// The durable state of a pass: restart points of the stream and the position of each listener. The
/// sound between a restart point and a listener's position is streamed again, and the listener
/// skips it.
struct PassState: Codable, Hashable {
  /// A boundary between two blocks of the source, and the processors' states there.
  struct RestartPoint: Codable, Hashable {
    /// Frames of the source before it.
    let frame: Int
    /// Frames that each segment had given by then.
    let given: [Int]
    /// The state of each segment's processors, in Base64; nil for a segment without any.
    let states: [String?]

    init(frame: Frames, given: [Frames], states: [ProcessorSnapshot?]) {
      self.frame = frame.count
      self.given = given.map(\.count)
      self.states = states.map { $0.map { Data($0.bytes).base64EncodedString() } }
    }

    /// Bytes of the states as they are recorded.
    var byteCount: Int { states.reduce(0) { $0 + ($1?.utf8.count ?? 0) } }

    /// The state of one segment's processors.
    func state(ofSegment index: Int) -> ProcessorSnapshot? {
      states[index].flatMap { Data(base64Encoded: $0) }.map { ProcessorSnapshot(bytes: Array($0)) }
    }
  }

  /// The position of a listener, as it is recorded.
  struct State: Codable, Hashable {
    /// The segment of the pass that it hears.
    let segment: Int
    /// The frame of that segment's stream from which it needs sound.
    var needsFrom = 0
    /// The state from which it resumes, in its own form; nil for a listener that starts from the
    /// beginning.
    var state: String?
    /// What it gave, once it is done and needs nothing more.
    var result: PassOutcome.Result?
    /// Since when it needs sound from the same frame, in seconds since 1970, but not before this
    /// process began: what it did since then it had in hand, and does again. Nil for a listener
    /// that starts from the beginning.
    var movedAt: Double?

    init(segment: Int) { self.segment = segment }

    /// The state from which the listener resumes.
    var progress: ListenerProgress? {
      state.map { ListenerProgress(needsFrom: Frames(needsFrom), state: $0) }
    }
  }

  /// Restart points from the oldest to the newest.
  var moments: [RestartPoint] = []
  /// The listeners, in the order of the pass.
  var listeners: [State] = []

  /// The newest restart point from which every listener gets what it still needs; nil where there
  /// is none but the beginning. Listeners of the source itself do not count: it begins where they
  /// need it.
  var restart: RestartPoint? {
    moments.last { restartPoint in
      listeners.allSatisfy { listener in
        listener.result != nil || listener.segment == 0
          || restartPoint.given.indices.contains(listener.segment)
            && restartPoint.given[listener.segment] <= listener.needsFrom
      }
    }
  }

  /// How many restart points are kept whatever their size: one to restart from, and those that
  /// listeners approach.
  private static let leastMoments = 4

  /// Drops the restart points before the one to restart from, and thins the rest out.
  mutating func prune(to limit: Int, byteLimit: Int = .max) {
    if let restart { moments.removeAll { $0.frame < restart.frame } }
    while moments.count > limit
      || moments.count > PassState.leastMoments && byteCount > byteLimit
    {
      moments = moments.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
  }

  /// The entry to be written: where the restart points take more than `byteLimit` together, only
  /// the one to restart from.
  func written(byteLimit: Int) -> PassState {
    guard isBig(byteLimit) else { return self }
    var note = self
    note.moments = restart.map { [$0] } ?? []
    return note
  }

  /// Whether the restart points take more than `byteLimit` together.
  func isBig(_ byteLimit: Int) -> Bool { byteCount > byteLimit }

  /// What a resumed pass would gain from: another restart point, or one more finished listener.
  var landmark: Landmark {
    Landmark(restart: restart?.frame, done: listeners.count { $0.result != nil })
  }

  /// Where a pass would resume, in short.
  struct Landmark: Hashable {
    let restart: Int?
    let done: Int
  }

  /// Bytes of the restart points' states.
  private var byteCount: Int { moments.reduce(0) { $0 + $1.byteCount } }

  /// How the listener of this number stood, if it heard this segment.
  func listener(_ number: Int, segment: Int) -> State? {
    guard listeners.indices.contains(number), listeners[number].segment == segment else {
      return nil
    }
    return listeners[number]
  }

  /// Seconds of work that were in hand at `time`, in seconds since 1970, and are done again: those
  /// of the listener that had not come further for the longest.
  func secondsInHand(at time: Double) -> Double {
    listeners.filter { $0.result == nil }
      .compactMap { $0.movedAt.map { max(0, time - $0) } }.max() ?? 0
  }

  /// Updates the position of a listener at `time`, in seconds since 1970.
  /// - Parameter isAnalysis: whether it still comes further when it needs no more sound. An export
  ///   does not: it is as far as the slowest of its files.
  mutating func update(
    _ index: Int, _ progress: ListenerProgress?, at time: Double, isAnalysis: Bool
  ) {
    let needsFrom = progress?.needsFrom.count ?? 0
    let hasMoved =
      needsFrom != listeners[index].needsFrom
      || (isAnalysis && progress?.state != listeners[index].state)
    if hasMoved { listeners[index].movedAt = time }
    if progress == nil { listeners[index].movedAt = nil }
    listeners[index].needsFrom = needsFrom
    listeners[index].state = progress?.state
  }

  /// Reads an entry; nil for anything else.
  static func read(_ text: String) -> PassState? {
    try? PassState(jsonText: text)
  }
}
