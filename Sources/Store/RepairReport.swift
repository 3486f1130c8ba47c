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
}
