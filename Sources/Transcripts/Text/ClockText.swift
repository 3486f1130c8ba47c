/// Times as text.
enum ClockText {
  /// Milliseconds, rounded to the nearest.
  static func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1000).rounded()) }

  /// `01:02:03.456`; hours have at least two digits.
  static func hours(_ seconds: Double, point: String) -> String {
    let total = milliseconds(seconds)
    return padded(total / 3_600_000, 2) + ":" + padded(total / 60_000 % 60, 2) + ":"
      + padded(total / 1000 % 60, 2) + point + padded(total % 1000, 3)
  }

  /// `62:03.45`: minutes, seconds and hundredths.
  static func minutes(_ seconds: Double) -> String {
    let total = Int((seconds * 100).rounded())
    return padded(total / 6000, 2) + ":" + padded(total / 100 % 60, 2) + "."
      + padded(total % 100, 2)
  }

  /// `3723.456`: seconds with up to six decimals.
  static func seconds(_ seconds: Double, decimals: Int) -> String {
    let unit = (0..<decimals).reduce(1) { unit, _ in unit * 10 }
    let total = Int((seconds * Double(unit)).rounded())
    return "\(total / unit).\(padded(total % unit, decimals))"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

/// Normalises times of untrusted files.
enum Times {
  /// Start and end; an end before the start is dropped. O(1).
  static func ordered(_ start: Double?, _ end: Double?) -> (start: Double?, end: Double?) {
    guard let start, let end, end < start else { return (start, end) }
    return (start, nil)
  }

  /// Assigns separately listed words to their segments, each to the last one that has begun.
  /// Segments keep their text, and its words get the times. O(n).
  static func distributed(_ words: [TimedWord], among segments: [Segment]) -> [Segment] {
    guard !segments.isEmpty else { return [Segment(words: words)] }
    var parts = segments.map { _ in [TimedWord]() }
    var index = 0
    for word in words {
      if let start = word.start {
        while index + 1 < segments.count, let next = segments[index + 1].start, next <= start {
          index += 1
        }
      }
      parts[index].append(word)
    }
    return zip(segments, parts).map { segment, words in
      words.isEmpty
        ? segment
        : WovenText.segment(
          segment.text, timed: words, start: segment.start, end: segment.end,
          speaker: segment.speaker)
    }
  }
}
