import Audio
import Foundation

/// `benchmarks batch`: a folder of notes, against xargs over ffmpeg.
struct BatchJob: Benchmark {
  let workshop: Workshop
  let count: Int
  let pairs: Int

  func run() throws(BenchmarkError) -> [Verdict] {
    let notes = try Notes(workshop: workshop, count: count).folder()
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let ffmpeg = FFmpegNotes(workshop: workshop, notes: notes, coreCount: cores)
    let spool = PairedRuns.Side(name: "spool") { () throws(BenchmarkError) in
      try batch(
        notes, store: try workshop.emptyFolder("store"), into: try workshop.emptyFolder("spool"))
    }
    report("Batch: \(count) notes of 30 s to AAC at -16 LUFS, against one command a note")
    let one = try PairedRuns(
      spool,
      PairedRuns.Side(name: "ffmpeg") { () throws(BenchmarkError) in
        try ffmpeg.runOneCommand(into: try workshop.emptyFolder("ffmpeg"))
      }, count: pairs)
    report("Against two commands a note")
    let two = try PairedRuns(
      spool,
      PairedRuns.Side(name: "ffmpeg") { () throws(BenchmarkError) in
        try ffmpeg.runTwoCommands(into: try workshop.emptyFolder("ffmpeg"))
      }, count: max(1, pairs / 2))
    let again = try batch(notes, store: workshop.file("store"), into: workshop.file("spool"))
    report("  the same batch again: \(Text.number(again.wall.value, 3)) s")
    report("  peak memory: \(Text.megabytes(one.pairs.map(\.a.peakMemory).max() ?? 0))")
    return [
      .atMost(0.5, "batch: median ratio to one command a note", one.ratio.median),
      Verdict(
        subject: "batch: median ratio to two commands a note",
        figure: Text.number(two.ratio.median),
        target: "none", isMet: true),
    ] + (try results())
  }

  private func batch(
    _ notes: String, store: String, into folder: String
  ) throws(BenchmarkError) -> ProcessUsage {
    try ChildProcess(
      workshop.spool,
      [
        "batch", workshop.packageFile("Tests/Benchmarks/Pipelines/notes.yaml"), notes,
        "--store", store, "--out", folder, "--json",
      ], outputPath: workshop.file("spool.log")
    ).wait()
  }

  /// Whether both sides made every note, and one of them is what it should be.
  private func results() throws(BenchmarkError) -> [Verdict] {
    func made(_ folder: String) -> Int {
      ((try? FileManager.default.contentsOfDirectory(atPath: workshop.file(folder))) ?? [])
        .count { $0.hasSuffix(".m4a") }
    }
    let levels = try Levels(ofFile: workshop.file("spool/note-00001.m4a"), in: workshop)
    return [
      Verdict(
        subject: "batch: notes made by both sides", figure: "\(made("spool")), \(made("ffmpeg"))",
        target: "\(count) each", isMet: made("spool") == count && made("ffmpeg") == count),
      .atMost(
        0.3, "batch: a note's distance from -16 LUFS", abs(levels.integrated.value + 16),
        unit: " LU"),
    ]
  }
}
