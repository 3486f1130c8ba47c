/// Where the sound went when a stage cut, moved or stretched it: for each piece of the old time, its
/// place in the new.
///
/// Pieces are in order and do not overlap in the old time; what lies between them is gone. In the new
/// time they may overlap, where they are crossfaded, and may be in any order.
public struct TimelineMap: Hashable, Sendable {
  /// A stretch of sound, in seconds; within it, time runs evenly.
  public struct Piece: Hashable, Sendable {
    /// Where it began in the old time.
    public let from: Double
    /// Where it ended in the old time.
    public let to: Double
    /// Where it begins in the new time.
    public let at: Double
    /// Where it ends in the new time.
    public let until: Double

    /// Describes a piece.
    public init(from: Double, to: Double, at: Double, until: Double) {
      self.from = from
      self.to = to
      self.at = at
      self.until = until
    }

    /// How much faster the sound runs now: 2 where it takes half the time.
    public var speed: Double { (to - from) / (until - at) }
  }

  /// How long the sound was, in seconds.
  public let before: Double
  /// How long it is, in seconds.
  public let after: Double
  /// What is left of it, in the order of the old time.
  public let pieces: [Piece]

  /// Describes a change of time. Pieces without length, in either time, are left out: nothing is
  /// heard of them. O(n log n).
  /// - Throws: where a time is no number or negative, a piece ends before it begins, or pieces
  ///   overlap in the old time.
  public init(before: Double, after: Double, pieces: [Piece]) throws(TranscriptError) {
    for (index, piece) in pieces.enumerated() {
      let times = [piece.from, piece.to, piece.at, piece.until]
      guard times.allSatisfy({ $0 >= 0 && $0.isFinite }), piece.from <= piece.to,
        piece.at <= piece.until
      else {
        throw TranscriptError(.moving, "piece \(index + 1) of the map of times is none: \(times)")
      }
    }
    guard before >= 0, before.isFinite, after >= 0, after.isFinite else {
      throw TranscriptError(.moving, "the sound cannot be \(before) s and \(after) s long")
    }
    let ordered = pieces.filter { $0.from < $0.to && $0.at < $0.until }
      .sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    for (one, next) in zip(ordered, ordered.dropFirst()) where next.from < one.to {
      throw TranscriptError(
        .moving, "two pieces of the map of times both begin with the sound at \(next.from) s")
    }
    self.init(before: before, after: after, ordered: ordered)
  }

  init(before: Double, after: Double, ordered: [Piece]) {
    self.before = before
    self.after = after
    pieces = ordered
  }

  /// Sound that nothing was done to, of a length in seconds.
  public static func unchanged(_ length: Double) -> TimelineMap {
    let length = max(length, 0)
    return TimelineMap(
      before: length, after: length,
      ordered: length > 0 ? [Piece(from: 0, to: length, at: 0, until: length)] : [])
  }

  /// Where a moment of the old time is now; nil where it was cut out. The end of a piece belongs to
  /// it, unless the next begins there. O(log n).
  public func place(of old: Double) -> Double? {
    guard let index = lastPiece(from: old), old <= pieces[index].to else { return nil }
    return pieces[index].place(of: old)
  }

  /// The map back: from the new time to the old. Nil where there is none, because pieces overlap in
  /// the new time. O(n log n).
  public var inverse: TimelineMap? {
    let turned =
      pieces
      .map { Piece(from: $0.at, to: $0.until, at: $0.from, until: $0.to) }
      .sorted { $0.from < $1.from }
    for (one, next) in zip(turned, turned.dropFirst()) where next.from < one.to { return nil }
    return TimelineMap(before: after, after: before, ordered: turned)
  }

  /// The last piece that begins at a moment of the old time or before; nil where none does.
  func lastPiece(from old: Double) -> Int? {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].from <= old { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }

  /// The pieces that sound between two moments of the old time stands in: those that share more than
  /// a moment with it. O(log n), and the pieces themselves.
  func pieces(within from: Double, _ to: Double) -> ArraySlice<Piece> {
    let first = lastPiece(from: from) ?? 0
    let rest = pieces[first...].drop { $0.to <= from }
    return rest.prefix { $0.from < to }
  }
}

extension TimelineMap.Piece {
  /// Where a moment of the old time is now, within the piece.
  func place(of old: Double) -> Double {
    // The ends are exact, whatever rounding does between them.
    if old <= from { return at }
    if old >= to { return until }
    let isMovedOnly = to - from == until - at
    let part = isMovedOnly ? old - from : (old - from) / (to - from) * (until - at)
    return min(max(at + part, at), until)
  }
}
