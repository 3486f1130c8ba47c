import PipelineModel
import Platform

/// Asking the index.
extension SearchIndex {
  /// Words that are shown before the first and behind the last that was found.
  private static let context = 8
  /// More words than twice these between two that were found are left out.
  private static let inner = 8

  /// What is found, those transcripts first that were taken in last. Nothing where no part of the query
  /// is a word.
  ///
  /// The transcripts are asked for in portions, so that it takes no longer than what is wanted of it.
  mutating func hits(
    _ query: SearchQuery, _ limits: SearchLimits
  ) throws(SpoolError) -> SearchAnswer {
    var answer = SearchAnswer()
    answer.transcripts = Int(
      try database.run("SELECT count(*) FROM transcripts", to: Self.action).first?[0].integer ?? 0)
    let found = SearchExpression(query) { text in
      tokenizer.tokens(of: text, isQuery: true).map(\.text)
    }
    guard let expression = found else {
      answer.hasWords = false
      return answer
    }
    var before = Int64.max
    var portion: Int64 = 4
    while true {
      let rows = try database.run(
        """
        SELECT rowid, \(SearchPlaces.function)(texts) FROM texts WHERE texts MATCH ?1 AND rowid < ?2
          AND EXISTS (SELECT 1 FROM tellings WHERE transcript = texts.rowid
            AND at >= ?3 AND (?4 IS NULL OR pipeline = ?4))
        ORDER BY rowid DESC LIMIT ?5
        """,
        [
          .text(expression.text), .integer(before), .real(limits.since ?? -1e300),
          SQLValue(limits.pipeline), .integer(portion),
        ], to: Self.action)
      for row in rows {
        guard let id = row[0].integer, let places = row[1].text else { continue }
        for hit in try hits(in: id, SearchPlaces(places), expression, limits) {
          if answer.hits.suffix(256).contains(where: { $0.isSamePlace(as: hit) }) { continue }
          guard answer.hits.count < limits.count else {
            answer.hasMore = true
            return answer
          }
          answer.hits.append(hit)
        }
        before = id
      }
      if rows.count < portion { return answer }
      portion = min(256, 2 * portion)
    }
  }

  /// The hits of one transcript, in every recording of which it tells: two may have the very same.
  private mutating func hits(
    in id: Int64, _ places: SearchPlaces, _ expression: SearchExpression, _ limits: SearchLimits
  ) throws(SpoolError) -> [SearchHit] {
    let rows = try database.run(
      """
      SELECT words, times, name, path, run, step, pipeline, max(at), recording
      FROM transcripts JOIN tellings ON transcript = id
      WHERE id = ?1 AND at >= ?2 AND (?3 IS NULL OR pipeline = ?3)
      GROUP BY recording ORDER BY max(at) DESC
      """,
      [.integer(id), .real(limits.since ?? -1e300), SQLValue(limits.pipeline)], to: Self.action)
    guard let row = rows.first, let text = row[0].text, let times = row[1].text else { return [] }
    guard let page = SearchPage(text: text, times: times) else {
      throw SpoolError(Self.action, database.path, reason: "the times of words are damaged")
    }
    let passages = SearchPassages(places, of: expression, in: page).passages
    return rows.flatMap { row in
      passages.map { passage in
        let (start, end, isApproximate) = Self.time(of: passage, in: page)
        return SearchHit(
          name: row[2].text ?? "", path: row[3].text ?? "", run: row[4].text ?? "",
          step: row[5].text ?? "", pipeline: row[6].text ?? "", time: row[7].real ?? 0,
          start: start, end: end, isApproximate: isApproximate,
          pieces: Self.pieces(of: passage, in: page), recording: row[8].text ?? "")
      }
    }
  }

  /// When a passage is said. Where its words have no times, those of their neighbours count.
  private static func time(
    of passage: SearchPassages.Passage, in page: SearchPage
  ) -> (start: Double?, end: Double?, isApproximate: Bool) {
    let (first, last) = (passage.words.lowerBound, passage.words.upperBound)
    let (before, behind) = (page[first], page[last])
    let start =
      before.start ?? (0..<first).last { page[$0].end != nil }.flatMap { page[$0].end }
      ?? (first..<page.count).first { page[$0].start != nil }.flatMap { page[$0].start }
    let end =
      behind.end ?? (last..<page.count).first { page[$0].start != nil }.flatMap { page[$0].start }
      ?? (0...last).last { page[$0].end != nil }.flatMap { page[$0].end }
    let isApproximate = before.start == nil || behind.end == nil
    let unit = SearchWords.unitsPerSecond
    return (
      start.map { Double($0) / unit }, end.map { Double(max($0, start ?? $0)) / unit },
      isApproximate
    )
  }

