public import Hashing

/// The record of all notes: what has arrived, how it stands and what is owed to whom.
///
/// Every method may be called from any thread and any number of processes. What a method has
/// returned from is durable. Each change and its reason are recorded before anybody acts on them.
public protocol NoteLedger: Sendable {
  /// Records an arrival whose bytes are in the store, and decides in the same step whether it is
  /// new. Commands that waited for it are applied. O(log n).
  func admit(_ arrival: NoteArrival, conflicts: ConflictPolicy) throws(StoreError) -> NoteAdmission

  /// Changes a note, by the rules of ``Note/applying(_:at:)``; nil where there is no such note.
  /// With `begin`, it belongs to this process until it ends or moves on. O(log n).
  func change(_ key: NoteKey, _ change: NoteChange) throws(StoreError) -> NoteOutcome?

  /// Records that a note was decoded to its end, and looks whether another one has this sound: then
  /// it is the same recording, also where it claims that one's identity with other bytes. O(log n).
  func accept(
    _ key: NoteKey, sound: Digest?, conflicts: ConflictPolicy
  ) throws(StoreError) -> NoteAcceptance

  /// Puts back the notes of processes that have died. O(notes under way).
  func recoverNotes(pipeline: String) throws(StoreError) -> [Note]

  /// Strikes a note with its whole history, as if it had never arrived; refused while it is under
  /// way.
  /// - Returns: the note as it was last; nil where there is no such note.
  func forget(_ key: NoteKey) throws(StoreError) -> NoteOutcome?

  /// Applies a command unless one of its id was applied before, or a later one about the same.
  /// O(log n).
  func apply(_ command: NoteCommand) throws(StoreError) -> NoteCommandResult

  /// Records that the file of a command that was decided stays in its inbox: this version of it is
  /// known from then on. O(log n).
  /// - Parameter path: the file's path in its inbox, escaped.
  func leaveCommand(
    id: String, pipeline: String, path: String, stamp: NoteFileStamp, inbox: String
  ) throws(StoreError)

  /// Records that a file that was to be a command is none, unless a command of its id was applied
  /// before. O(log n).
  /// - Parameter reason: what is wrong with it.
  /// - Returns: what came of the id: that it was refused, now or before, or what was done before.
  func refuseCommand(
    id: String, pipeline: String, reason: String
  ) throws(StoreError) -> NoteCommandResult

  /// A note by its whole key. O(log n).
  func note(_ key: NoteKey) throws(StoreError) -> Note?

  /// A note by its key, the beginning of it, or its device's identity; throws where several begin
  /// so, nil where none does. O(log n).
  func note(named prefix: String) throws(StoreError) -> Note?

  /// Notes, those that changed last before the others. O(log n + limit).
  func notes(_ query: NoteQuery) throws(StoreError) -> [Note]

  /// A note's history, the oldest first.
  func events(of key: NoteKey) throws(StoreError) -> [NoteEvent]

  /// The files that came with a note, the oldest first.
  func files(of key: NoteKey) throws(StoreError) -> [NoteFile]

  /// How many notes stand how. O(n) in an index: some milliseconds for 50,000.
  /// - Parameter pipeline: of one pipeline alone; of all where it is nil.
  func tally(pipeline: String?) throws(StoreError) -> NoteTally

  /// Notes that are to be processed now, the oldest first. O(log n + limit).
  /// - Parameter time: in seconds since 1970.
  func dueNotes(pipeline: String, at time: Double, limit: Int) throws(StoreError) -> [Note]

  /// When a note that failed is to be tried next, in seconds since 1970; nil where none is.
  func nextAttempt(pipeline: String) throws(StoreError) -> Double?

  /// Whether this version of a file was taken in before and still lies where it is. O(log n).
  func isKnown(path: String, stamp: NoteFileStamp, inbox: String) throws(StoreError) -> Bool

  /// The files of recordings that arrived under a name, or under it with any ending, and whose
  /// notes were received at this time or later, in seconds since 1970; the newest first. O(log n).
  func recordings(
    named path: String, inbox: String, receivedSince time: Double
  ) throws(StoreError) -> [NoteFile]

  /// Records one more file that came with a note.
  /// - Parameter digest: the identity of a transcript's bytes; nil for other files.
  func addFile(
    _ role: NoteFile.Role, path: String, stamp: NoteFileStamp, digest: Digest?, inbox: String,
    to key: NoteKey
  ) throws(StoreError)

  /// Records that a device knows a note by another name as well, by a sidecar that came behind one of
  /// its files: from then on it is acknowledged under that name too. O(log n).
  /// - Returns: the note; nil where another note has the name already, or there is no such file.
  func addAlias(_ id: String, written name: String?, to file: NoteFile) throws(StoreError) -> Note?

  /// The files of uploaded and quarantined notes that have not been moved yet. O(limit).
  func heldFiles(inbox: String, limit: Int) throws(StoreError) -> [HeldFile]

  /// Records where a file is about to be moved, before it is.
  func plan(_ file: NoteFile, target: String) throws(StoreError)

  /// Records where a file has come to lie.
  func settle(
    _ file: NoteFile, _ place: NoteFile.Place, at location: String, stamp: NoteFileStamp?
  ) throws(StoreError)

  /// Notes whose acknowledgements are out of date, the oldest change first. O(log n + limit).
  func unacknowledgedNotes(pipeline: String, limit: Int) throws(StoreError) -> [Note]

  /// Every name under which a note is acknowledged.
  func acknowledgementNames(of note: Note) throws(StoreError) -> [String]

  /// What devices besides its own call a note: names under which the same bytes came. Of all notes of
  /// a pipeline that have any. O(aliases).
  func aliases(pipeline: String) throws(StoreError) -> [NoteKey: [String]]

  /// The notes of a pipeline whose identity others claim with other bytes, and who those are, the
  /// oldest first. O(claims).
  func claims(pipeline: String) throws(StoreError) -> [NoteKey: [NoteKey]]

  /// The names of acknowledgements that are nobody's any more: of notes that were forgotten, and of
  /// notes that are known to their devices by another name by now.
  func retractedNames(pipeline: String) throws(StoreError) -> [String]

  /// Records that these acknowledgements are gone.
  func markRetracted(_ names: [String], pipeline: String) throws(StoreError)

  /// Every note of a pipeline that was acknowledged, by the names of its acknowledgements. O(n).
  func acknowledgedNames(pipeline: String) throws(StoreError) -> [(name: String, note: NoteKey)]

  /// Records that these revisions of notes were acknowledged; 0 for a note whose acknowledgement is
  /// missing.
  func markAcknowledged(_ revisions: [NoteKey: Int]) throws(StoreError)

  /// What came of commands whose answers are not out yet, the oldest first. O(log n + limit).
  func unansweredCommands(pipeline: String, limit: Int) throws(StoreError) -> [NoteCommandResult]

  /// Records that these commands were answered.
  func markAnswered(_ ids: [String], pipeline: String) throws(StoreError)

  /// A number that grows with every change of any note.
  func noteVersion() throws(StoreError) -> Int64

  /// The time by which changes are recorded, in seconds since 1970.
  var noteTime: Double { get }
}
