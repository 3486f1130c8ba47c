/// The nearest of `words` to `word`, the first of equals; else the one that it is short for, or
/// that it begins with, by three letters or more; nil if none is near.
///
/// O(n · m) for each candidate, n and m the lengths of the words.
func nearestWord(to word: String, in words: [String]) -> String? {
  let limit = max(1, word.count / 3)
  let near = words.map { (word: $0, distance: editDistance(word, $0)) }
    .filter { $0.distance <= limit && $0.distance < $0.word.count }
  if let nearest = near.min(by: { $0.distance < $1.distance }) { return nearest.word }
  return words.filter {
    min($0.count, word.count) > 2 && ($0.hasPrefix(word) || word.hasPrefix($0))
  }
  .max { min($0.count, word.count) < min($1.count, word.count) }
}

/// The optimal string alignment distance: insertions, deletions, replacements and swaps of
/// neighbours. O(a · b).
package func editDistance(_ a: String, _ b: String) -> Int {
  let (a, b) = (Array(a), Array(b))
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
        best = min(best, beforeLast[j - 1] + 1)
      }
      row.append(best)
    }
    (beforeLast, last) = (last, row)
  }
  return last[b.count]
}
