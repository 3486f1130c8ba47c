/// A piece of a line that has times and speakers between its words.
enum InlinePiece: Hashable, Sendable {
  /// Text as it is read.
  case text(String)
  /// A moment, in seconds.
  case time(Double)
  /// Who speaks from here on; nil for nobody in particular.
  case speaker(String?)
}
