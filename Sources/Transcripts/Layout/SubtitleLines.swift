/// Breaks a subtitle into lines: as few as it takes, of about the same length, and where punctuation
/// is.
struct SubtitleLines {
  private let layout: SubtitleLayout

  /// Uses the limits of a layout.
  init(_ layout: SubtitleLayout) { self.layout = layout }

  /// How many lines atoms take, if each is filled as far as it goes; at most one more than there may
  /// be. O(n).
  func leastCount(of atoms: ArraySlice<SubtitleAtom>) -> Int {
    var count = 1
    var width = 0
    for atom in atoms {
      let wider = width + atom.width + (atom.isSpaced && width > 0 ? 1 : 0)
      if wider > layout.lineLength, width > 0 {
        count += 1
        width = atom.width
        if count > layout.lineCount { return count }
      } else {
        width = wider
      }
    }
    return count
  }

  /// The lines of a subtitle. O(n² · lines) for n atoms.
  func lines(of atoms: ArraySlice<SubtitleAtom>) -> [Range<Int>] {
    let count = leastCount(of: atoms)
    guard count > 1 else { return [atoms.startIndex..<atoms.endIndex] }
    var before = [0]
    for atom in atoms {
      before.append(before[before.count - 1] + atom.width + (atom.isSpaced ? 1 : 0))
    }
    let size = atoms.count
    let ideal = Double(before[size]) / Double(count)
    // The least cost of putting the first atoms into so many lines, and where the last line begins.
    var costs = Array(repeating: Double.infinity, count: size + 1)
    costs[0] = 0
    var starts: [[Int]] = []
    for _ in 0..<count {
      var next = Array(repeating: Double.infinity, count: size + 1)
      var start = Array(repeating: 0, count: size + 1)
      for end in 1...size {
        for begin in (0..<end).reversed() {
          let first = atoms[atoms.startIndex + begin]
          let width = before[end] - before[begin] - (first.isSpaced ? 1 : 0)
          if width > layout.lineLength, end - begin > 1 { break }
          guard costs[begin].isFinite else { continue }
          let cost =
            costs[begin] + raggedness(width, ideal)
            + (end < size ? penalty(atoms[atoms.startIndex + end - 1].ending) : 0)
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
    let part = (Double(width) - ideal) / Double(layout.lineLength)
    return part * part * 10
  }

  private func penalty(_ ending: SubtitleAtom.Ending) -> Double {
    switch ending {
    case .sentence: 0
    case .clause: 0.25
    case .word: 1
    case .character: 1.5
    case .syllable: 4
    }
  }
}
