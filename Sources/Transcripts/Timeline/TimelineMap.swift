package import Platform

/// A map from the old time of edited sound to the new, piece by piece.
///
/// Pieces are in order and do not overlap in the old time; the time between them was cut. In the
/// new time they may overlap, where they are crossfaded, and may be in any order.
package struct TimelineMap: Hashable, Sendable {
  /// A stretch of sound, in seconds; within it, time runs evenly.
  package struct Piece: Hashable, Sendable {
    package let from: Double
    package let to: Double
    package let at: Double
    package let until: Double

    package init(from: Double, to: Double, at: Double, until: Double) {
      self.from = from
      self.to = to
      self.at = at
      self.until = until
    }
  }

  /// The old length, in seconds.
  package let before: Double
  /// The new length, in seconds.
  package let after: Double
  /// In the order of the old time.
  package let pieces: [Piece]

  /// Pieces without length, in either time, are dropped. O(n log n).
  /// - Throws: if a time is not finite or negative, a piece ends before it begins, or pieces
  ///   overlap in the old time.
  package init(before: Double, after: Double, pieces: [Piece]) throws(SpoolError) {
    for (index, piece) in pieces.enumerated() {
      let times = [piece.from, piece.to, piece.at, piece.until]
      guard times.allSatisfy({ $0 >= 0 && $0.isFinite }), piece.from <= piece.to,
        piece.at <= piece.until
      else {
        throw .moving("piece \(index + 1) of the map of times is none: \(times)")
      }
    }
    guard before >= 0, before.isFinite, after >= 0, after.isFinite else {
      throw .moving("the sound cannot be \(before) s and \(after) s long")
    }
    let ordered = pieces.filter { $0.from < $0.to && $0.at < $0.until }
      .sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    for (one, next) in zip(ordered, ordered.dropFirst()) where next.from < one.to {
      throw .moving(
        "two pieces of the map of times both begin with the sound at \(next.from) s")
    }
    self.init(before: before, after: after, ordered: ordered)
  }

  private init(before: Double, after: Double, ordered: [Piece]) {
    self.before = before
    self.after = after
    pieces = ordered
  }

  /// The new time of an old time; nil if it was cut. The end of a piece belongs to it unless the
  /// next begins there. O(log n).
  package func place(of old: Double) -> Double? {
    guard let index = lastPiece(from: old), old <= pieces[index].to else { return nil }
    return pieces[index].place(of: old)
  }

  /// The old time of a new time; where the stages have put in sound of their own, that of the nearest
  /// sound before it, else behind it. Nil if nothing of the old sound is left. O(n).
  package func origin(of new: Double) -> Double? {
    if let piece = pieces.first(where: { ($0.at...$0.until).contains(new) }) {
      return piece.origin(of: new)
    }
    let before = pieces.filter { $0.until < new }.max { $0.until < $1.until }
    return before?.to ?? pieces.min { $0.at < $1.at }?.from
  }

  /// Where what is left of a stretch of old time begins in the new time; nil if nothing is left of it.
  /// O(log n), plus the stretch's pieces.
  package func beginning(of from: Double, to: Double) -> Double? {
    pieces(within: from, to).map { $0.place(of: max(from, $0.from)) }.min()
  }

  /// The last piece that begins at or before an old time; nil if there is none.
  func lastPiece(from old: Double) -> Int? {
    let next = pieces.partitioningIndex(where: { $0.from > old })
    return next > 0 ? next - 1 : nil
  }

  /// The pieces that overlap a stretch of old time by more than a point. O(log n), plus the pieces.
  func pieces(within from: Double, _ to: Double) -> ArraySlice<Piece> {
    let first = lastPiece(from: from) ?? 0
    let rest = pieces[first...].drop { $0.to <= from }
    return rest.prefix { $0.from < to }
  }
}

extension TimelineMap.Piece {
  /// The new time of an old time within the piece.
  func place(of old: Double) -> Double {
    // The ends are exact despite rounding.
    if old <= from { return at }
    if old >= to { return until }
    let isMovedOnly = to - from == until - at
    let part = isMovedOnly ? old - from : (old - from) / (to - from) * (until - at)
    return min(max(at + part, at), until)
  }
}

extension TimelineMap {
  /// The map as JSON: `{"before", "after", "pieces": [{"from", "to", "at", "until"}]}`, in seconds.
  /// O(n).
  package var json: JSONValue { .object(fields) }

  /// The members of that JSON, for a report that says more.
  package var fields: [String: JSONValue] {
    [
      "before": .decimal(before), "after": .decimal(after),
      "pieces": .list(
        pieces.map {
          .object([
            "from": .decimal($0.from), "to": .decimal($0.to), "at": .decimal($0.at),
            "until": .decimal($0.until),
          ])
        }),
    ]
  }

  /// Parses the report of a stage that edits time; unknown members are ignored. O(n log n).
  /// - Throws: if a member is missing or invalid.
  package init(json: JSONValue) throws(SpoolError) {
    func number(_ value: JSONValue, _ name: String) throws(SpoolError) -> Double {
      guard case .number(let digits)? = value[name], let number = Double(digits) else {
        throw .moving("the map of times has no number \"\(name)\" where it should")
      }
      return number
    }
    guard let list = json["pieces"]?.list else {
      throw .moving("the map of times has no list of pieces")
    }
    let pieces = try list.map { (value) throws(SpoolError) in
      Piece(
        from: try number(value, "from"), to: try number(value, "to"),
        at: try number(value, "at"), until: try number(value, "until"))
    }
    try self.init(
      before: try number(json, "before"), after: try number(json, "after"), pieces: pieces)
  }

  /// The composition of this map and then `next`.
  ///
  /// Complexity: O(*n* log *m* + *k*) for *n* pieces of this, *m* of the other and *k* of the
  /// result.
  package func followed(by next: TimelineMap) -> TimelineMap {
    var result: [Piece] = []
    for piece in pieces {
      for part in next.pieces(within: piece.at, piece.until) {
        let from = max(piece.at, part.from)
        let to = min(piece.until, part.to)
        let moved = Piece(
          from: piece.origin(of: from), to: piece.origin(of: to), at: part.place(of: from),
          until: part.place(of: to))
        // Rounding may empty a tiny piece.
        if moved.from < moved.to, moved.at < moved.until { result.append(moved) }
      }
    }
    return TimelineMap(before: before, after: next.after, ordered: result)
  }
}

extension TimelineMap.Piece {
  /// The old time of a new time within the piece.
  fileprivate func origin(of new: Double) -> Double {
    TimelineMap.Piece(from: at, to: until, at: from, until: to).place(of: new)
  }
}

extension Array {
  /// The first index from which on a condition holds, which holds for none before; the count if for none.
  /// O(log n).
  package func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension SpoolError {
  fileprivate static func moving(_ reason: String) -> SpoolError {
    SpoolError("cannot move the transcript", reason: reason)
  }
}
