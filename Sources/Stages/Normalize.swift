import AudioModel
import DSP
import PipelineEngine
import PipelineModel

/// `normalize`: to a loudness with a true-peak ceiling, or to a peak.
struct NormalizeStage: AnalysedSoundStage {
  struct Parameters: Codable, Sendable {
    let loudness: LUFS?
    let peak: Decibels?
    let truePeak: Decibels
  }

  static let descriptor = StageDescriptor(
    kind: "normalize", revision: 1,
    summary: "Bring the whole recording to a loudness or a peak level",
    discussion: """
      With `loudness`, the integrated loudness after EBU R 128 is measured over the whole \
      recording, and one gain brings it to the target. Where that would lift true peaks above \
      `true-peak`, they are limited, and the gain is corrected for what the limiter takes. With \
      `peak`, one gain brings the highest sample to the target. Silence is left as it is.
      """,
    flow: .streaming(.sound, .analysedFilter),
    inputs: [Port(.sound, .sound, "the sound to normalize")],
    outputs: [
      Port(.sound, .sound, "the normalized sound"),
      Port(.measurement, .measurement, "levels before and after, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "loudness", .number(.lufs, -70...(-5)), .optional,
        "the integrated loudness to reach: -16 LUFS for podcasts, -23 LUFS for broadcast"),
      ParameterDescriptor(
        "peak", .number(.decibels, -60...0), .optional,
        "the sample peak to reach, in place of a loudness"),
      ParameterDescriptor(
        "true-peak", .number(.decibelsTruePeak, -20...0), .defaulted("-1 dBTP"),
        "the ceiling that no true peak may pass"),
    ],
    shorthand: "loudness")

  static var libraries: [String: String] { ["libebur128": LoudnessLibrary.version] }

  private let target: NormalizeTarget

  init(_ parameters: Parameters) throws(StageError) {
    switch (parameters.loudness, parameters.peak) {
    case (let loudness?, nil):
      target = .loudness(loudness, ceiling: parameters.truePeak)
    case (nil, let peak?): target = .peak(peak)
    default:
      throw StageError(
        "normalize needs either loudness or peak", advice: "loudness: -16 LUFS, or peak: -1 dB")
    }
  }

  func makeAnalysis(of format: AudioFormat) -> any SoundAnalysis {
    NormalizeAnalysis(target, format: format)
  }

  func makeProcessor(
    for format: AudioFormat, memo: String
  ) throws(StageError) -> any Processor {
    let decision = try Findings.decode(NormalizeDecision.self, from: memo)
    return decision.makeProcessor(for: format)
  }
}

/// What to reach.
enum NormalizeTarget: Sendable {
  case loudness(LUFS, ceiling: Decibels)
  case peak(Decibels)
}

/// What the stage will do, once it has heard everything.
struct NormalizeDecision: Codable, Sendable {
  var gain: Decibels
  /// The ceiling that a limiter keeps; nil where no peak can reach it.
  var ceiling: Decibels?

  func makeProcessor(for format: AudioFormat) -> any Processor {
    var processors: [any Processor] = [Gain(gain, format: format)]
    if let ceiling {
      processors.append(Limiter(Limiter.Settings(ceiling: ceiling), format: format))
    }
    return ProcessorChain(processors, format: format)
  }
}

/// Levels before and after.
struct NormalizeFindings: Codable, Sendable {
  let before: NormalizeLevels
  let after: NormalizeLevels
  let gain: Decibels
  let isLimited: Bool
}

/// What the decision rests on; an absent figure is that of silence.
struct NormalizeLevels: Codable, Sendable {
  private(set) var integratedLoudness: LUFS?
  private(set) var truePeak: Decibels?
  private(set) var samplePeak: Decibels?

  init(_ loudness: Loudness) {
    integratedLoudness = loudness.integrated
    truePeak = loudness.peaks.truePeak
    samplePeak = loudness.peaks.samplePeak
  }

  /// The levels behind a gain.
  func amplified(by gain: Decibels) -> NormalizeLevels {
    var result = self
    result.integratedLoudness?.value += gain.value
    result.truePeak?.value += gain.value
    result.samplePeak?.value += gain.value
    return result
  }
}

/// Measures the stream, and settles the gain.
private final class NormalizeAnalysis: SoundAnalysis {
  /// How far from the target the result may end, in LU.
  private static let tolerance = 0.03
  private static let maximumTrials = 4

  private let target: NormalizeTarget
  private let format: AudioFormat
  private let meter: LoudnessMeter

  init(_ target: NormalizeTarget, format: AudioFormat) {
    self.target = target
    self.format = format
    meter = LoudnessMeter(format: format)
  }

  func hear(_ block: SharedBuffer) { meter.analyse(block.buffer) }

  func conclude(
    _ sound: KeptSound, store: any ArtifactStore, check: () throws(StageError) -> Void
  ) throws(StageError) -> PassOutcome.Result {
    let before = NormalizeLevels(meter.finding())
    var decision = decide(before)
    var after = before.amplified(by: decision.gain)
    if decision.ceiling != nil, case .loudness(let wanted, _) = target {
      // The limiter takes some loudness away; a trial run over the kept sound tells how much.
      for _ in 0..<NormalizeAnalysis.maximumTrials {
        after = try trial(decision, sound, check)
        guard let reached = after.integratedLoudness else { break }
        let missing = wanted.value - reached.value
        if abs(missing) <= NormalizeAnalysis.tolerance { break }
        decision.gain = Decibels(decision.gain.value + missing)
      }
    }
    let findings = NormalizeFindings(
      before: before, after: after, gain: decision.gain, isLimited: decision.ceiling != nil)
    var result = PassOutcome.Result()
    do {
      result.memo = try Findings.json(decision)
      result.artifacts[.measurement] = try store.keep(
        try Findings.json(findings), as: .measurement)
    } catch let error as StoreError {
      throw StageError(error)
    } catch {
      throw StageError("cannot write down the levels", reason: "\(error)")
    }
    return result
  }

  private func decide(_ before: NormalizeLevels) -> NormalizeDecision {
    switch target {
    case .peak(let peak):
      guard let highest = before.samplePeak else { return NormalizeDecision(gain: Decibels(0)) }
      return NormalizeDecision(gain: Decibels(peak.value - highest.value))
    case .loudness(let wanted, let ceiling):
      guard let loudness = before.integratedLoudness else { return NormalizeDecision(gain: Decibels(0)) }
      let gain = Decibels(wanted.value - loudness.value)
      let truePeak = (before.truePeak?.value ?? -.infinity) + gain.value
      return NormalizeDecision(gain: gain, ceiling: truePeak > ceiling.value ? ceiling : nil)
    }
  }

  /// Measures what a decision would give, without keeping it.
  private func trial(
    _ decision: NormalizeDecision, _ sound: KeptSound, _ check: () throws(StageError) -> Void
  ) throws(StageError) -> NormalizeLevels {
    let source = try sound.open()
    let processor = decision.makeProcessor(for: format)
    let meter = LoudnessMeter(format: format)
    let length = Frames(16384)
    var input = AudioBuffer(channelCount: format.channelCount, capacity: length)
    var output = AudioBuffer(
      channelCount: format.channelCount, capacity: length + processor.latency)
    while try source.read(into: &input) {
      try check()
      processor.process(input, into: &output)
      meter.analyse(output)
    }
    processor.finish(into: &output)
    meter.analyse(output)
    return NormalizeLevels(meter.finding())
  }
}
