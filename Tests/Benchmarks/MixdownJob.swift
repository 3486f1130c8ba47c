import Audio
import Foundation

/// `benchmarks mixdown`: two dozen tracks to one, against ffmpeg's `amix`.
struct MixdownJob: Benchmark {
  let workshop: Workshop
  let minutes: Int
  let pairs: Int

  func run() throws(BenchmarkError) -> [Verdict] {
    let tracks = try Material(workshop).tracks(count: FFmpegMix.tracks.count, minutes: minutes)
    let ffmpeg = FFmpegMix(workshop: workshop, recordings: tracks)
    report("Mixdown: \(tracks.count) tracks of \(minutes) min to one WAV")
    let runs = try PairedRuns(
      PairedRuns.Side(name: "spool") { () throws(BenchmarkError) in
        let store = try workshop.emptyFolder("store")
        let exports = try workshop.emptyFolder("spool")
        return try ChildProcess(
          workshop.spool,
          ["run", workshop.packageFile("Tests/Benchmarks/Pipelines/mixdown.yaml")] + tracks
            + ["--store", store, "--out", exports, "--json"],
          outputPath: workshop.file("spool-mix.log")
        ).wait()
      },
      PairedRuns.Side(name: "ffmpeg") { () throws(BenchmarkError) in
        try ffmpeg.run(into: try workshop.emptyFolder("ffmpeg"))
      }, count: pairs)
    let memory = runs.pairs.map(\.a.peakMemory).max() ?? 0
    let theirMemory = runs.pairs.map(\.b.peakMemory).max() ?? 0
    report("  memory: \(Text.megabytes(memory)), ffmpeg \(Text.megabytes(theirMemory))")
    return [
      .atMost(0.5, "mixdown: median ratio", runs.ratio.median),
      .atMost(
        100, "mixdown: memory", Double(memory) / 1e6, unit: " MB", decimals: 1),
      .atMost(-120, "mixdown: distance from ffmpeg's mix", try distance(), unit: " dBFS"),
    ]
  }

  /// The peak of the difference of both mixes, which only rounding may make.
  private func distance() throws(BenchmarkError) -> Double {
    let log = workshop.file("mix-difference.log")
    _ = try ChildProcess(
      workshop.ffmpeg,
      [
        "-nostdin", "-hide_banner", "-nostats", "-i", workshop.file("spool/mix.wav"), "-i",
        workshop.file("ffmpeg/mix.wav"), "-filter_complex",
        "[1]volume=-1:precision=float[n];[0][n]amix=normalize=0,astats=measure_perchannel=none",
        "-f", "null", "-",
      ], outputPath: log
    ).wait()
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    let words = text.components(separatedBy: "Peak level dB:").dropFirst().first ?? ""
    guard let word = words.split(whereSeparator: \.isWhitespace).first else {
      throw BenchmarkError("the mixes cannot be compared", "see \(log)")
    }
    return word == "-inf" ? -200 : Double(word) ?? 0
  }
}
