/// Text that is equal only to the same bytes. Swift takes `é` in one scalar and in two for the same
/// text; a disk has two files.
public struct ExactText: Hashable, Sendable {
  private let bytes: [UInt8]

  /// The text as it is.
  public init(_ text: String) { bytes = Array(text.utf8) }
}
