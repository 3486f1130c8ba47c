/// A place in a recording where what was looked for is said.
package struct SearchHit: Hashable, Sendable {
  /// Some words of the place.
  package struct Piece: Hashable, Sendable {
    /// The words as they are written; "…" for some that are left out.
    package let text: String
    /// Whether they are what was looked for.
    package let isHit: Bool
  }

  /// What the recording is called.
  package let name: String
  /// The recording's file when the run read it.
  package let path: String
  /// The run that gave the words their times.
  package let run: String
  /// The step that did.
  package let step: String
  /// The run's pipeline.
  package let pipeline: String
  /// When the run ended, in seconds since 1970.
  package let time: Double
  /// Where the first word that was found begins, in seconds; nil where no word has a time.
  package let start: Double?
  /// Where the last word that was found ends, in seconds.
  package let end: Double?
  /// Whether a word that was found has no time of its own, and its neighbour's is given.
  package let isApproximate: Bool
  /// What is said there.
  package let pieces: [Piece]
  /// The digest of the recording, or its path, by which two hits are of one recording.
  let recording: String

  /// The words that were found, with what lies between them.
  package var words: String {
    let first = pieces.firstIndex(where: \.isHit) ?? 0
    let last = pieces.lastIndex(where: \.isHit) ?? first
    return pieces.isEmpty ? "" : pieces[first...last].map(\.text).joined(separator: " ")
  }

  /// Whether it is the same place, told by another run.
  func isSamePlace(as other: SearchHit) -> Bool {
    guard recording == other.recording, words == other.words, let start, let end,
      let otherStart = other.start, let otherEnd = other.end
    else { return false }
    return start <= otherEnd && otherStart <= end
  }
}

/// What a search has found.
package struct SearchAnswer: Hashable, Sendable {
  /// The places, those that were told last first; within a recording in their order.
  package var hits: [SearchHit] = []
  /// Whether there are more than were wanted.
  package var hasMore = false
  /// Whether there is a word in the query.
  package var hasWords = true
  /// How many transcripts were searched.
  package var transcripts = 0
}

/// Which hits are wanted.
package struct SearchLimits: Hashable, Sendable {
  /// No more than so many.
  package var count = Int.max
  /// Only what runs have told since, in seconds since 1970.
  package var since: Double?
  /// Only what this pipeline has told.
  package var pipeline: String?

  /// Wants all.
  package init() {}
}
