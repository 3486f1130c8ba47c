package import Platform

/// Divides a transcript into subtitles by length, line count and display time.
///
/// Word times determine when a subtitle appears, and the order of subtitles; it stays until it can be
/// read, as far as the next one permits. Where another voice begins before its words are said, both
/// are shown. Breaks are at sentence ends, clause ends or pauses, and never within a word, except
/// in scripts without spaces.
package struct SubtitleLayout: Hashable, Sendable {
  /// The greatest line length in columns: a letter takes one, a Chinese or Japanese character two.
  package var lineLength: Int
  /// The most lines of a subtitle.
  package var lineCount: Int
  /// The greatest reading speed in columns a second.
  package var charactersPerSecond: Double
  /// The least display time, in seconds, if the next subtitle permits.
  package var minimalDuration: Double
  /// The greatest display time, in seconds.
  package var maximalDuration: Double
  /// The least gap between subtitles, in seconds, so that the change is visible.
  package var minimalGap: Double
  /// A longer pause, in seconds, ends a subtitle.
  package var longestPause: Double
  /// Whether a change of speaker begins a subtitle.
  package var separatesSpeakers: Bool
  /// Whether the first line of a subtitle begins with its speaker's label, which takes part of its length.
  package var labelsSpeakers = false

  package init(
    lineLength: Int = 42, lineCount: Int = 2, charactersPerSecond: Double = 20,
    minimalDuration: Double = 5.0 / 6, maximalDuration: Double = 7, minimalGap: Double = 1.0 / 12,
    longestPause: Double = 1.5, separatesSpeakers: Bool = true
  ) {
    self.lineLength = max(lineLength, 1)
    self.lineCount = max(lineCount, 1)
    self.charactersPerSecond = charactersPerSecond > 0 ? charactersPerSecond : 20
    self.minimalDuration = max(minimalDuration, 0)
    self.maximalDuration = max(maximalDuration, self.minimalDuration)
    self.minimalGap = max(minimalGap, 0)
    self.longestPause = max(longestPause, 0)
    self.separatesSpeakers = separatesSpeakers
  }

  /// The transcript as subtitles: each is a segment with its lines as text, and its words. Segments
  /// are split, never joined.
  ///
  /// Words without times get interpolated, flagged ones; if no word has a time, neither do
  /// subtitles.
  ///
  /// Complexity: O(*n* · *c*²) for *n* words, of which *c* fit into a subtitle.
  package func subtitles(of transcript: Transcript) -> Transcript {
    var result = transcript
    result.segments = []
    for segment in transcript.interpolatingUntimed.segments {
      for run in SubtitleAtom.runs(of: segment, separatesSpeakers: separatesSpeakers) {
        let indent = indent(for: run.speaker)
        for part in SubtitleDivision(layout: self, atoms: run.atoms, indent: indent).parts {
          result.segments.append(subtitle(run.atoms[part], speaker: run.speaker))
        }
      }
    }
    result.segments = Self.inOrder(result.segments)
    extend(&result.segments)
    return result
  }

  /// The columns of a speaker's label and the space behind it.
  private func indent(for speaker: String?) -> Int {
    labelsSpeakers ? WritingRules.width(of: BracketedSpeaker.joined(speaker, " ")) - 1 : 0
  }

  /// Sorts subtitles by their starts, as formats demand. One without a time stays behind the one before
  /// it. O(n log n).
  private static func inOrder(_ subtitles: [Segment]) -> [Segment] {
    var last = -Double.infinity
    let keyed = subtitles.enumerated().map { index, subtitle in
      last = subtitle.start ?? last
      return (start: last, index: index, subtitle: subtitle)
    }
    return keyed.sorted { ($0.start, $0.index) < ($1.start, $1.index) }.map(\.subtitle)
  }

  private func subtitle(_ atoms: ArraySlice<SubtitleAtom>, speaker: String?) -> Segment {
    let lines = lines(of: atoms, indent: indent(for: speaker)).map { line in
      atoms[line].reduce(into: "") { text, atom in
        text += (atom.isSpaced && !text.isEmpty ? " " : "") + atom.text
      }
    }
    return Segment(
      text: lines.joined(separator: "\n"), words: SubtitleAtom.words(of: atoms, saidBy: speaker),
      start: atoms.lazy.compactMap(\.start).first, end: atoms.lazy.compactMap(\.end).max(),
      speaker: speaker)
  }
}

