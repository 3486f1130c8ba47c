import Audio
import Foundation

/// Integrated loudness and true peak, as ffmpeg's `ebur128` filter reports them at its end.
struct Levels {
  let integrated: LUFS
  let truePeak: Decibels

  /// Reads the log that a command with the filter wrote.
  init(ofLog path: String) throws(BenchmarkError) {
    let log = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    guard let summary = log.range(of: "Summary:", options: .backwards) else {
      throw BenchmarkError("ffmpeg reported no loudness", "see \(path)")
    }
    let lines = log[summary.upperBound...].split(separator: "\n")
    func value(_ name: String) -> Double? {
      let line = lines.first { $0.drop(while: \.isWhitespace).hasPrefix(name) }
      return line.flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }
        .flatMap { Double($0) }
    }
    guard let integrated = value("I:"), let peak = value("Peak:") else {
      throw BenchmarkError("ffmpeg's loudness cannot be read", "see \(path)")
    }
    self.integrated = LUFS(integrated)
    truePeak = Decibels(peak)
  }

  /// Measures a file.
  init(ofFile path: String, in workshop: Workshop) throws(BenchmarkError) {
    let log = workshop.file("levels.log")
    _ = try ChildProcess(
      workshop.ffmpeg,
      [
        "-nostdin", "-hide_banner", "-nostats", "-filter_threads", "1", "-i", path,
        "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-",
      ], outputPath: log
    ).wait()
    try self.init(ofLog: log)
  }
}
