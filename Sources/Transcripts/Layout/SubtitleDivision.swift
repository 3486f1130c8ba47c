/// Divides what one speaker says into subtitles: of all divisions the one with the least sum of costs.
struct SubtitleDivision {
  private let layout: SubtitleLayout
  private let atoms: [SubtitleAtom]
  private let lines: SubtitleLines

  /// Divides atoms by a layout.
  init(_ layout: SubtitleLayout, _ atoms: [SubtitleAtom]) {
    self.layout = layout
    self.atoms = atoms
    lines = SubtitleLines(layout)
  }

  /// The atoms of each subtitle, in order. O(n · c²) for n atoms, of which c fit into a subtitle.
  var parts: [Range<Int>] {
    guard !atoms.isEmpty else { return [] }
    var costs = [0.0]
    var starts = [0]
    for end in 1...atoms.count {
      var best = Double.infinity
      var bestStart = end - 1
      for start in (0..<end).reversed() {
        // One atom is always a subtitle, however long it is.
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
    return lines.leastCount(of: atoms[part]) <= layout.lineCount
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
    // Each subtitle costs something: few are better than many.
    var cost = 1.0
    let width = atoms[part].reduce(0) { $0 + $1.width + ($1.isSpaced ? 1 : 0) }
    if part.upperBound < atoms.count {
      cost += penalty(atoms[part.upperBound - 1].ending)
      if pause(before: part.upperBound) >= 0.3 { cost -= 0.5 }
    }
    // A word or two alone look forlorn.
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

  private func penalty(_ ending: SubtitleAtom.Ending) -> Double {
    switch ending {
    case .sentence: 0
    case .clause: 0.6
    case .word: 2
    case .character: 2.5
    case .syllable: 6
    }
  }
}
