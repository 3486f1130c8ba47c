/// One thing that an inspection found: what is wrong, on which file, what it means, what to do.
public struct InspectionFinding: Hashable, Sendable, Codable {
  /// What kind of thing it is.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The database is broken, or gone.
    case database
    /// The store was being made when its process ended.
    case unfinishedStore
    /// The database has lost what was recorded last.
    case databaseBehind
    /// A file's bytes are not those that its name promises.
    case damagedArtifact
    /// A file that a checkpoint names is gone.
    case missingArtifact
    /// A recording that a note has in its keeping is gone.
    case missingRecording
    /// A checkpoint's rows do not read, or their key is not that of their components.
    case unreadableCheckpoint
    /// A checkpoint's rows and its record contradict each other.
    case contradiction
    /// A run's row does not read, or is not what its record says.
    case unreadableRun
    /// A record beside the database is damaged.
    case damagedRecord
    /// The ledger of receipts is not as it was signed.
    case damagedLedger
    /// A backup is damaged.
    case damagedBackup
    /// What unfinished work has noted is not what was written.
    case damagedNote
    /// Unfinished work lacks files that its note counts on, or they are damaged.
    case damagedWork
    /// The database knows what has no record beside it.
    case withoutRecord
    /// A record knows what the database does not.
    case onlyRecord
    /// A pin and its record do not agree, or it names no run.
    case damagedPin
    /// No checkpoint names the file.
    case unnamedArtifact
    /// A file among the artifacts that is none.
    case strayFile
    /// An export is not where it was put.
    case exportMissing
    /// An export was changed since.
    case exportChanged
  }

  /// What kind of thing it is.
  public let kind: Kind
  /// The file it is about.
  public let path: String
  /// The artifact's digest, the checkpoint's key or the run's name; nil where there is none.
  public let subject: String?
  /// What is wrong.
  public let problem: String
  /// What that means.
  public let meaning: String
  /// What to type; nil where nothing needs to be done.
  public let advice: String?

  private static let repair = "spool repair"

  /// Whether a repair can do something about it.
  public var isRepairable: Bool { advice == Self.repair }

  init(
    _ kind: Kind, _ path: String, subject: String? = nil, problem: String, meaning: String,
    advice: String? = Self.repair
  ) {
    self.kind = kind
    self.path = path
    self.subject = subject
    self.problem = problem
    self.meaning = meaning
    self.advice = advice
  }

  /// Something in the ledger of receipts that is not as it was signed.
  /// - Parameters:
  ///   - name: the file of the store, or the receipt.
  ///   - advice: what helps; nil where a repair does.
  public init(ledger name: String, problem: String, advice: String?) {
    self.init(
      .damagedLedger, name, problem: problem,
      meaning: "the receipts that are there can be checked; the ledger cannot tell what is missing",
      advice: advice ?? Self.repair)
  }

  /// Whether it is damage; else it is a remark, and the store is sound.
  public var isDamage: Bool {
    switch kind {
    case .database, .databaseBehind, .damagedArtifact, .missingArtifact, .missingRecording,
      .unreadableCheckpoint, .contradiction, .unreadableRun, .damagedRecord, .damagedLedger,
      .damagedBackup,
      .damagedNote, .damagedWork, .damagedPin:
      true
    case .unfinishedStore, .withoutRecord, .onlyRecord, .unnamedArtifact, .strayFile,
      .exportMissing, .exportChanged:
      false
    }
  }
}
