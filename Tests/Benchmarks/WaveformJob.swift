import Audio

/// `benchmarks waveform`: the waveform of an hour, beside ffmpeg's picture of it.
struct WaveformJob: Benchmark {
  private static let minutes = 60

  let workshop: Workshop
  let pairs: Int

  func run() throws(BenchmarkError) -> [Verdict] {
    let recording = try Material(workshop).wave(minutes: Self.minutes)
    report("Waveform: data and picture of an hour of stereo WAV")
    let runs = try PairedRuns(
      PairedRuns.Side(name: "spool") { () throws(BenchmarkError) in
        let store = try workshop.emptyFolder("store")
        let exports = try workshop.emptyFolder("spool")
        return try ChildProcess(
          workshop.spool,
          [
            "run", workshop.packageFile("Tests/Benchmarks/Pipelines/waveform.yaml"), recording,
            "--store", store, "--out", exports, "--json",
          ], outputPath: workshop.file("spool-waveform.log")
        ).wait()
      },
      PairedRuns.Side(name: "ffmpeg") { () throws(BenchmarkError) in
        let folder = try workshop.emptyFolder("ffmpeg")
        return try ChildProcess(
          workshop.ffmpeg,
          [
            "-nostdin", "-hide_banner", "-nostats", "-y", "-filter_complex_threads", "1", "-i",
            recording, "-filter_complex", "showwavespic=s=1800x400:split_channels=1", "-frames:v",
            "1", folder + "/waveform.png",
          ], outputPath: workshop.file("ffmpeg-waveform.log")
        ).wait()
      }, count: pairs)
    let times = Spread(of: runs.pairs.map(\.a.wall.value))
    return [
      .atMost(2, "waveform of an hour: median", times.median, unit: " s"),
      .atMost(1, "waveform of an hour: median ratio", runs.ratio.median),
    ]
  }
}
