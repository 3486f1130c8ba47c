/// `benchmarks memory`: the most memory that the whole job takes, for a short and a long recording.
struct Memory: Benchmark {
  private static let limit = 100.0

  let workshop: Workshop
  let minutes: [Int]

  func run() throws(BenchmarkError) -> [Verdict] {
    report("Memory: peak of the whole job")
    var verdicts: [Verdict] = []
    for minutes in minutes {
      let recording = try Material(workshop).programme(minutes: minutes)
      let store = try workshop.emptyFolder("store")
      let usage = try SpoolMastering(workshop: workshop, recording: recording)
        .run(store: store, into: try workshop.emptyFolder("spool"))
      report("  \(minutes) min: \(Text.megabytes(usage.peakMemory)) in \(Text.seconds(usage.wall))")
      verdicts.append(
        .atMost(
          Self.limit, "memory: \(minutes) minutes", Double(usage.peakMemory) / 1e6, unit: " MB",
          decimals: 1))
      // The store of a long recording is large.
      _ = try workshop.emptyFolder("store")
      _ = try workshop.emptyFolder("spool")
    }
    return verdicts
  }
}
