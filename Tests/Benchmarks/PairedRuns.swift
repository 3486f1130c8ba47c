import Audio

/// Two ways to do one job, timed in turns: A B A B …
///
/// What changes slowly on the machine, its clock rate and its caches, meets both sides of a pair
/// alike, so that the ratio within a pair says more than any time taken alone. Other programs do
/// not: they take most from the side that uses more cores.
struct PairedRuns {
  /// One way to do the job.
  struct Side {
    let name: String
    /// Does the job once. What is not to be timed is done before its programs start.
    let run: () throws(BenchmarkError) -> ProcessUsage
  }

  private let names: [String]
  private(set) var pairs: [(a: ProcessUsage, b: ProcessUsage)] = []

  /// Runs each side once for the caches, and then `count` pairs, printing each.
  init(_ a: Side, _ b: Side, count: Int) throws(BenchmarkError) {
    names = [a.name, b.name]
    report(Text.row(["", a.name, "(CPU)", b.name, "(CPU)", "ratio"]))
    for number in 0...count {
      let pair = (a: try a.run(), b: try b.run())
      if number > 0 { pairs.append(pair) }
      report(Self.line(number == 0 ? "warm-up" : "pair \(number)", pair))
    }
    let medians = (a: median(of: pairs.map(\.a)), b: median(of: pairs.map(\.b)))
    report(Self.line("median", medians, ratio: ratio.median))
    let cpu = Spread(of: pairs.map { $0.a.cpu.value / $0.b.cpu.value })
    for (name, spread) in [("wall", ratio), ("CPU", cpu)] {
      report(
        "  ratio of \(name) times: min \(Text.number(spread.minimum)), "
          + "median \(Text.number(spread.median)), max \(Text.number(spread.maximum))")
    }
  }

  /// The wall time of the first side over that of the second, pair by pair.
  var ratio: Spread { Spread(of: pairs.map { $0.a.wall.value / $0.b.wall.value }) }

  private func median(of usages: [ProcessUsage]) -> ProcessUsage {
    ProcessUsage(
      wall: Seconds(Spread(of: usages.map(\.wall.value)).median),
      cpu: Seconds(Spread(of: usages.map(\.cpu.value)).median),
      peakMemory: usages.map(\.peakMemory).max() ?? 0)
  }

  private static func line(
    _ title: String, _ pair: (a: ProcessUsage, b: ProcessUsage), ratio: Double? = nil
  ) -> String {
    Text.row([
      title, Text.seconds(pair.a.wall), Text.seconds(pair.a.cpu), Text.seconds(pair.b.wall),
      Text.seconds(pair.b.cpu), Text.number(ratio ?? pair.a.wall.value / pair.b.wall.value),
    ])
  }
}
