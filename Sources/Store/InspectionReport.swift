/// What a look at a whole store found.
public struct InspectionReport: Hashable, Sendable, Codable {
  /// How many artifacts were looked at.
  public internal(set) var artifacts = 0
  /// How many bytes they have.
  public internal(set) var artifactBytes = 0
  /// How many checkpoints.
  public internal(set) var checkpoints = 0
  /// How many runs.
  public internal(set) var runs = 0
  /// How many backups.
  public internal(set) var backups = 0
  /// How many pieces of work are unfinished.
  public internal(set) var unfinished = 0
  /// How many exports were looked for in users' folders.
  public internal(set) var exports = 0
  /// How many bytes are kept to be given up where a full disk is freed.
  public internal(set) var ballastBytes = 0
  /// What is wrong with the database as a whole, in SQLite's own words where it has some; nil where it
  /// could be looked at.
  public internal(set) var databaseFault: String?
  /// Whether the bytes of the artifacts were read.
  public internal(set) var isThorough = true
  /// Everything that was found.
  public internal(set) var findings: [InspectionFinding] = []
  /// How many receipts the ledger has; nil where it was not looked at.
  public var receipts: Int?

  /// Adds damage that was found by looking at more than the store itself knows.
  public mutating func add(_ damage: [InspectionFinding]) {
    findings = findings.filter(\.isDamage) + damage + findings.filter { !$0.isDamage }
  }

  /// Whether nothing is damaged.
  public var isSound: Bool { !findings.contains(where: \.isDamage) }
}
