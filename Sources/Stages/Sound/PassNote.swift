import AudioModel
import FoundationEssentials
import PipelineEngine
import PipelineModel

/// What a pass durably notes of its progress: moments of the stream that it can begin again at, and
/// how far each listener is. Whatever lies between a moment and a listener's own place is streamed
/// again, and the listener lets it go by.
struct PassNote: Codable, Hashable {
  /// A boundary between two blocks of the source, and the processors' states there.
  struct Moment: Codable, Hashable {
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

    /// Bytes that the states take as they are noted.
    var byteCount: Int { states.reduce(0) { $0 + ($1?.utf8.count ?? 0) } }

    /// The state of one segment's processors.
    func state(ofSegment index: Int) -> ProcessorSnapshot? {
      states[index].flatMap { Data(base64Encoded: $0) }.map { ProcessorSnapshot(bytes: Array($0)) }
    }
  }

  /// How far a listener is, as it is noted.
  struct Standing: Codable, Hashable {
    /// The segment of the pass that it hears.
    let segment: Int
    /// The frame of that segment's stream from which it needs sound.
    var needsFrom = 0
    /// What it goes on from, in its own terms; nil for a listener that begins anew.
    var state: String?
    /// What it gave, once it is done and needs nothing more.
    var result: PassOutcome.Result?
    /// Since when it needs sound from the same frame, in seconds since 1970, but not before this
    /// process began: what it did since then it had in hand, and does again. Nil for a listener that
    /// begins anew.
    var movedAt: Double?

    init(segment: Int) { self.segment = segment }

    /// What the listener goes on from.
    var progress: ListenerProgress? {
      state.map { ListenerProgress(needsFrom: Frames(needsFrom), state: $0) }
    }
  }

  /// Moments from the oldest to the newest.
  var moments: [Moment] = []
  /// The listeners, in the order of the pass.
  var listeners: [Standing] = []

  /// The newest moment from which every listener gets what it still needs; nil where there is none
  /// but the beginning. Listeners of the source itself do not count: it begins where they need it.
  var restart: Moment? {
    moments.last { moment in
      listeners.allSatisfy { listener in
        listener.result != nil || listener.segment == 0
          || moment.given[listener.segment] <= listener.needsFrom
      }
    }
  }

  /// How many moments are noted however big they are: one to restart from, and those that
  /// listeners are on their way to.
  private static let leastMoments = 4

  /// Forgets the moments before the one to restart from, and thins the rest out.
  mutating func prune(to limit: Int, byteLimit: Int = .max) {
    if let restart { moments.removeAll { $0.frame < restart.frame } }
    while moments.count > limit
      || moments.count > PassNote.leastMoments && byteCount > byteLimit
    {
      moments = moments.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
  }

  /// The note as it is written down: where its moments take more than `byteLimit` together, the
  /// one to restart from is enough.
  func written(byteLimit: Int) -> PassNote {
    guard isBig(byteLimit) else { return self }
    var note = self
    note.moments = restart.map { [$0] } ?? []
    return note
  }

  /// Whether the moments take more than `byteLimit` together.
  func isBig(_ byteLimit: Int) -> Bool { byteCount > byteLimit }

  /// What going on later would gain from: another moment to restart from, or one more listener that
  /// is done.
  var landmark: Landmark {
    Landmark(restart: restart?.frame, done: listeners.count { $0.result != nil })
  }

  /// Where a pass would go on, in short.
  struct Landmark: Hashable {
    let restart: Int?
    let done: Int
  }

  /// Bytes that the moments' states take.
  private var byteCount: Int { moments.reduce(0) { $0 + $1.byteCount } }

  /// How the listener of this number stood, if it heard this segment.
  func listener(_ number: Int, segment: Int) -> Standing? {
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

  /// Takes up how far a listener is at `time`, in seconds since 1970.
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

  /// Reads a note; nil for anything else.
  static func read(_ text: String) -> PassNote? {
    try? JSONDecoder().decode(PassNote.self, from: Data(text.utf8))
  }
}
