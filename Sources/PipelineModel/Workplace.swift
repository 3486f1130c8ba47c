/// The program that did the work of a run, and the machine that it was done on.
public struct Workplace: Hashable, Sendable, Codable {
  /// What the program is called.
  public let program: String
  /// The program's version.
  public let version: String
  /// What the machine is called.
  public let host: String
  /// The machine's system, its release and its processor.
  public let system: String

  /// Describes a place of work.
  public init(program: String, version: String, host: String, system: String) {
    self.program = program
    self.version = version
    self.host = host
    self.system = system
  }
}
