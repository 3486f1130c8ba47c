import PipelineModel
package import Platform

/// A finding of an inspection: what is wrong, on which file, what it means, what to do.
package struct InspectionFinding: Hashable, Sendable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    case database
    /// The database was lost with its change log, and an empty or an older one took its place.
    case lostRecords
    /// The store was being made when its process ended.
    case unfinishedStore
    /// The database has lost its last transactions.
    case databaseBehind
    /// A file's bytes do not match its name.
    case damagedArtifact
    /// A file that a checkpoint names is gone.
    case missingArtifact
    /// A recording's artifact is gone.
    case missingRecording
    /// A recording's artifact is gone, and its file lies outside the store as it arrived.
    case originalElsewhere
    /// A checkpoint's rows are unreadable, or their key is not that of their components.
    case unreadableCheckpoint
    /// A row and the change log contradict each other.
    case contradiction
    /// A run's row is unreadable, or contradicts the change log.
    case unreadableRun
    /// The change log is damaged.
    case damagedRecord
    /// The transparency log is not as it was signed.
    case damagedLedger
    /// Nothing is known of the transparency log: the key that signed it is not known here.
    case untoldLedger
    /// A backup is damaged.
    case damagedBackup
    /// A journal entry is damaged.
    case damagedNote
    /// Files that a journal entry refers to are missing or damaged.
    case damagedWork
    /// The folder that a journal entry refers to is gone, as after a restore into a new folder.
    case missingWork
    /// The change log lacks a row.
    case withoutRecord
    /// The database lacks a row of the change log.
    case onlyRecord
    /// A pin and the change log differ, or it names no run.
    case damagedPin
    /// No checkpoint names the file.
    case unnamedArtifact
    /// Not an artifact, but in the artifact folder.
    case strayFile
    case exportMissing
    /// A file that is to be delivered is neither in the store nor where it lay.
    case undeliverable
    /// An export was changed since.
    case exportChanged
  }

  package let kind: Kind
  package let path: String
  /// The artifact's digest, the checkpoint's key or the run's name; nil if there is none.
  package let subject: String?
  package let problem: String
  package let meaning: String
  /// The advice; nil if nothing needs to be done.
  package let advice: String?

  static let repair = "\(command: .repair)"

  /// What the loss of a recording's original means.
  package static let lostOriginal =
    "nothing can make it again; sent again, it is put right by itself"

  /// The same where a destination may have it.
  /// - Parameter destination: one that has confirmed it; nil if none has.
  package static func lostOriginal(
    of key: RecordingKey, confirmedBy destination: String?
  ) -> String {
    destination.map { name in
      "\(name) has it: \(command: .deliverFetch) \(name) \(key) brings it back, and sent again, it is put "
        + "right by itself"
    } ?? lostOriginal
  }

  /// The commands for recordings whose originals are lost: one for all that a destination has confirmed.
  /// - Parameter holders: the destinations that have confirmed originals, by the SHA-256 of these.
  package static func commands(
    for lost: [Recording], confirmedBy holders: [Digest: [String]]
  ) -> [String] {
    let groups = Dictionary(grouping: lost) { holders[$0.content.digest]?.first }
    return groups.sorted { ($0.key ?? "") < ($1.key ?? "") }.flatMap { name, recordings in
      guard let name else { return recordings.map { "\(command: .inboxShow) \($0.key)" } }
      return recordings.count > 1
        ? ["\(command: .restore) \(option: .from) \(ShellWords.line([name]))"]
        : recordings.map { "\(command: .deliverFetch) \(ShellWords.line([name])) \($0.key)" }
    }
  }

  /// Whether a repair can fix it.
  package var isRepairable: Bool { advice == Self.repair || kind == .databaseBehind }

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

  /// A fault in the transparency log.
  /// - Parameters:
  ///   - name: the store's file, or the receipt.
  ///   - advice: nil if a repair helps.
  ///   - isUntold: whether it may be sound, and its signer is not known.
  package init(log name: String, problem: String, advice: String?, isUntold: Bool = false) {
    self.init(
      isUntold ? .untoldLedger : .damagedLedger, name, problem: problem,
      meaning: isUntold
        ? "whether the ledger is as it was signed cannot be told here; everything else was checked"
        : "the receipts that are there can be checked; the ledger cannot tell what is missing",
      advice: advice ?? Self.repair)
  }

  /// Whether it is damage rather than a remark.
  package var isDamage: Bool {
    switch kind {
    case .database, .lostRecords, .databaseBehind, .damagedArtifact, .missingArtifact,
      .missingRecording,
      .unreadableCheckpoint, .contradiction, .unreadableRun, .damagedRecord, .damagedLedger,
      .damagedBackup,
      .damagedNote, .damagedWork, .damagedPin:
      true
    case .unfinishedStore, .originalElsewhere, .untoldLedger, .missingWork, .withoutRecord,
      .onlyRecord, .unnamedArtifact, .strayFile, .exportMissing, .exportChanged, .undeliverable:
      false
    }
  }
}

package struct InspectionProgress: Hashable, Sendable {
  /// Bytes of artifacts read.
  package let doneBytes: Int
  /// Bytes of artifacts in total.
  package let totalBytes: Int
}

/// The result of an inspection.
package struct InspectionReport: Hashable, Sendable, Codable {
  package internal(set) var artifacts = 0
  package internal(set) var artifactBytes = 0
  package internal(set) var checkpoints = 0
  package internal(set) var runs = 0
  package internal(set) var backups = 0
  /// Pieces of unfinished work.
  package internal(set) var unfinished = 0
  /// Exports in users' folders.
  package internal(set) var exports = 0
  /// Bytes of the ballast.
  package internal(set) var ballastBytes = 0
  /// The fault of the database as a whole, in SQLite's own words if it has some; nil if it could be
  /// read.
  package internal(set) var databaseFault: String?
  /// Whether the artifacts' bytes were read.
  package internal(set) var isThorough = true
  package internal(set) var findings: [InspectionFinding] = []
  /// Number of receipts in the transparency log; nil if it was not checked.
  package var receipts: Int?

  /// Adds damage found outside the store's own checks.
  package mutating func add(_ damage: [InspectionFinding]) {
    findings = findings.filter(\.isDamage) + damage + findings.filter { !$0.isDamage }
  }

  /// Whether everything could be checked that was to be.
  package var isTold: Bool { !findings.contains { $0.kind == .untoldLedger } }

  /// Whether there is no damage.
  package var isSound: Bool { !findings.contains(where: \.isDamage) }
}