/// Extends subtitles for readability, as far as the next one permits.
extension SubtitleLayout {
  /// By how much a subtitle may end before its last word does, in seconds.
  private var longestCut: Double { 3 * minimalGap }

  /// Moves the ends of subtitles; their starts are those of their words. O(n) for a few voices.
  private func extend(_ subtitles: inout [Segment]) {
    var next: Double?
    var nextOfVoice: [String?: Double] = [:]
    for index in subtitles.indices.reversed() {
      guard let start = subtitles[index].start else { continue }
      let (text, voice) = (subtitles[index].text, subtitles[index].speaker)
      let spoken = max(subtitles[index].end ?? start, start)
      func end(before next: Double?) -> Double {
        self.end(
          of: text, start: start, spoken: spoken, next: next.flatMap { $0 > start ? $0 : nil })
      }
      // Another voice that begins meanwhile cuts off no words, only the end of one.
      let (usual, whole) = (end(before: next), min(spoken, end(before: nextOfVoice[voice])))
      subtitles[index].end = whole - usual > longestCut ? whole : usual
      next = start
      nextOfVoice[voice] = start
    }
  }

  private func end(of text: String, start: Double, spoken: Double, next: Double?) -> Double {
    let columns = WritingRules.width(of: text)
    let reading = Double(columns) / charactersPerSecond
    let wanted = max(spoken, start + max(reading, minimalDuration))
    let longest = min(wanted, start + maximalDuration)
    guard let next else { return longest }
    // If words follow each other too closely for a gap, half of the time is used.
    let latest = max(next - minimalGap, start + (next - start) / 2)
    return min(longest, latest)
  }
}

extension TranscriptFormat {
  /// Formats a transcript with the lines of subtitles and the times that the format wants, rounded. As
  /// costly as ``SubtitleLayout/subtitles(of:)`` for subtitles, else O(n).
  /// - Throws: as ``write(_:_:)``.
  package func write(
    _ transcript: Transcript, in layout: SubtitleLayout, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var layout = layout
    layout.labelsSpeakers = options.namesSpeakers && labelsSpeakers
    let shape =
      isSubtitles
      ? layout.subtitles(of: transcript)
      : needsTimes ? transcript.interpolatingUntimed : transcript
    return try write(shape.rounded, options)
  }
}

/// Divides one speaker's turn into subtitles at minimum total cost (dynamic programming).
private struct SubtitleDivision {
  let layout: SubtitleLayout
  let atoms: [SubtitleAtom]
  /// The columns of the first line that are taken.
  let indent: Int

  /// The atoms of each subtitle, in order. O(n · c²) for n atoms, of which c fit into a subtitle.
  var parts: [Range<Int>] {
    guard !atoms.isEmpty else { return [] }
    var costs = [0.0]
    var starts = [0]
    for end in 1...atoms.count {
      var best = Double.infinity
      var bestStart = end - 1
      for start in (0..<end).reversed() {
        // A single atom is always accepted, however long.
        if end - start > 1, !fits(start..<end) { break }
        let cost = costs[start] + cost(of: start..<end)
        if cost < best { (best, bestStart) = (cost, start) }
      }
      costs.append(best)
      starts.append(bestStart)
    }
    var parts: [Range<Int>] = []
    var end = atoms.count
    while end > 0 {
      parts.append(starts[end]..<end)
      end = starts[end]
    }
    return parts.reversed()
  }

  private func fits(_ part: Range<Int>) -> Bool {
    if let duration = duration(of: part), duration > layout.maximalDuration { return false }
    for index in part.dropFirst() where pause(before: index) > layout.longestPause { return false }
    return layout.leastCount(of: atoms[part], indent: indent) <= layout.lineCount
  }

