/// The mix of `Pipelines/mixdown.yaml` as one ffmpeg command: for each track a matrix that holds
/// fader and pan, a delay, and one `amix` over all of them.
struct FFmpegMix {
  /// Volume and pan of each track; each begins 100 ms after the one before.
  static let tracks: [(volume: Double, pan: Double)] = (0..<24).map { index in
    let aside = Double(max(9 - index / 2, 0)) / 10
    return (volume: Double(10 + index % 12) / 100, pan: index % 2 == 0 ? -aside : aside)
  }

  let workshop: Workshop
  let recordings: [String]

  /// Runs the command; the mix is in `folder` afterwards.
  func run(into folder: String) throws(BenchmarkError) -> ProcessUsage {
    try ChildProcess(
      workshop.ffmpeg,
      ["-nostdin", "-hide_banner", "-nostats", "-y", "-filter_complex_threads", "1"]
        + recordings.flatMap { ["-i", $0] }
        + ["-filter_complex", graph, "-c:a", "pcm_f32le", folder + "/mix.wav"],
      outputPath: workshop.file("ffmpeg-mix.log")
    ).wait()
  }

  private var graph: String {
    var chains: [String] = []
    for (index, track) in Self.tracks.enumerated() {
      let (left, right) = gains(track.pan, isMono: index % 2 == 0)
      let (a, b) = (Text.number(track.volume * left, 6), Text.number(track.volume * right, 6))
      let other = index % 2 == 0 ? "c0" : "c1"
      chains.append(
        // In floats, as ours: else the matrix rounds to the 16 bits of the recordings.
        "[\(index)]aformat=fltp,pan=stereo|c0=\(a)*c0|c1=\(b)*\(other),adelay=\(100 * index):all=1[t\(index)]"
      )
    }
    let inputs = Self.tracks.indices.map { "[t\($0)]" }.joined()
    return chains.joined(separator: ";") + ";\(inputs)amix=inputs=\(Self.tracks.count)"
      + ":normalize=0:duration=longest"
  }

  /// Mono is panned linearly, stereo balanced.
  private func gains(_ pan: Double, isMono: Bool) -> (Double, Double) {
    isMono ? ((1 - pan) / 2, (1 + pan) / 2) : (min(1, 1 - pan), min(1, 1 + pan))
  }
}
