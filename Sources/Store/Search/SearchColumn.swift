/// What the full text search has of every word, in the order of its columns.
enum SearchColumn: Int, Hashable, Sendable {
  /// The text as it is written.
  case words
  /// The text as it is said.
  case said
}
