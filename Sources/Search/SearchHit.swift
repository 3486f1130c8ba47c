package import Platform

/// A place in a recording where what was looked for is said.
package struct SearchHit: Hashable, Sendable {
  /// Some words of the place.
  package struct Piece: Hashable, Sendable {
    /// The words as they are written; "…" for some that are left out.
    package let text: String
    /// Whether they are what was looked for.
    package let isHit: Bool
  }

  /// The recording's file when the run read it, or where it lies now; several of a sound that was made
  /// of several recordings, in its order.
  package var paths: [String]
  /// The key of an inbox's recording, whose path is where it arrived; nil for others.
  package var key: String?
  /// Whether another recording lies at its path by now, and the one that was heard at no known one.
  package var isElsewhere = false
  /// The run that gave the words their times.
  package let run: String
  /// The step that did.
  package let step: String
  /// The run's pipeline.
  package let pipeline: String
  /// When the run ended, in seconds since 1970.
  package let time: Double
  /// The start of the first word that was found, in seconds; nil if no word has a time.
  package let start: Double?
  /// The end of the last word that was found, in seconds.
  package let end: Double?
  /// Whether the first or last word has no time of its own, and its neighbour's is given.
  package let isApproximate: Bool
  /// What is said there.
  package let pieces: [Piece]
  /// The digest of the recording, or its path.
  let recording: String
  /// What tells its sound from any other; empty if unknown.
  private let sound: String

  /// The digest of the recording; nil if it is unknown.
  package var digest: Digest? { Digest(hex: recording) }

  /// The recording's file, or those of the whole: `/a/intro.wav + /a/talk.wav`.
  package var path: String { paths.joined(separator: " + ") }

  /// The same without folders.
  package var name: String { paths.recordingName }

  /// Paths as one text: a character that no path has keeps them apart.
  static func line(of paths: [String]) -> String { paths.joined(separator: "\(separator)") }
  static func paths(in line: String) -> [String] {
    line.split(separator: separator).map(String.init)
  }
  private static let separator: Character = "\u{1F}"
  /// The same in SQL.
  static let separatorInSQL = "char(31)"

  /// The words that were found, with what lies between them.
  package var words: String {
    let first = pieces.firstIndex(where: \.isHit) ?? 0
    let last = pieces.lastIndex(where: \.isHit) ?? first
    return pieces.isEmpty ? "" : pieces[first...last].map(\.text).joined(separator: " ")
  }

  /// - Parameters:
  ///   - words: all words of the transcript.
  ///   - times: the time of each, in seconds.
  ///   - source: path, run, step, pipeline, time, recording and sound.
  init(
    _ place: Place, in words: [String], _ times: [ClosedRange<Double>?], of source: SQLRow
  ) {
    paths = Self.paths(in: source[0].text ?? "")
    run = source[1].text ?? ""
    step = source[2].text ?? ""
    pipeline = source[3].text ?? ""
    time = source[4].real ?? 0
    recording = source[5].text ?? ""
    sound = source[6].text ?? ""
    let (first, last) = (place.words.lowerBound, place.words.upperBound)
    let before = times[..<first].last { $0 != nil }??.upperBound
    let behind = times[(last + 1)...].first { $0 != nil }??.lowerBound
    let start =
      times[first]?.lowerBound ?? before
      ?? times[first...].first { $0 != nil }??.lowerBound
    let end =
      times[last]?.upperBound ?? behind ?? times[...last].last { $0 != nil }??.upperBound
    self.start = start
    self.end = end.map { max($0, start ?? $0) }
    isApproximate = times[first] == nil || times[last] == nil
    pieces = place.pieces(of: words)
  }

  /// Whether it is the same place from another run, or in another file of the same sound.
  func isSamePlace(as other: SearchHit) -> Bool {
    let isSameSound = !sound.isEmpty && sound == other.sound
    guard isSameSound || recording == other.recording, words == other.words, let start, let end,
      let otherStart = other.start, let otherEnd = other.end
    else { return false }
    return start <= otherEnd && otherStart <= end
  }

  /// Matches that lie close together, by the numbers of their words.
  struct Place {
    private(set) var words: ClosedRange<Int>
    /// The words that were found, in order, with others between.
    private(set) var matches: [ClosedRange<Int>]

    /// The largest number of words in a place of several matches, unless a query asks for more.
    private static let length = 40
    /// Words shown before the first match and behind the last.
    private static let context = 8
    /// Of more than twice as many words between two matches, the middle is left out.
    private static let inner = 8

    /// The places of all matches. O(n log n).
    /// - Parameter distance: the largest number of words between two matches of one place.
    static func all(in matches: [ClosedRange<Int>], distance: Int) -> [Place] {
      let length = max(length, 2 * distance)
      var places: [Place] = []
      for match in matches.sorted(by: {
        ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound)
      }) {
        if let last = places.last?.words, match.lowerBound - last.upperBound - 1 <= distance,
          match.upperBound - last.lowerBound < length || match.lowerBound <= last.upperBound
        {
          places[places.count - 1].add(match)
        } else {
          places.append(Place(words: match, matches: [match]))
        }
      }
      return places
    }

    /// Adds a match that begins no earlier than the others.
    private mutating func add(_ match: ClosedRange<Int>) {
      words = words.lowerBound...max(words.upperBound, match.upperBound)
      if let last = matches.last, match.lowerBound <= last.upperBound + 1 {
        matches[matches.count - 1] = last.lowerBound...max(last.upperBound, match.upperBound)
      } else {
        matches.append(match)
      }
    }

    /// The words of the place and some around it.
    func pieces(of words: [String]) -> [Piece] {
      var pieces: [Piece] = []
      func text(_ range: Range<Int>) -> String { words[range].joined(separator: " ") }
      func add(_ text: String, isHit: Bool = false) {
        if !text.isEmpty { pieces.append(Piece(text: text, isHit: isHit)) }
      }
      let begin = max(0, self.words.lowerBound - Self.context)
      if begin > 0 { add("…") }
      var next = begin
      for match in matches {
        if next > begin, match.lowerBound - next > 2 * Self.inner {
          add(
            text(next..<next + Self.inner) + " … "
              + text(match.lowerBound - Self.inner..<match.lowerBound))
        } else {
          add(text(next..<match.lowerBound))
        }
        next = match.upperBound + 1
        add(text(match.lowerBound..<next), isHit: true)
      }
      let end = min(words.count, next + Self.context)
      add(text(next..<end))
      if end < words.count { add("…") }
      return pieces
    }
  }
}

