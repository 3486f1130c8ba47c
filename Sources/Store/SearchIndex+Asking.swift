internal import PipelineModel

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
  ) throws(StoreError) -> SearchAnswer {
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
  ) throws(StoreError) -> [SearchHit] {
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
      throw StoreError(Self.action, path: database.path, reason: "the times of words are damaged")
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
