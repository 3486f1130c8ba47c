internal import Hashing

/// The order in which a plan is carried out.
extension CollectionPlan {
  /// What goes together: rows, and then the files that nothing names any more without them.
  struct Portion: Hashable {
    /// The checkpoints.
    fileprivate(set) var keys: [Digest] = []
    /// The kept sound that is struck while its checkpoints stay.
    fileprivate(set) var sound: [Digest] = []
    /// The files.
    fileprivate(set) var files: [Digest] = []
  }

  /// How many rows the first portion strikes; each one after it strikes twice as many.
  private static let firstCount = 4

  /// All that goes: first what nothing has to be struck for, then, in portions that grow, what frees
  /// most. So the first transactions are short, and the room that the log of a long one takes has been
  /// freed by then. O(n log n) in the number of checkpoints.
  var portions: [Portion] {
    var portions = [Portion()]
    var last: [Digest: Int] = [:]
    var (count, room) = (0, Self.firstCount)
    func next() -> Int {
      if portions.count == 1 || count == room {
        if portions.count > 1 { room *= 2 }
        portions.append(Portion())
        count = 0
      }
      count += 1
      return portions.count - 1
    }
    for artifact in descending(sound.map { ($0, byteCount($0)) }) {
      let number = next()
      portions[number].sound.append(artifact)
      last[artifact] = number
    }
    let weights = keys.map { key in
      (key, Set((mentions[key] ?? []).map(\.artifact)).reduce(0) { $0 + byteCount($1) })
    }
    for key in descending(weights) {
      let number = next()
      portions[number].keys.append(key)
      // Named by several, a file goes with the last of them.
      for mention in mentions[key] ?? [] { last[mention.artifact] = number }
    }
    for file in descending(files.map { ($0, byteCount($0)) }) {
      portions[last[file] ?? 0].files.append(file)
    }
    return portions
  }

  private func byteCount(_ artifact: Digest) -> Int {
    files.contains(artifact) ? present[artifact]?.byteCount ?? 0 : 0
  }

  private func descending(_ weighed: [(Digest, Int)]) -> [Digest] {
    weighed.sorted { ($0.1, $1.0.hex) > ($1.1, $0.0.hex) }.map(\.0)
  }
}