/// What a search has found.
package struct SearchAnswer: Hashable, Sendable {
  /// Those that were indexed last first; within a recording in their order.
  package var hits: [SearchHit] = []
  /// Whether there are more than were wanted.
  package var hasMore = false
  /// How many transcripts were searched.
  package var transcripts = 0
  /// Recordings whose words would have been searched, but are lost.
  package var lost: [LostWords] = []
}

/// Words of a recording that the store has lost. A run of the same finds them again.
package struct LostWords: Hashable, Sendable, Codable {
  /// The recording's file when the run read it.
  package let recording: String
  /// The run that found them.
  package let run: String
}

/// Which hits are wanted.
package struct SearchLimits: Hashable, Sendable {
  /// No more than so many.
  package var count = Int.max
  /// Only from runs that ended since, in seconds since 1970.
  package var since: Double?
  /// Only from runs of this pipeline.
  package var pipeline: String?

  /// Wants all.
  package init() {}
}

extension [String] {
  /// What people call the recording of these files: `intro.wav + talk.wav`.
  package var recordingName: String {
    let names = map { path in path.pathNames.last ?? path }
    if names.count <= 4 { return names.joined(separator: " + ") }
    return (names.prefix(3) + ["\(names.count - 3) more"]).joined(separator: " + ")
  }
}
