import Audio
import Foundation

/// `benchmarks reuse`: how long the whole job takes when it was done before.
struct Reuse: Benchmark {
  private static let count = 5

  let workshop: Workshop
  let minutes: Int

  func run() throws(BenchmarkError) -> [Verdict] {
    let recording = try Material(workshop).programme(minutes: minutes)
    let spool = SpoolMastering(workshop: workshop, recording: recording)
    let store = try workshop.emptyFolder("store")
    let exports = try workshop.emptyFolder("spool")
    let first = try spool.run(store: store, into: exports)
    var again: [Double] = []
    var isReused = true
    for _ in 0..<Self.count {
      again.append(try spool.run(store: store, into: exports).wall.value)
      let log = (try? String(contentsOfFile: spool.log, encoding: .utf8)) ?? ""
      isReused = isReused && log.contains(#""event":"reused""#) && !log.contains(#""event":"pass""#)
    }
    let spread = Spread(of: again)
    report(
      "Reuse: \(minutes) min, first \(Text.seconds(first.wall)), then \(Self.count) times again")
    report(
      "  min \(Text.number(spread.minimum, 3)), median \(Text.number(spread.median, 3)), "
        + "max \(Text.number(spread.maximum, 3)) s")
    return [
      .atMost(0.3, "reuse: median", spread.median, unit: " s", decimals: 3),
      Verdict(
        subject: "reuse: passes over the sound", figure: isReused ? "none" : "some",
        target: "none", isMet: isReused),
    ]
  }
}
