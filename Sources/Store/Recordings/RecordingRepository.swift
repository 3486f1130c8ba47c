import PipelineModel
package import Platform

/// All recordings, their states and acknowledgements.
///
/// Methods may be called from any thread and any number of processes, and are durable on return.
/// Each change and its reason are recorded before they take effect.
package protocol RecordingRepository: Sendable {
  /// Records an arrival whose bytes are in the store, and classifies it in the same transaction.
  /// Applies commands that waited for it. O(log n).
  func admit(_ arrival: RecordingArrival, conflicts: ConflictPolicy) throws(SpoolError)
    -> RecordingAdmission

  /// Changes a recording by the rules of ``Recording/applying(_:at:)``; nil if there is none. With
  /// `begin`, it belongs to this process until it ends or moves on. O(log n).
  func change(_ key: RecordingKey, _ change: RecordingChange) throws(SpoolError)
    -> RecordingOutcome?

  /// Records that a recording was decoded completely. One with the same sound is the same
  /// recording, even if it claims that one's identity with other bytes. O(log n).
  func accept(
    _ key: RecordingKey, sound: Digest?, conflicts: ConflictPolicy
  ) throws(SpoolError) -> RecordingAcceptance

  /// Puts back the recordings of dead processes. O(recordings in progress).
  func recoverNotes(pipeline: String) throws(SpoolError) -> [Recording]

  /// Removes a recording with its history; refused while it is processed.
  /// - Returns: the removed recording; nil if there is none.
  func forget(_ key: RecordingKey) throws(SpoolError) -> RecordingOutcome?

  /// Applies a command unless its id was applied before, or a later one on the same aspect. O(log
  /// n).
  func apply(_ command: RecordingCommand) throws(SpoolError) -> RecordingCommandResult

  /// Records that a decided command's file stays in its inbox and is known from then on. O(log n).
  /// - Parameter path: the file's path in its inbox, escaped.
  func leaveCommand(
    id: String, pipeline: String, path: String, stamp: RecordingFileStamp, inbox: String
  ) throws(SpoolError)

  /// Records an invalid command file, unless a command of its id was applied before. O(log n).
  /// - Parameter reason: what is wrong with it.
  /// - Returns: the present or earlier result of the id.
  func refuseCommand(
    id: String, pipeline: String, reason: String
  ) throws(SpoolError) -> RecordingCommandResult

  /// O(log n).
  func recording(_ key: RecordingKey) throws(SpoolError) -> Recording?

  /// A recording by its key, a prefix of it, or its device's identity; throws if it is ambiguous,
  /// nil if there is none. O(log n).
  func recording(named prefix: String) throws(SpoolError) -> Recording?

  /// Recordings, the last changed first. O(log n + limit).
  func recordings(_ query: RecordingQuery) throws(SpoolError) -> [Recording]

  /// A recording's history, the oldest first.
  func events(of key: RecordingKey) throws(SpoolError) -> [RecordingEvent]

  /// The files of a recording, the oldest first.
  func files(of key: RecordingKey) throws(SpoolError) -> [RecordingFile]

  /// Counts by state. O(n) in an index: some milliseconds for 50,000.
  /// - Parameter pipeline: nil for all.
  func tally(pipeline: String?) throws(SpoolError) -> RecordingTally

  /// Recordings to be processed now, the oldest first. O(log n + limit).
  /// - Parameter time: in seconds since 1970.
  func dueNotes(pipeline: String, at time: Double, limit: Int) throws(SpoolError) -> [Recording]

  /// When the next failed recording is due, in seconds since 1970; nil if none.
  func nextAttempt(pipeline: String) throws(SpoolError) -> Double?

  /// Whether this version of a file was taken in before and is still in place. O(log n).
  func isKnown(path: String, stamp: RecordingFileStamp, inbox: String) throws(SpoolError) -> Bool

  /// The recordings' files that arrived under a name, with any ending, of recordings received at or
  /// after this time, in seconds since 1970; the newest first. O(log n).
  func recordings(
    named path: String, inbox: String, receivedSince time: Double
  ) throws(SpoolError) -> [RecordingFile]

  /// Records another file of a recording.
  /// - Parameter digest: of a transcript; nil for other files.
  func addFile(
    _ role: RecordingFile.Role, path: String, stamp: RecordingFileStamp, digest: Digest?,
    inbox: String,
    to key: RecordingKey
  ) throws(SpoolError)

  /// Records another device identity of a recording, from a sidecar that followed one of its files:
  /// it is acknowledged under that name too. O(log n).
  /// - Returns: the recording; nil if another recording has the name, or there is no such file.
  func addAlias(_ id: String, written name: String?, to file: RecordingFile) throws(SpoolError)
    -> Recording?

  /// The files of uploaded and quarantined recordings that have not been moved yet. O(limit).
  func heldFiles(inbox: String, limit: Int) throws(SpoolError) -> [HeldFile]

  /// Records a file's target before it is moved.
  func plan(_ file: RecordingFile, target: String) throws(SpoolError)

  /// Records a file's new place.
  func settle(
    _ file: RecordingFile, _ place: RecordingFile.Place, at location: String,
    stamp: RecordingFileStamp?
  ) throws(SpoolError)

  /// Recordings whose acknowledgements are out of date, the oldest change first. O(log n + limit).
  func unacknowledgedNotes(pipeline: String, limit: Int) throws(SpoolError) -> [Recording]

  func acknowledgementNames(of recording: Recording) throws(SpoolError) -> [String]

  /// The aliases of a pipeline's recordings: other identities under which devices sent the same
  /// bytes. O(aliases).
  func aliases(pipeline: String) throws(SpoolError) -> [RecordingKey: [String]]

  /// The recordings of a pipeline whose identity is claimed with other bytes, and their claimants,
  /// the oldest first. O(claims).
  func claims(pipeline: String) throws(SpoolError) -> [RecordingKey: [RecordingKey]]

  /// The names of acknowledgements to be removed: of forgotten recordings, and former names of
  /// others.
  func retractedNames(pipeline: String) throws(SpoolError) -> [String]

  /// Records that these acknowledgements were removed.
  func markRetracted(_ names: [String], pipeline: String) throws(SpoolError)

  /// The acknowledged recordings of a pipeline, by acknowledgement name. O(n).
  func acknowledgedNames(pipeline: String) throws(SpoolError) -> [(
    name: String, recording: RecordingKey
  )]

  /// Records that these revisions were acknowledged; 0 for a missing acknowledgement.
  func markAcknowledged(_ revisions: [RecordingKey: Int]) throws(SpoolError)

  /// The results of unanswered commands, the oldest first. O(log n + limit).
  func unansweredCommands(pipeline: String, limit: Int) throws(SpoolError)
    -> [RecordingCommandResult]

  func markAnswered(_ ids: [String], pipeline: String) throws(SpoolError)

  /// Grows with every change of any recording.
  func noteVersion() throws(SpoolError) -> Int64

  /// The time that changes are recorded with, in seconds since 1970.
  var noteTime: Double { get }
}
