/// Maps the time before an edit to the time after it, for words and markers.
///
/// Pieces are in order and do not overlap in the old time; the time between them was cut. In the
/// new time a piece may begin before its predecessor ends: they are crossfaded there.
package struct Timeline: Hashable, Sendable, Codable {
  /// A stretch of sound, in seconds; time runs evenly within it.
  package struct Piece: Hashable, Sendable, Codable {
    /// Start in the old time.
    package let from: Seconds
    /// End in the old time.
    package let to: Seconds
    /// Start in the new time.
    package let at: Seconds
    /// End in the new time.
    package let until: Seconds

    package init(from: Seconds, to: Seconds, at: Seconds, until: Seconds) {
      self.from = from
      self.to = to
      self.at = at
      self.until = until
    }
  }

  package let before: Seconds
  package let after: Seconds
  package let pieces: [Piece]

  package init(before: Seconds, after: Seconds, pieces: [Piece]) {
    self.before = before
    self.after = after
    self.pieces = pieces
  }

  /// A map of stretches that were kept at their speed, in frames.
  /// - Parameter kept: each stretch of the old time, and its first frame in the new time.
  init(_ kept: [(old: Range<Int>, new: Int)], before: Int, after: Int, at rate: Hertz) {
    func seconds(_ frames: Int) -> Seconds { Frames(frames).duration(at: rate) }
    self.init(
      before: seconds(before), after: seconds(after),
      pieces: kept.map {
        Piece(
          from: seconds($0.old.lowerBound), to: seconds($0.old.upperBound), at: seconds($0.new),
          until: seconds($0.new + $0.old.count))
      })
  }
}
