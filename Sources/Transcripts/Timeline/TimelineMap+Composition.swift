extension TimelineMap {
  /// This change of time and then another: from the old time of this one to the new time of that.
  ///
  /// Complexity: O(*n* log *m* + *k*) for *n* pieces of this, *m* of the other and *k* of the result.
  public func followed(by next: TimelineMap) -> TimelineMap {
    var result: [Piece] = []
    for piece in pieces {
      for part in next.pieces(within: piece.at, piece.until) {
        let from = max(piece.at, part.from)
        let to = min(piece.until, part.to)
        let moved = Piece(
          from: piece.origin(of: from), to: piece.origin(of: to), at: part.place(of: from),
          until: part.place(of: to))
        // Rounding may leave nothing of what was next to nothing.
        if moved.from < moved.to, moved.at < moved.until { result.append(moved) }
      }
    }
    return TimelineMap(before: before, after: next.after, ordered: result)
  }
}

extension TimelineMap.Piece {
  /// Where a moment of the new time was, within the piece.
  fileprivate func origin(of new: Double) -> Double {
    TimelineMap.Piece(from: at, to: until, at: from, until: to).place(of: new)
  }
}
