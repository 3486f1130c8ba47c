/// A word as libpocketsphinx heard it.
struct SphinxWord: Equatable {
  /// Its key in the dictionary, with the number of the pronunciation: `read(2)`.
  let text: String
  /// Where it was heard, in hundredths of a second from the beginning of the piece.
  let frames: Range<Int>
  /// The acoustic score: the natural logarithm of its likelihood against the best of all sounds.
  let score: Double
  /// How likely it is among what else could have been heard: 0 to 1.
  let posterior: Double

  /// Its key without the number of the pronunciation.
  var key: Substring { text.prefix { $0 != "(" } }

  /// The acoustic score of one frame: 0 at best.
  var scorePerFrame: Double { score / Double(frames.count) }

  /// Whether it stands for silence, noise or nothing at all.
  static func isFiller(_ text: String) -> Bool {
    text.hasPrefix("<") || text.hasPrefix("[") || text.hasPrefix("+") || text == "(NULL)"
  }
}
