/// A transcript as the index has kept it, opened to show a few places: no word becomes text before it
/// is shown.
struct SearchPage {
  /// A word's times, in ten-thousandths of a second; nil where nobody knows.
  struct Time {
    let start: Int?
    let end: Int?
  }

  private let bytes: [UInt8]
  /// Where each word begins in the bytes, and one more behind the last.
  private var offsets: [Int] = []
  private var times: [(start: Int, length: Int)] = []
  /// The first token of each word, and one more behind the last: as they are written, and as they are
  /// said.
  private var tokens: [[Int]] = [[0], [0]]

  /// How many words it has.
  var count: Int { times.count }
  /// How many tokens they have in a column.
  func tokenCount(in column: SearchColumn) -> Int { tokens[column.rawValue].last ?? 0 }

  /// Opens what ``SearchWords`` gave; nil where the parts do not belong together. O(n).
  init?(text: String, times kept: String) {
    bytes = Array(text.utf8)
    var reader = SearchNumbers.Reader(kept)
    var last = 0
    while let code = reader.next() {
      if code > 0 {
        last += (code - 1) & 1 == 1 ? -(code / 2) : (code - 1) / 2
        guard let length = reader.next() else { return nil }
        times.append((last, length))
      } else {
        times.append((-1, 0))
      }
      for column in tokens.indices {
        guard let count = reader.next() else { return nil }
        tokens[column].append((tokens[column].last ?? 0) + count)
      }
    }
    if times.isEmpty {
      guard bytes.isEmpty else { return nil }
      return
    }
    offsets.reserveCapacity(times.count + 1)
    offsets.append(0)
    for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") {
      offsets.append(index + 1)
    }
    offsets.append(bytes.count + 1)
    guard offsets.count == times.count + 1 else { return nil }
  }

  /// When a word is said.
  subscript(word: Int) -> Time {
    let time = times[word]
    return time.start < 0
      ? Time(start: nil, end: nil) : Time(start: time.start, end: time.start + time.length)
  }

  /// Words as they are written.
  func text(_ words: Range<Int>) -> String {
    if words.isEmpty { return "" }
    let range = offsets[words.lowerBound]..<offsets[words.upperBound] - 1
    return String(decoding: bytes[range], as: UTF8.self)
      .replacing(SearchWords.separator, with: " ")
  }

  /// The word that a token of a column lies in. O(log n).
  func word(ofToken token: Int, in column: SearchColumn) -> Int {
    let tokens = tokens[column.rawValue]
    var range = 0..<count
    while range.count > 1 {
      let middle = range.lowerBound + range.count / 2
      range =
        tokens[middle] <= token ? middle..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// The last word that is said with a token of a column. Of a number in several words the first has the
  /// token, and the others have none. O(log n).
  func lastWord(ofToken token: Int, in column: SearchColumn) -> Int {
    var word = word(ofToken: token, in: column)
    let (written, said) = (tokens[SearchColumn.words.rawValue], tokens[column.rawValue])
    while column == .said, said[word + 1] == token + 1, word + 1 < count,
      said[word + 2] == said[word + 1], written[word + 2] > written[word + 1]
    { word += 1 }
    return word
  }
}
