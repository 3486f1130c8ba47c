public import Hashing

/// What a piece of work that is under way has durably noted of its progress, in its own terms.
///
/// After a crash the work is begun again with the same journal, reads what it noted last, and goes
/// on from there.
public protocol Journal: Sendable {
  /// The newest note, of this process or of one that died; nil where there is none. Throws when
  /// another process has taken the work over.
  func lastNote() throws(StoreError) -> JournalNote?

  /// Notes progress in place of what was noted before. Durable on return. Throws when another
  /// process has taken the work over: then nothing may be written any more.
  func note(_ text: String) throws(StoreError)
}

/// Progress as it was noted.
public struct JournalNote: Hashable, Sendable, Codable {
  /// The work's own words: JSON, mostly.
  public let text: String
  /// When it was noted, in seconds since 1970.
  public let notedAt: Double

  /// Describes a note.
  public init(text: String, notedAt: Double) {
    self.text = text
    self.notedAt = notedAt
  }
}

/// The right to do one piece of work, which one process has at a time, and the folder where the
/// unfinished files of that work lie.
///
/// Folder, files and journal outlive the process. The claim does not: when its process dies, the
/// next one to ask has it at once. A process that was frozen, and whose work was taken over
/// meanwhile, finds that its claim no longer lets it note or commit anything.
///
/// Every method may be called from any thread.
public protocol WorkClaim: Journal, AnyObject {
  /// The folder for unfinished files, an absolute path; it exists. Nothing in it is read by anybody
  /// but the work itself.
  var folder: String { get }

  /// Bytes of the files that lie in the folder.
  var heldByteCount: Int { get }

  /// Seconds of work that the process before this one lost by dying, at most: from its last note to
  /// the last sign of it. Nil where the work is new.
  var lostSeconds: Double? { get }

  /// Seconds that earlier processes had put into what is noted, at most: so much is lost besides
  /// where none of it can be gone on with. 0 where the work is new, and where `setback` is not nil,
  /// as `lostSeconds` has all of it then.
  var spentSeconds: Double { get }

  /// Why the work begins anew although earlier processes were at it; nil where it goes on, or is new.
  var setback: WorkSetback? { get }

  /// Starts an artifact in the work's folder, empty whatever lay under this name. Unlike the
  /// store's own drafts, it stays there when it is dropped, and when it is sealed until the work
  /// ends. Its name is durable on return; throws if it is no plain file name.
  func makeDraft(_ name: String, _ kind: ArtifactKind) throws(StoreError) -> ArtifactDraft

  /// Goes on with a draft that an earlier process left: its first bytes stay, and whatever follows
  /// them is cut off. Nil where there are not so many, or where they are not what the prefix vouches
  /// for. O(bytes of the prefix), which are read once.
  ///
  /// One that was sealed is an artifact, which nothing may change: it is given back only whole, to
  /// be sealed again and not written to; asked for with another length it is nil.
  func resumeDraft(
    _ name: String, _ kind: ArtifactKind, _ prefix: DraftPrefix
  ) throws(StoreError) -> ArtifactDraft?

  /// Records the parts of finished work, all or none, as the store's `commit` does for each. Throws
  /// when another process has taken the work over.
  func commit(_ checkpoints: [Checkpoint]) throws(StoreError)

  /// The work is done, or will never be gone on with: its folder and its journal go.
  func end()

  /// Lets go of the work, and leaves all of it to whoever claims it next. So does dropping the
  /// claim and its drafts. Whatever still writes into the folder has to be stopped first.
  func release()
}

extension WorkClaim {
  /// Records finished work that has one part.
  public func commit(_ checkpoint: Checkpoint) throws(StoreError) { try commit([checkpoint]) }
}

/// Why work that was under way begins anew.
public enum WorkSetback: Hashable, Sendable {
  /// It was taken from a process that is stopped, and that may still write into what it had.
  case takenOver(from: WorkOwner)
  /// What was noted of it is not what was written.
  case damagedNote
}

/// What came of asking for a piece of work.
public enum ClaimAnswer: Sendable {
  /// It is this process's now.
  case granted(any WorkClaim)
  /// Another process that is alive does it.
  case taken(WorkOwner)
}

/// Who does a piece of work.
public struct WorkOwner: Hashable, Sendable, Codable {
  /// The process's number; 0 where it cannot be told.
  public let processNumber: Int
  /// Whether the process is stopped and does nothing at present.
  public let isStopped: Bool

  /// Describes an owner.
  public init(processNumber: Int, isStopped: Bool) {
    self.processNumber = processNumber
    self.isStopped = isStopped
  }
}

/// Where work is claimed.
public protocol WorkClaims: Sendable {
  /// Claims a piece of work.
  /// - Parameters:
  ///   - work: names the work: equal work has equal digests in every process.
  ///   - summary: a few words for people who look at what is under way.
  func claim(_ work: Digest, summary: String) throws(StoreError) -> ClaimAnswer
}
