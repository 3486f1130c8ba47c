import Audio

/// A processor beside another program's filter for the same job.
struct Comparison {
  /// What the other side is told.
  enum Rival {
    /// A filter graph of ffmpeg. What is cheap goes through several copies, one after the other, so
    /// that there is something to measure.
    case ffmpeg(String, minutes: Int = 5, copies: Int = 1)
    /// An effect of sox.
    case sox([String])
  }

  let name: String
  /// CPU seconds of ours for an hour.
  let ours: (BenchmarkMaterial) -> Double
  let rival: Rival
  /// The greatest ratio that is good enough.
  let limit: Double

  /// Compares a processor.
  init(
    _ name: String, _ rival: Rival, limit: Double = 1, make: @escaping () -> any Processor
  ) {
    self.init(name, rival, limit: limit) { $0.seconds(through: make) }
  }

  /// Compares whatever takes so many CPU seconds for an hour.
  init(
    _ name: String, _ rival: Rival, limit: Double = 1,
    ours: @escaping (BenchmarkMaterial) -> Double
  ) {
    self.name = name
    self.rival = rival
    self.limit = limit
    self.ours = ours
  }

  /// Measures both sides in turns, `rounds` times, prints the least of each, and judges the ratio;
  /// nil where the other program is not installed.
  func judge(_ material: BenchmarkMaterial, rounds: Int) throws(BenchmarkError) -> Verdict? {
    var (mine, plain, filtered) = (Double.infinity, Double.infinity, Double.infinity)
    for _ in 0..<rounds {
      mine = min(mine, ours(material))
      guard let without = try plainSeconds(material), let with = try filteredSeconds(material)
      else {
        report(Text.row([Text.number(mine), "-", "-"]) + "  \(name)")
        return nil
      }
      plain = min(plain, without)
      filtered = min(filtered, with)
    }
    // What cannot be told from nothing is taken for a hundredth of a second.
    let theirs = max(filtered - plain, 0.01) * perHour
    report(
      Text.row([Text.number(mine), Text.number(theirs), Text.number(mine / theirs)]) + "  \(name)")
    return .atMost(limit, "\(name): ratio of CPU times", mine / theirs)
  }

  /// From what is measured to one filter for an hour.
  private var perHour: Double {
    switch rival {
    case .ffmpeg(_, let minutes, let copies): 60 / Double(minutes * copies)
    case .sox: 12
    }
  }

  private func plainSeconds(_ material: BenchmarkMaterial) throws(BenchmarkError) -> Double? {
    switch rival {
    case .ffmpeg(_, let minutes, _): try material.ffmpeg("anull", minutes: minutes)
    case .sox: try material.sox([], minutes: 5)
    }
  }

  private func filteredSeconds(_ material: BenchmarkMaterial) throws(BenchmarkError) -> Double? {
    switch rival {
    case .ffmpeg(let filters, let minutes, let copies):
      try material.ffmpeg(
        Array(repeating: filters, count: copies).joined(separator: ","), minutes: minutes)
    case .sox(let effect): try material.sox(effect, minutes: 5)
    }
  }
}
