extension TimelineMap {
  /// The treatment of words whose sound was cut.
  package enum RemovedWords: String, Codable, Sendable {
    /// Kept in the text, without times and flagged as removed.
    case kept
    /// Dropped with their text; empty segments are dropped too.
    case dropped
  }

  /// Maps a transcript of the old sound to the new.
  ///
  /// A word of which at least half remains moves with it, and is flagged as clipped if incomplete;
  /// other words count as removed. A word split into several places moves with its longest part.
  /// Untimed words stay in segments of which something remains.
  ///
  /// Complexity: O(*w* log *n*) for *w* words and *n* pieces.
  package func move(_ transcript: Transcript, removed: RemovedWords) -> Transcript {
    var result = transcript
    result.segments = transcript.segments.compactMap { move($0, removed: removed) }
    return result
  }

  /// The words of a transcript that ``move(_:removed:)`` leaves when it drops the others, by their numbers.
  /// As costly as that.
  package func wordsLeft(of transcript: Transcript) -> [Int] {
    var left: [Int] = []
    var offset = 0
    for segment in transcript.segments {
      if move(segment, removed: .dropped) != nil, let kept = move(segment, removed: .kept) {
        left += kept.words.indices.filter { !kept.words[$0].flags.contains(.removed) }
          .map { offset + $0 }
      }
      offset += segment.words.count
    }
    return left
  }

  private func move(_ segment: Segment, removed: RemovedWords) -> Segment? {
    var moved = segment
    let place = place(from: segment.start, to: segment.end, share: 0)
    moved.start = segment.start == nil ? nil : place?.start
    moved.end = segment.end == nil ? nil : place?.end
    let isKnown = segment.start != nil || segment.end != nil
    for index in segment.words.indices {
      moved.words[index] = move(segment.words[index], isGone: isKnown && place == nil)
    }
    guard removed == .dropped else { return moved }
    let hadText = !segment.words.isEmpty
    if isKnown, place == nil { return nil }
    moved = moved.keeping { !$0.flags.contains(.removed) }
    return hadText && moved.words.isEmpty ? nil : moved
  }

  private func move(_ word: TimedWord, isGone: Bool) -> TimedWord {
    var moved = word
    let isTimed = word.start != nil || word.end != nil
    guard isTimed ? !isGone || word.start != nil : isGone else { return word }
    guard isTimed, let place = place(from: word.start, to: word.end, share: 0.5) else {
      (moved.start, moved.end) = (nil, nil)
      moved.flags.insert(.removed)
      return moved
    }
    moved.start = word.start == nil ? nil : place.start
    moved.end = word.end == nil ? nil : place.end
    if !place.isWhole { moved.flags.insert(.clipped) }
    return moved
  }

  /// The new place of a stretch; nil if less than a share of it remains.
  private func place(
    from start: Double?, to end: Double?, share: Double
  ) -> (start: Double, end: Double, isWhole: Bool)? {
    guard let from = start ?? end else { return nil }
    let to = max(end ?? from, from)
    guard to > from else {
      return self.place(of: from).map { ($0, $0, true) }
    }
    let parts = pieces(within: from, to)
    func length(_ piece: Piece) -> Double { min(piece.to, to) - max(piece.from, from) }
    let left = parts.reduce(0) { $0 + length($1) }
    guard let first = parts.first, let last = parts.last, left > 0, left >= share * (to - from)
    else { return nil }
    // Tolerates rounding errors.
    let isWhole = left >= (to - from) - 1e-6
    let isInOrder = zip(parts, parts.dropFirst()).allSatisfy { $0.at <= $1.at }
    if isInOrder { return (first.place(of: from), last.place(of: to), isWhole) }
    let longest = parts.max { length($0) < length($1) } ?? first
    return (longest.place(of: from), longest.place(of: to), false)
  }
}
