/// Finds the next place of a sign again and again, from places that only go forward: all searches
/// together are one walk through the text.
struct SignFinder {
  private let sign: Unicode.Scalar
  private var found = -1

  /// Looks for a sign.
  init(_ sign: Unicode.Scalar) { self.sign = sign }

  /// The first place of the sign at `start` or behind; nil where there is none.
  mutating func place(in text: [Unicode.Scalar], from start: Int) -> Int? {
    if found < start {
      found = start
      while found < text.count, text[found] != sign { found += 1 }
    }
    return found < text.count ? found : nil
  }
}