  private func duration(of part: Range<Int>) -> Double? {
    guard let start = atoms[part.lowerBound].start, let end = atoms[part.upperBound - 1].end else {
      return nil
    }
    return end - start
  }

  private func pause(before index: Int) -> Double {
    guard index > 0, index < atoms.count, let end = atoms[index - 1].end,
      let start = atoms[index].start
    else { return 0 }
    return start - end
  }

  private func cost(of part: Range<Int>) -> Double {
    // A constant cost per subtitle favours few.
    var cost = 1.0
    let width = atoms[part].reduce(0) { $0 + $1.width + ($1.isSpaced ? 1 : 0) }
    if part.upperBound < atoms.count {
      cost += atoms[part.upperBound - 1].ending.costs.subtitle
      if pause(before: part.upperBound) >= 0.3 { cost -= 0.5 }
    }
    // A penalty for subtitles of one or two words.
    if part.count < atoms.count, width * 4 < layout.lineLength { cost += 1 }
    if let start = atoms[part.lowerBound].start {
      let next = part.upperBound < atoms.count ? atoms[part.upperBound].start : nil
      let room = next.map { $0 - layout.minimalGap - start } ?? .infinity
      let needed = Double(width) / layout.charactersPerSecond
      if room < needed { cost += min(4 * (needed / max(room, 0.01) - 1), 4) }
      if room < layout.minimalDuration { cost += 1 }
    }
    return cost
  }
}

/// Breaks a subtitle into as few lines as possible, of similar length, preferably at punctuation.
extension SubtitleLayout {
  /// The number of lines by greedy filling; at most one more than permitted. O(n).
  fileprivate func leastCount(of atoms: ArraySlice<SubtitleAtom>, indent: Int) -> Int {
    var count = 1
    var width = indent
    for (index, atom) in atoms.enumerated() {
      let wider = width + atom.width + (atom.isSpaced && index > 0 ? 1 : 0)
      if wider > lineLength, index > 0 {
        count += 1
        width = atom.width
        if count > lineCount { return count }
      } else {
        width = wider
      }
    }
    return count
  }

  /// The lines of a subtitle. O(n² · lines) for n atoms.
  private func lines(of atoms: ArraySlice<SubtitleAtom>, indent: Int) -> [Range<Int>] {
    let count = leastCount(of: atoms, indent: indent)
    guard count > 1 else { return [atoms.startIndex..<atoms.endIndex] }
    var before = [0]
    for atom in atoms {
      before.append(before[before.count - 1] + atom.width + (atom.isSpaced ? 1 : 0))
    }
    let size = atoms.count
    let ideal = Double(indent + before[size]) / Double(count)
    // The least cost of dividing the first atoms into so many lines, and the start of the last
    // line.
    var costs = Array(repeating: Double.infinity, count: size + 1)
    costs[0] = 0
    var starts: [[Int]] = []
    for _ in 0..<count {
      var next = Array(repeating: Double.infinity, count: size + 1)
      var start = Array(repeating: 0, count: size + 1)
      for end in 1...size {
        for begin in (0..<end).reversed() {
          let first = atoms[atoms.startIndex + begin]
          let width =
            before[end] - before[begin] - (first.isSpaced ? 1 : 0) + (begin == 0 ? indent : 0)
          if width > lineLength, end - begin > 1 { break }
          guard costs[begin].isFinite else { continue }
          let cost =
            costs[begin] + raggedness(width, ideal)
            + (end < size ? atoms[atoms.startIndex + end - 1].ending.costs.line : 0)
          if cost < next[end] { (next[end], start[end]) = (cost, begin) }
        }
      }
      costs = next
      starts.append(start)
    }
    var lines: [Range<Int>] = []
    var end = size
    for start in starts.reversed() where end > 0 {
      lines.append(atoms.startIndex + start[end]..<atoms.startIndex + end)
      end = start[end]
    }
    return lines.reversed()
  }

  private func raggedness(_ width: Int, _ ideal: Double) -> Double {
    let part = (Double(width) - ideal) / Double(lineLength)
    return part * part * 10
  }
}
