public import Hashing
public import PipelineModel
internal import Synchronization

/// What custody needs of a store.
public typealias CustodyStore = ArtifactStore & FileCustody & NoteLedger

/// Keeps the recordings of one inbox: from the moment that a file has settled until its note is
/// uploaded, its file released and its device told.
///
/// The ledger decides and everything else follows: files are moved and acknowledgements written
/// from what is recorded there, by ``settle()``, as often as it takes. So nothing is lost or done
/// twice where a process dies between two steps. All methods may be called from any thread, and
/// other processes may be at the same inbox.
public final class Custody: Sendable {
  /// The inbox, as an absolute path.
  public let inbox: String
  /// The folder that acknowledgements leave by.
  public var outbox: String { post.path }
  /// That folder, and those of others.
  let post: CustodyOutbox
  /// The pipeline that the inbox is for.
  public let pipeline: String
  /// How the inbox wants its recordings kept.
  public let rules: CustodyRules

  let store: any CustodyStore
  /// How the store is named in what a user is told to type.
  let option: StoreOption
  let calls: CustodyCalls
  /// Whether the inbox is the folder that it was, and whether an outbox may be written to, and made
  /// where it is missing.
  let isInPlace: @Sendable (String) -> Bool
  /// From 0 to 1, as it happens.
  private let chance: @Sendable () -> Double
  let settling = Mutex(CustodySettling())
  let tenure = Mutex(InboxTenure())

  /// Takes charge of an inbox. Neither folder need be there yet.
  /// - Parameters:
  ///   - inbox: where recordings arrive.
  ///   - outbox: where acknowledgements go; it must not lie in the inbox, where they would be taken
  ///     for sidecars.
  ///   - pipeline: what the recordings are for. The same recording for the same pipeline is
  ///     processed once, whatever inbox it comes by.
  ///   - option: names the store in what a user is told to type.
  ///   - isInPlace: whether the inbox, or an outbox, is where it belongs: a folder on a disk that is
  ///     not mounted must not be taken for it, or made anew on another.
  public convenience init(
    inbox: String, outbox: CustodyOutbox, pipeline: String,
    rules: CustodyRules = CustodyRules(), store: any CustodyStore,
    option: StoreOption = .usual,
    isInPlace: @escaping @Sendable (String) -> Bool = { _ in true }
  ) {
    self.init(
      inbox: inbox, outbox: outbox, pipeline: pipeline, rules: rules, store: store,
      option: option, calls: .system, chance: { Double.random(in: 0...1) }, isInPlace: isInPlace)
  }

  init(
    inbox: String, outbox: CustodyOutbox, pipeline: String, rules: CustodyRules,
    store: any CustodyStore, option: StoreOption = .usual,
    calls: CustodyCalls, chance: @escaping @Sendable () -> Double,
    isInPlace: @escaping @Sendable (String) -> Bool = { _ in true }
  ) {
    self.inbox = inbox
    post = outbox
    self.pipeline = pipeline
    self.rules = rules
    self.store = store
    self.option = option
    self.calls = calls
    self.chance = chance
    self.isInPlace = isInPlace
  }

  /// Whether this version of a file was taken in before and is still where it is: for the watcher,
  /// which then neither opens nor tells it.
  public func isKnown(_ path: InboxPath, _ stamp: FileStamp) -> Bool {
    let known: Bool? = try? store.isKnown(
      path: path.escaped, stamp: NoteFileStamp(stamp), inbox: inbox)
    return known ?? false
  }

  /// Where the recording of a note lies, for whoever processes it: never in the inbox.
  public func recordingPath(of note: Note) throws(CustodyError) -> String {
    try inStore { () throws(StoreError) in try store.path(of: note.recording) }
  }

  /// Begins to process a note, if it waits for that and nobody else was faster.
  /// - Returns: the note; nil where there is nothing to process any more.
  public func begin(_ key: NoteKey) throws(CustodyError) -> Note? {
    try change(key, .begin)?.note
  }

  /// Records that a note was decoded to its end.
  /// - Parameter sound: the identity of its decoded sound. Where another note has the same, this one
  ///   is acknowledged with that one and need not be processed any further.
  public func accept(_ key: NoteKey, sound: Digest?) throws(CustodyError) -> NoteAcceptance {
    try inStore { () throws(StoreError) in
      try store.accept(key, sound: sound, conflicts: rules.conflicts)
    }
  }

  /// Records that all that was required is done.
  /// - Returns: nil where there is no such note; a refusal where it was never accepted, or was
  ///   cancelled meanwhile.
  public func finish(_ key: NoteKey) throws(CustodyError) -> NoteOutcome? {
    try change(key, .finish(reason: nil))
  }

  /// Records that a note could not be processed: it is quarantined where the recording is at fault,
  /// put back where somebody stopped it, and else tried again by the rules.
  public func fail(_ key: NoteKey, _ error: StageError) throws(CustodyError) -> NoteOutcome? {
    guard let note = try note(key) else { return nil }
    let change = rules.retry.change(
      after: error, attempt: note.attempts, at: store.noteTime, chance: chance())
    return try self.change(key, change)
  }

  /// Puts back a note whose processing was stopped; it was no attempt.
  public func putBack(_ key: NoteKey, because reason: String) throws(CustodyError) -> NoteOutcome? {
    try change(key, .putBack(reason: reason))
  }

  /// Quarantines a note.
  public func quarantine(
    _ key: NoteKey, because reason: String
  ) throws(CustodyError) -> NoteOutcome? {
    try change(key, .quarantine(reason: reason))
  }

  /// Changes a note by the ledger's rules.
  public func change(_ key: NoteKey, _ change: NoteChange) throws(CustodyError) -> NoteOutcome? {
    try inStore { () throws(StoreError) in try store.change(key, change) }
  }

  /// Notes that are to be processed now, the oldest first.
  public func dueNotes(limit: Int) throws(CustodyError) -> [Note] {
    try inStore { () throws(StoreError) in
      try store.dueNotes(pipeline: pipeline, at: store.noteTime, limit: limit)
    }
  }

  /// How many seconds it is until the next note that failed is to be tried; nil where none is.
  public func secondsToNextAttempt() throws(CustodyError) -> Double? {
    try inStore { () throws(StoreError) in
      try store.nextAttempt(pipeline: pipeline).map { max(0, $0 - store.noteTime) }
    }
  }

  /// A note; nil where there is none.
  public func note(_ key: NoteKey) throws(CustodyError) -> Note? {
    try inStore { () throws(StoreError) in try store.note(key) }
  }
}
