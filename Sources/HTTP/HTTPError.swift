/// Why no answer came.
public struct HTTPError: Error, Hashable, Sendable {
  /// In libcurl's words where they are its own.
  public let reason: String
}
