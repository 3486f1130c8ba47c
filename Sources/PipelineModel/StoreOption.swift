/// How a command that a user is told to type names the store, where it is not the usual one.
public struct StoreOption: Hashable, Sendable {
  /// The store that goes without saying.
  public static let usual = StoreOption(nil)

  private let path: String?

  /// Names a store by its folder; nil where it goes without saying.
  public init(_ path: String?) { self.path = path }

  /// The command for this store, as it can be typed. O(n).
  public func completing(_ command: String) -> String {
    path.map { "\(command) \(ShellWords.line(["--store", $0]))" } ?? command
  }
}
