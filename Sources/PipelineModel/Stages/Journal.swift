package import Platform

/// The durable progress of a piece of work in progress, in its own format: all that a stage may touch
/// of its ``WorkClaim``.
///
/// After a crash the work starts with the same journal, reads its last entry, and resumes there.
package struct Journal: Sendable {
  private let claim: any WorkClaim

  package init(of claim: any WorkClaim) { self.claim = claim }

  /// The newest entry, of this process or of a dead one; nil if there is none. Throws if another
  /// process has taken the work over.
  package func lastEntry() throws(SpoolError) -> JournalEntry? { try claim.lastEntry() }

  /// Replaces the entry. Durable on return. Throws if another process has taken the work over: then
  /// nothing may be written any more.
  package func record(_ text: String) throws(SpoolError) { try claim.record(text) }
}

package struct JournalEntry: Hashable, Sendable, Codable {
  /// In the work's own format, mostly JSON.
  package let text: String
  /// In seconds since 1970.
  package let notedAt: Double

  package init(text: String, notedAt: Double) {
    self.text = text
    self.notedAt = notedAt
  }
}

/// The exclusive right to one piece of work, and the folder of its unfinished files.
///
/// Folder, files and journal outlive the process. The claim does not: when its process dies, the
/// next one to ask gets it at once. A frozen process whose work was taken over meanwhile can no
/// longer record or commit anything through its claim.
///
/// Every method may be called from any thread.
package protocol WorkClaim: AnyObject, Sendable {
  /// The journal's newest entry; see ``Journal``.
  func lastEntry() throws(SpoolError) -> JournalEntry?

  /// Replaces the journal's entry; see ``Journal``.
  func record(_ text: String) throws(SpoolError)

  /// The folder for unfinished files, an absolute path; it exists. Only the work itself reads it.
  var folder: String { get }

  var heldByteCount: Int { get }

  /// Seconds of work that the previous process lost by dying, at most: from its last entry to its
  /// last sign of life. Nil for new work.
  var lostSeconds: Double? { get }

  /// Seconds of earlier processes' work up to the last entry, at most: lost as well if none of it
  /// can be resumed. 0 for new work, and if `loss` is not nil, as `lostSeconds` includes it then.
  var spentSeconds: Double { get }

  /// Why the work starts over although earlier processes had begun it; nil if it resumes, or is
  /// new.
  var loss: RestartReason? { get }

  /// Starts an artifact in the work's folder, replacing any file of this name. Unlike the store's
  /// own drafts, it stays when it is dropped, and when it is sealed until the work ends. Its name
  /// is durable on return; throws if it is no plain file name.
  func makeDraft(_ name: String, _ kind: ArtifactKind) throws(SpoolError) -> ArtifactDraft

  /// Resumes an earlier process's draft: keeps its prefix and truncates the rest. Nil if the file
  /// is shorter, or the prefix has another digest. O(bytes of the prefix), which are read once.
  ///
  /// A sealed draft is an immutable artifact: as a whole it is returned to be sealed again and not
  /// written to. Of a shorter prefix, if its digest is known, a copy is resumed.
  func resumeDraft(
    _ name: String, _ kind: ArtifactKind, _ prefix: DraftPrefix
  ) throws(SpoolError) -> ArtifactDraft?

  /// Records the parts of finished work, all or none, as the store's `commit` does for each. Throws
  /// if another process has taken the work over.
  func commit(_ checkpoints: [Checkpoint]) throws(SpoolError)

  /// Ends the work, done or impossible: its folder and its journal are deleted.
  func end()

  /// Gives up the claim, and leaves the work to the next claimant. Dropping the claim and its
  /// drafts has the same effect. All writers to the folder must be stopped first.
  func release()
}

extension WorkClaim {
  package func commit(_ checkpoint: Checkpoint) throws(SpoolError) { try commit([checkpoint]) }
}

/// Why work in progress starts over.
package enum RestartReason: Hashable, Sendable {
  /// It was taken from a stopped process that may still write to its files.
  case takenOver(from: WorkOwner)
  /// The journal does not match the files.
  case damagedNote
}

package enum ClaimAnswer: Sendable {
  case granted(any WorkClaim)
  /// Another live process does it.
  case taken(WorkOwner)
}

package struct WorkOwner: Hashable, Sendable, Codable {
  /// 0 if unknown.
  package let processNumber: Int
  /// Whether the process is stopped at present.
  package let isStopped: Bool

  package init(processNumber: Int, isStopped: Bool) {
    self.processNumber = processNumber
    self.isStopped = isStopped
  }
}

/// Why a step started over, or resumed further back, although earlier processes had begun it.
package struct ResumeLoss: Hashable, Sendable, Codable {
  package enum Cause: String, Hashable, Sendable, Codable {
    /// Its journal is lost.
    case notesLost = "notes-lost"
    /// It was taken from a stopped process that may still write to its files.
    case takenOver = "taken-over"
    /// Some of it is damaged.
    case damaged
    /// The input file has other bytes now.
    case recordingChanged = "recording-changed"
    /// A plugin behind the stages has other files now.
    case pluginChanged = "plugin-changed"
  }

  package let cause: Cause
  /// When that was found, in seconds since 1970.
  package let at: Double
  /// The earlier run; nil if unknown.
  package var run: RunID?
  /// The earlier process; nil if unknown.
  package var processNumber: Int?
  /// The damaged part, in words (`kept sound`), the path of the changed recording, or what changed of
  /// the plugin, in words; nil for other causes.
  package var part: String?
  /// Other damaged parts of the same step, in words; nil if there are none.
  package var furtherParts: [String]?

  package init(
    _ cause: Cause, at: Double, run: RunID? = nil, processNumber: Int? = nil, part: String? = nil
  ) {
    self.cause = cause
    self.at = at
    self.run = run
    self.processNumber = processNumber
    self.part = part
  }
}
