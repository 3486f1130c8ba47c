package import Audio
import Foundation

extension TestSound {
  /// The true peak as sox sees it: the greatest sample after resampling to 8 times the rate with
  /// its best filter; nil where sox is not installed.
  package func truePeakBySox() throws -> Decibels? {
    guard let sox = Program(named: "sox") else { return nil }
    let scratch = try ScratchFolder()
    // Room above full scale, which sox would clip at; and silence around, for its filter to ring.
    let padded = map { $0 / 4 }.surroundedBySilence(2000)
    try padded.writeWAV(to: scratch.file("in.wav"))
    let rate = Int(format.sampleRate.value) * 8
    let result = try sox.run([
      scratch.file("in.wav"), "-t", "raw", "-e", "floating-point", "-b", "32", "-",
      "rate", "-v", "\(rate)",
    ])
    let oversampled = TestSound(
      rawFloats: result.output, sampleRate: Hertz(Double(rate)), channelCount: format.channelCount)
    return Decibels(oversampled.peak.value + 20 * log10(4))
  }

  /// What ffmpeg's `ebur128` filter says of the sound; nil where ffmpeg is not installed.
  package func loudnessByFFmpeg() throws -> FFmpegLoudness? {
    guard let ffmpeg = Program(named: "ffmpeg") else { return nil }
    let scratch = try ScratchFolder()
    try writeWAV(to: scratch.file("in.wav"))
    let result = try ffmpeg.run([
      "-hide_banner", "-nostats", "-i", scratch.file("in.wav"),
      "-af", "ebur128=peak=true+sample", "-f", "null", "-",
    ])
    let summary = result.errorOutput.components(separatedBy: "Summary:").last ?? ""
    func figure(_ label: String, after heading: String) -> Double? {
      let section = summary.components(separatedBy: heading).last ?? ""
      let line = section.components(separatedBy: label).dropFirst().first ?? ""
      return line.split(separator: " ").first.flatMap { Double($0) }
    }
    return FFmpegLoudness(
      integrated: figure("I:", after: "Integrated loudness:"),
      range: figure("LRA:", after: "Loudness range:"),
      samplePeak: figure("Peak:", after: "Sample peak:"),
      truePeak: figure("Peak:", after: "True peak:"))
  }
}

/// The summary that ffmpeg's `ebur128` filter prints, with one decimal.
package struct FFmpegLoudness: Sendable {
  /// The integrated loudness in LUFS.
  package let integrated: Double?
  /// The loudness range in LU.
  package let range: Double?
  /// The sample peak in dBFS.
  package let samplePeak: Double?
  /// The true peak in dBTP.
  package let truePeak: Double?
}
