public import AudioModel

/// Where the sound went: which stretch of the old time lies where in the new, so that words and
/// markers can move with it.
///
/// The pieces are in order and do not overlap in the old time; what lies between them is gone. In
/// the new time a piece may begin before the one above has ended: they are crossfaded there.
public struct Timeline: Hashable, Sendable, Codable {
  /// A stretch of sound, in seconds; within it, time runs evenly.
  public struct Piece: Hashable, Sendable, Codable {
    /// Where it began in the old time.
    public let from: Seconds
    /// Where it ended in the old time.
    public let to: Seconds
    /// Where it begins in the new time.
    public let at: Seconds
    /// Where it ends in the new time.
    public let until: Seconds

    /// Describes a piece.
    public init(from: Seconds, to: Seconds, at: Seconds, until: Seconds) {
      self.from = from
      self.to = to
      self.at = at
      self.until = until
    }
  }

  /// How long the sound was.
  public let before: Seconds
  /// How long it is.
  public let after: Seconds
  /// What is left of it.
  public let pieces: [Piece]

  /// Describes a change of time.
  public init(before: Seconds, after: Seconds, pieces: [Piece]) {
    self.before = before
    self.after = after
    self.pieces = pieces
  }

  /// Describes what was kept of sound that runs as fast as before, by frames.
  /// - Parameter kept: each stretch of the old time, and the frame at which it begins now.
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

  /// Where a moment of the old time is now; nil where it was cut out. The end of a piece belongs to
  /// it, unless the next begins there. O(log n) for n pieces.
  public func place(of old: Seconds) -> Seconds? {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].from <= old { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let piece = pieces[low - 1]
    guard old <= piece.to else { return nil }
    let length = piece.to.value - piece.from.value
    guard length > 0 else { return piece.at }
    let part = (old.value - piece.from.value) / length
    return Seconds(piece.at.value + part * (piece.until.value - piece.at.value))
  }
}
