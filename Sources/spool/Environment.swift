import FoundationEssentials

/// The process's environment.
enum Environment {
  /// Every variable.
  static var variables: [String: String] { ProcessInfo.processInfo.environment }
}
