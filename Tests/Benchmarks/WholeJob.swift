import Audio
import Foundation

/// `benchmarks whole-job`: from an AAC recording to three mastered files, against ffmpeg.
struct WholeJob: Benchmark {
  let workshop: Workshop
  let minutes: Int
  let pairs: Int

  func run() throws(BenchmarkError) -> [Verdict] {
    let recording = try Material(workshop).programme(minutes: minutes)
    let spool = SpoolMastering(workshop: workshop, recording: recording)
    let ffmpeg = FFmpegMastering(workshop: workshop, recording: recording)
    report("Whole job: \(minutes) min of stereo AAC to WAV 24, AAC 128k and ALAC at -16 LUFS")
    var times: ThreadTimes?
    let runs = try PairedRuns(
      PairedRuns.Side(name: "spool") { () throws(BenchmarkError) in
        let store = try workshop.emptyFolder("store")
        let exports = try workshop.emptyFolder("spool")
        // Only the warm-up is watched, which costs a little.
        return try spool.run(
          store: store, into: exports, watching: times == nil ? { times = $0 } : nil)
      },
      PairedRuns.Side(name: "ffmpeg") { () throws(BenchmarkError) in
        try ffmpeg.run(into: try workshop.emptyFolder("ffmpeg"))
      }, count: pairs)
    if let times {
      let parts = times.byName.filter { $0.time.value >= 0.05 }
        .map { "\($0.name) \(Text.seconds($0.time))" }
      report("  spool's threads in the warm-up: \(parts.joined(separator: ", "))")
    }
    return [.atMost(0.45, "whole job: median ratio", runs.ratio.median)] + (try results())
  }

  /// Whether the files that were made so fast are what they should be.
  private func results() throws(BenchmarkError) -> [Verdict] {
    let ours = try Levels(ofFile: workshop.file("spool/programme.wav"), in: workshop)
    let theirs = try Levels(ofFile: workshop.file("ffmpeg/programme.wav"), in: workshop)
    for (name, levels) in [("spool", ours), ("ffmpeg", theirs)] {
      report(
        "  \(name)'s WAV: \(Text.number(levels.integrated.value, 1)) LUFS, "
          + "\(Text.number(levels.truePeak.value, 1)) dBTP")
    }
    return [
      .atMost(
        0.1, "whole job: distance from -16 LUFS", abs(ours.integrated.value + 16), unit: " LU"),
      .atMost(-0.9, "whole job: true peak", ours.truePeak.value, unit: " dBTP"),
    ]
  }
}
