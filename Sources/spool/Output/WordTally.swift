/// The words of all files of a batch together, and the file in which the most are doubtful.
struct WordTally {
  private var fileCount = 0
  private var counts = WordCounts()
  private var worst: (path: String, share: Double)?

  /// Takes the words of a file in.
  mutating func add(_ reports: [WordQuality], of path: String) {
    guard !reports.isEmpty else { return }
    fileCount += 1
    let own = reports.reduce(into: WordCounts()) { $0.add($1.counts) }
    counts.add(own)
    if own.doubtfulShare > worst?.share ?? 0 { worst = (path, own.doubtfulShare) }
  }

  /// `words  12,040 timed · 31 interpolated · 18 unsure, in 12 files; the least sure is walk.m4a
  /// (9 % in doubt)`; nil where fewer than two files have words.
  var line: String? {
    guard fileCount > 1 else { return nil }
    let doubtful = worst.map {
      "; the least sure is \($0.path) (\(Format.decimal(100 * $0.share, places: 0)) % in doubt)"
    }
    return "words  \(counts.line), in \(Count.of(fileCount, "file"))\(doubtful ?? "")"
  }
}

/// How many words are of which kind.
struct WordCounts: Hashable {
  var all = 0
  var timed = 0
  var interpolated = 0
  var untimed = 0
  var unsure = 0

  /// Adds those of another file.
  mutating func add(_ other: WordCounts) {
    all += other.all
    timed += other.timed
    interpolated += other.interpolated
    untimed += other.untimed
    unsure += other.unsure
  }

  /// The share of words that have no time of their own, or a doubtful one: 0 to 1.
  var doubtfulShare: Double {
    all > 0 ? min(1, Double(interpolated + untimed + unsure) / Double(all)) : 0
  }

  /// `1,204 timed · 31 interpolated · 18 unsure`
  var line: String {
    var parts = [
      "\(Count.grouped(timed)) timed", "\(Count.grouped(interpolated)) interpolated",
      "\(Count.grouped(unsure)) unsure",
    ]
    if untimed > 0 { parts.append("\(Count.grouped(untimed)) without a time") }
    return parts.joined(separator: " · ")
  }
}
