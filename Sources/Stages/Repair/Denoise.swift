import Audio
import PipelineModel
import Platform
import SoundEngine

/// `denoise`: steady noise becomes quieter.
private struct DenoiseStage: DeclaredStage, AnalysedSoundStage {
  typealias Parameters = Denoiser.Settings

  static let descriptor = StageDescriptor.analysedFilter(
    "denoise", revision: 1,
    summary: "Turn steady noise down: hiss, fans, an air conditioner",
    discussion: """
      The noise is learnt from the quietest 0.4 s of the recording, digital silence aside. A \
      Wiener filter after Ephraim and Malah (IEEE ASSP-32, 1984) then turns every frequency down \
      where little but noise is heard. Noise that changes, as traffic and voices do, stays.
      """,
    parameters: [
      ParameterDescriptor(
        "reduction", .number(.decibels, 0...60), .defaulted("12 dB"),
        "how far noise is turned down at most; a little left sounds better than none"),
      ParameterDescriptor(
        "margin", .number(.decibels, -10...20), .defaulted("3 dB"),
        "how far above the learnt noise still counts as noise"),
    ],
    shorthand: "reduction", report: "the noise that was learnt, and where")

  private let settings: Denoiser.Settings

  init(_ parameters: Denoiser.Settings) { settings = parameters }

  /// The report; absent where there was no noise to learn.
  private struct Report: Codable {
    let noiseLevel: Decibels?
    let learntAt: Seconds?
    let level: Decibels?
  }

  func makeAnalysis(of format: AudioFormat, resuming: ListenerProgress?) -> any SoundAnalysis {
    MeteredAnalysis({ NoiseProfile.Meter(format: format) }, resuming: resuming) {
      (finding) throws(SpoolError) in
      try MeteredAnalysis.Decision(
        memo: finding.noise,
        findings: Report(
          noiseLevel: finding.noise?.level, learntAt: finding.noise?.start, level: finding.level),
        warnings: DenoiseStage.warnings(finding))
    }
  }

  /// What makes the result doubtful.
  private static func warnings(_ finding: NoiseProfile.Meter.Finding) -> [String] {
    guard let noise = finding.noise else {
      return ["there is no 0.4 s of noise to learn from, so the sound stays as it is"]
    }
    guard let level = finding.level, level.value - noise.level.value < 10 else { return [] }
    let seconds = (noise.start.value * 10).rounded() / 10
    return [
      "nowhere is it quiet: the quietest place, at \(seconds) s, may be more than noise, and what "
        + "is like it is turned down"
    ]
  }

  func makeProcessor(for format: AudioFormat, memo: String) throws(SpoolError) -> any Processor {
    guard let noise = try Findings.decode(NoiseProfile?.self, from: memo) else {
      return ProcessorChain([], format: format)
    }
    return Denoiser(settings, noise: noise, format: format)
  }
}

extension StageRegistration { static let denoise = StageRegistration(DenoiseStage.self) }
