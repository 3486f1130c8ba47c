/// The phones near a path through a graph: for each frame those that the path passes a while before
/// or after it, in whole words, with the silences beside them.
struct PathBand {
  /// By frame, the numbers of the phones.
  let windows: [Range<Int>]

  /// The phones that a path passes within so many frames.
  ///
  /// Complexity: O(*n* + *f*) in the numbers of phones and frames.
  init(around path: ForcedPath, in graph: PhoneGraph, frameCount: Int, reach: Int) {
    let groups = Self.groups(of: graph)
    var passed = [Int](repeating: 0, count: frameCount)
    for step in path.steps {
      for frame in step.first..<min(step.end, frameCount) { passed[frame] = step.node }
    }
    windows = (0..<frameCount).map { frame in
      let first = groups[passed[max(0, frame - reach)]]
      let last = groups[passed[min(frameCount - 1, frame + reach)]]
      return first.lowerBound..<max(last.upperBound, first.upperBound)
    }
  }

  /// For each phone those of its word, and of the silences before and after it; for a silence, the
  /// words before and after it as well.
  private static func groups(of graph: PhoneGraph) -> [Range<Int>] {
    var words: [Range<Int>] = []
    for (number, node) in graph.nodes.enumerated() {
      if let last = words.last, graph.nodes[last.lowerBound].arc == node.arc {
        words[words.count - 1] = last.lowerBound..<number + 1
      } else {
        words.append(number..<number + 1)
      }
    }
    func isSilent(_ word: Int) -> Bool { graph.nodes[words[word].lowerBound].arc == nil }
    var groups: [Range<Int>] = []
    groups.reserveCapacity(graph.nodes.count)
    for index in words.indices {
      var (first, last) = (index, index)
      if index > 0, isSilent(index) || isSilent(index - 1) { first -= 1 }
      if index + 1 < words.count, isSilent(index) || isSilent(index + 1) { last += 1 }
      let whole = words[first].lowerBound..<words[last].upperBound
      groups += Array(repeating: whole, count: words[index].count)
    }
    return groups
  }
}
