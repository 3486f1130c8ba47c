/// A place in a recording where what was looked for is said.
public struct SearchHit: Hashable, Sendable {
  /// Some words of the place.
  public struct Piece: Hashable, Sendable {
    /// The words as they are written; "…" for some that are left out.
    public let text: String
    /// Whether they are what was looked for.
    public let isHit: Bool
  }

  /// What the recording is called.
  public let name: String
  /// The recording's file when the run read it.
  public let path: String
  /// The run that gave the words their times.
  public let run: String
  /// The step that did.
  public let step: String
  /// The run's pipeline.
  public let pipeline: String
  /// When the run ended, in seconds since 1970.
  public let time: Double
  /// Where the first word that was found begins, in seconds; nil where no word has a time.
  public let start: Double?
  /// Where the last word that was found ends, in seconds.
  public let end: Double?
  /// Whether a word that was found has no time of its own, and its neighbour's is given.
  public let isApproximate: Bool
  /// What is said there.
  public let pieces: [Piece]
  /// The digest of the recording, or its path, by which two hits are of one recording.
  let recording: String

  /// The words that were found, with what lies between them.
  public var words: String {
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
public struct SearchAnswer: Hashable, Sendable {
  /// The places, those that were told last first; within a recording in their order.
  public var hits: [SearchHit] = []
  /// Whether there are more than were wanted.
  public var hasMore = false
  /// Whether there is a word in the query.
  public var hasWords = true
  /// How many transcripts were searched.
  public var transcripts = 0
}

/// Which hits are wanted.
public struct SearchLimits: Hashable, Sendable {
  /// No more than so many.
  public var count = Int.max
  /// Only what runs have told since, in seconds since 1970.
  public var since: Double?
  /// Only what this pipeline has told.
  public var pipeline: String?

  /// Wants all.
  public init() {}
}
