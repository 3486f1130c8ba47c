@testable import Audio

extension Timeline {
  /// The new time of an old time; nil if it was cut. The end of a piece belongs to it unless the
  /// next piece begins there. O(log n) for n pieces.
  func place(of old: Seconds) -> Seconds? {
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

extension SilenceReport {
  var timeline: Timeline { Timeline(before: before, after: after, pieces: pieces) }
}
