/// What a repair found and did.
public struct RepairReport: Hashable, Sendable, Codable {
  /// What was found, as `check` tells it.
  public internal(set) var findings: [InspectionFinding] = []
  /// What was done about it, in order; what would be done, where `isDryRun`.
  public internal(set) var actions: [RepairAction] = []
  /// How the database came back; nil if nothing was wrong with it.
  public internal(set) var recovery: Recovery?
  /// Whether nothing was changed.
  public let isDryRun: Bool

  /// Adds what was found and done by somebody who knows more than the store of what is in it.
  public mutating func add(_ found: [InspectionFinding], done: [RepairAction]) {
    findings += found
    actions += done
  }
}
