import Audio

/// `benchmarks startup`: how long `spool --version` takes, beside a program that does nothing.
struct Startup: Benchmark {
  private static let count = 50

  let workshop: Workshop

  func run() throws(BenchmarkError) -> [Verdict] {
    var ours: [Double] = []
    var nothing: [Double] = []
    for _ in 0..<Self.count {
      ours.append(try ChildProcess(workshop.spool, ["--version"]).wait().wall.value * 1000)
      nothing.append(try ChildProcess("/bin/true", []).wait().wall.value * 1000)
    }
    let (spread, floor) = (Spread(of: ours), Spread(of: nothing))
    report("Start-up: \(Self.count) times, in milliseconds")
    report(Text.row(["", "min", "median", "max"]))
    for (name, spread) in [("spool", spread), ("true", floor)] {
      report(
        Text.row([
          name, Text.number(spread.minimum, 1), Text.number(spread.median, 1),
          Text.number(spread.maximum, 1),
        ]))
    }
    return [.atMost(20, "start-up: median", spread.median, unit: " ms", decimals: 1)]
  }
}