  private static func pieces(
    of passage: SearchPassages.Passage, in page: SearchPage
  ) -> [SearchHit.Piece] {
    var pieces: [SearchHit.Piece] = []
    func add(_ text: String, isHit: Bool = false) {
      if !text.isEmpty { pieces.append(SearchHit.Piece(text: text, isHit: isHit)) }
    }
    let begin = max(0, passage.words.lowerBound - context)
    if begin > 0 { add("…") }
    var next = begin
    for mark in passage.marks {
      if next > begin, mark.lowerBound - next > 2 * inner {
        add(
          page.text(next..<next + inner) + " … "
            + page.text(mark.lowerBound - inner..<mark.lowerBound))
      } else {
        add(page.text(next..<mark.lowerBound))
      }
      add(page.text(mark.lowerBound..<mark.upperBound + 1), isHit: true)
      next = mark.upperBound + 1
    }
    let end = min(page.count, next + context)
    add(page.text(next..<end))
    if end < page.count { add("…") }
    return pieces
  }
}

/// Finds the passages of one transcript: places that lie close together are one, and where everything
/// that was looked for is said in one passage, such passages alone count.
struct SearchPassages {
  /// A run of words, by their numbers, and which of them were found.
  struct Passage: Hashable {
    var words: ClosedRange<Int>
    var marks: [ClosedRange<Int>]
    var demands: Set<Int>
  }

  /// Places with no more words between them are one passage.
  private static let gap = 12
  /// A passage with several places is no longer than so many words.
  private static let length = 40

  let passages: [Passage]

  /// O(n log n + n log m) in the places and words.
  init(_ places: SearchPlaces, of expression: SearchExpression, in page: SearchPage) {
    let gap = max(Self.gap, expression.distance)
    let length = max(Self.length, 2 * gap)
    var passages: [Passage] = []
    for (mark, phrase) in Self.marks(places, of: expression, in: page) {
      if var open = passages.last, mark.lowerBound - open.words.upperBound - 1 <= gap,
        mark.upperBound - open.words.lowerBound < length
          || mark.lowerBound <= open.words.upperBound
      {
        open.add(mark, phrase.demand)
        passages[passages.count - 1] = open
      } else {
        passages.append(Passage(words: mark, marks: [mark], demands: [phrase.demand]))
      }
    }
    let whole = passages.filter { $0.demands.count == expression.demandCount }
    self.passages = whole.isEmpty ? passages : whole
  }

  /// The words that were found, in their order, each by the phrase that it was found by.
  private static func marks(
    _ places: SearchPlaces, of expression: SearchExpression, in page: SearchPage
  ) -> [(ClosedRange<Int>, SearchExpression.Phrase)] {
    var marks: [(ClosedRange<Int>, SearchExpression.Phrase)] = []
    for place in places.places where expression.phrases.indices.contains(place.phrase) {
      let phrase = expression.phrases[place.phrase]
      let count = page.tokenCount(in: place.column)
      guard phrase.demand >= 0, place.token < count else { continue }
      let last = min(place.token + max(1, phrase.tokens.count), count) - 1
      let first = page.word(ofToken: place.token, in: place.column)
      guard place.column == .said || phrase.isWhole(in: page.text(first..<first + 1)) else {
        continue
      }
      marks.append((first...page.lastWord(ofToken: last, in: place.column), phrase))
    }
    return marks.sorted {
      ($0.0.lowerBound, $0.0.upperBound, $0.1.demand)
        < ($1.0.lowerBound, $1.0.upperBound, $1.1.demand)
    }
  }
}

extension SearchPassages.Passage {
  /// Takes in a place that begins no earlier than all before.
  fileprivate mutating func add(_ mark: ClosedRange<Int>, _ demand: Int) {
    words = words.lowerBound...max(words.upperBound, mark.upperBound)
    demands.insert(demand)
    if let last = marks.last, mark.lowerBound <= last.upperBound + 1 {
      marks[marks.count - 1] = last.lowerBound...max(last.upperBound, mark.upperBound)
    } else {
      marks.append(mark)
    }
  }
}

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
