/// A language that a plugin can be begun in.
public enum ScaffoldLanguage: String, CaseIterable, Sendable {
  /// A sound stage in plain Python.
  case python
  /// A sound stage in Swift.
  case swift
  /// A sound stage in C.
  case c
  /// A file stage for the shell.
  case shell

  /// The program that builds or runs it.
  public var tool: String {
    switch self {
    case .python: "python3"
    case .swift: "swiftc"
    case .c: "cc"
    case .shell: "sh"
    }
  }

  /// Whether it has to be built before it runs.
  public var isBuilt: Bool { self == .swift || self == .c }
}
