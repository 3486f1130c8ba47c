import Audio
import Foundation
import TestSupport

/// `benchmarks plugins`: what plugins cost that do nothing, what a chain of LV2 plugins takes, and how
/// long it takes to find fifty of them.
struct PluginJob: Benchmark {
  private static let folders = 50
  private static let looks = 25

  let workshop: Workshop
  let minutes: Int
  let pairs: Int

  func run() throws(BenchmarkError) -> [Verdict] {
    let recording = try Material(workshop).programme(minutes: minutes)
    let plugins = try shelf()
    var verdicts: [Verdict] = []
    for (name, title) in [("process", "program"), ("native", "library")] {
      report("Plugins: a mastering pass of \(minutes) min with a \(title) that does nothing in it")
      let runs = try compare(name, recording, plugins)
      verdicts.append(.atMost(1.15, "plugins: median ratio with a \(title)", runs.ratio.median))
      let cost = Spread(of: runs.pairs.map { $0.a.cpu.value - $0.b.cpu.value }).median
      report(
        "  CPU time that the pipes cost: \(Text.number(cost)) s, "
          + "\(Text.number(Double(60 * minutes) / max(cost, 1e-3), 0)) × real time")
    }
    if FileManager.default.fileExists(atPath: "/usr/lib/lv2/mda.lv2") {
      report("Plugins: the same pass with three LV2 plugins in it")
      let runs = try compare("lv2", recording, plugins)
      let times = Spread(of: runs.pairs.map(\.a.wall.value))
      report("  \(Text.number(Double(60 * minutes) / times.median, 0)) × real time")
    } else {
      report("Plugins: no LV2 chain, for mda-lv2 is not installed")
    }
    return verdicts + [try discovery()]
  }

  /// The pass with a plugin, and the pass without it.
  private func compare(
    _ plugin: String, _ recording: String, _ plugins: String
  ) throws(BenchmarkError) -> PairedRuns {
    try PairedRuns(
      PairedRuns.Side(name: plugin) { () throws(BenchmarkError) in
        try pass(recording, plugins, ["--set", "\(plugin)=true"])
      },
      PairedRuns.Side(name: "without") { () throws(BenchmarkError) in
        try pass(recording, plugins, [])
      }, count: pairs)
  }

  private func pass(
    _ recording: String, _ plugins: String, _ options: [String]
  ) throws(BenchmarkError) -> ProcessUsage {
    let store = try workshop.emptyFolder("store")
    let exports = try workshop.emptyFolder("spool")
    return try ChildProcess(
      workshop.spool,
      [
        "run", workshop.packageFile("Tests/Benchmarks/Pipelines/plugins.yaml"), recording,
        "--plugins", plugins, "--store", store, "--out", exports, "--json",
      ] + options, outputPath: workshop.file("spool-plugins.log")
    ).wait()
  }

  /// A folder with the two plugins that do nothing, one of them built there.
  private func shelf() throws(BenchmarkError) -> String {
    let shelf = try workshop.emptyFolder("plugins")
    let sources = workshop.packageFile("Tests/Benchmarks/Pipelines/do-nothing")
    do {
      for name in ["nothing-process", "nothing-native"] {
        try FileManager.default.copyItem(atPath: "\(sources)/\(name)", toPath: "\(shelf)/\(name)")
      }
    } catch { throw BenchmarkError("cannot copy plugins to \(shelf)", "\(error)") }
    guard let compiler = Program(named: "cc"),
      let result = try? compiler.run([
        "-std=c11", "-O2", "-shared", "-fPIC", "-I", workshop.packageFile("Plugins/include"), "-o",
        "\(shelf)/nothing-native/nothing.so", "\(shelf)/nothing-native/nothing.c",
      ]), result.exitCode == 0
    else { throw BenchmarkError("cannot build nothing.c", "a C compiler is needed: cc") }
    return shelf
  }

  /// `spool stages` with fifty plugins, and with none.
  private func discovery() throws(BenchmarkError) -> Verdict {
    let (full, empty) = (try workshop.emptyFolder("fifty"), try workshop.emptyFolder("none"))
    let manifest = workshop.packageFile("Plugins/softclip-c/plugin.yaml")
    do {
      let text = try String(contentsOfFile: manifest, encoding: .utf8)
      for number in 1...Self.folders {
        let folder = "\(full)/plugin-\(number)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.replacing("plugin: softclip", with: "plugin: softclip-\(number)")
          .replacing("kind: softclip", with: "kind: softclip-\(number)")
          .write(toFile: "\(folder)/plugin.yaml", atomically: true, encoding: .utf8)
      }
    } catch { throw BenchmarkError("cannot write plugins to \(full)", "\(error)") }
    var times: (full: [Double], empty: [Double]) = ([], [])
    for _ in 0..<Self.looks {
      times.full.append(try look(full))
      times.empty.append(try look(empty))
    }
    let (slow, fast) = (Spread(of: times.full), Spread(of: times.empty))
    report("Plugins: finding \(Self.folders), \(Self.looks) times, in milliseconds")
    report(Text.row(["", "min", "median", "max"]))
    for (name, spread) in [("fifty", slow), ("none", fast)] {
      report(
        Text.row([
          name, Text.number(spread.minimum, 1), Text.number(spread.median, 1),
          Text.number(spread.maximum, 1),
        ]))
    }
    return .atMost(
      50, "plugins: finding \(Self.folders)", slow.median - fast.median, unit: " ms", decimals: 1)
  }

  private func look(_ folder: String) throws(BenchmarkError) -> Double {
    try ChildProcess(workshop.spool, ["stages", "--plugins", folder]).wait().wall.value * 1000
  }
}
