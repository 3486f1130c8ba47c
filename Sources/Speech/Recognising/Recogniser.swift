/// Hears whatever is said. It belongs to one thread at a time.
///
/// What it heard before may change what it hears: words that are to depend on their piece alone
/// take a new one.
public protocol Recogniser: AnyObject {
  /// The words of a piece, in order; none where nothing was understood.
  func recognise(_ sound: Span<Int16>) -> [RecognisedWord]
}
