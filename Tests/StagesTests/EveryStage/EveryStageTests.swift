import Audio
import PipelineModel
import Platform
@testable import Stages
import TestSupport
import Testing

/// Every built-in stage that sound flows through, over formats and sounds at the ends of what there
/// is. A new kind is tried as soon as it is in the catalogue.
///
/// Each gives finite sound or sound files, or says in an error why it cannot, and both alike
/// however the sound is cut into blocks and wherever another process takes over.
@Suite struct EveryStageTests {
  private static let kinds = StageCatalog.builtIn.descriptors
    .filter { if case .streaming = $0.flow { true } else { false } }.map(\.kind)

  private static let formats: [AudioFormat] = [
    (8000.0, 1), (22_050, 3), (48_000, 2), (384_000, 2), (44_100, 8), (8000, 64), (384_000, 64),
  ].map { AudioFormat(sampleRate: Hertz($0.0), channelCount: $0.1) }

  private static let damage: [Float] = [
    .nan, .infinity, -.infinity, .signalingNaN, .leastNonzeroMagnitude, -0.0, 1e-38 / 7,
    .greatestFiniteMagnitude, -1e30, 0.5,
  ]

  /// Sounds that are hard on a stage. The more channels, the shorter.
  private static func sounds(_ format: AudioFormat) -> [(name: String, sound: TestSound)] {
    let frames = format.channelCount > 3 ? 3001 : 9001
    return [
      ("babble", .babble(format, frames: frames)),
      ("full-scale square", .square(half: 37, format, frames: frames)),
      ("silence", .silence(format, frames: frames)),
      ("direct current", .constant(0.7, format, frames: frames)),
      ("subnormal noise", .noise(amplitude: 1e-38 / 7, format, frames: frames)),
      (
        "damage",
        TestSound(format, frames: frames) { damage[($0 * 3 + $1 / 5) % damage.count] }
      ),
      (
        "far too loud", TestSound.noise(amplitude: 1e12, format, frames: frames)
      ),
      ("one frame", .constant(0.5, format, frames: 1)),
      ("nothing", .silence(format, frames: 0)),
    ]
  }

  /// Sounds in which a seam would show.
  private static let withSeams: Set<String> = [
    "babble", "full-scale square", "damage", "far too loud",
  ]

  @Test(arguments: kinds, formats)
  func `finite sound, or one clear error`(kind: String, format: AudioFormat) throws {
    for settings in StageSettings.all(of: kind) {
      let trial = try StageTrial(kind, settings)
      for (name, sound) in Self.sounds(format) {
        let outcome = try trial.outcome(of: sound)
        let title = "\(kind) \(settings), \(name)"
        if let refusal = outcome.refusal {
          #expect(!refusal.message.isEmpty && refusal.cause == .input, "\(title): \(refusal)")
          #expect(refusal.reason != nil || refusal.advice != nil, "\(title): \(refusal)")
        } else if kind != "decode" {
          // What is decoded is kept as it came.
          #expect(outcome.sound?.isFinite ?? true, "\(title): not finite")
        }
        #expect(
          outcome.texts.allSatisfy { !$0.contains("nan") && !$0.contains("inf,") },
          "\(title): \(outcome.texts)")
      }
    }
  }

  @Test(arguments: kinds, [formats[1], formats[2], formats[5]])
  func `the same however the sound is cut, and wherever another process takes over`(
    kind: String, format: AudioFormat
  ) throws {
    for settings in StageSettings.all(of: kind) {
      let trial = try StageTrial(kind, settings)
      for (name, sound) in Self.sounds(format) where Self.withSeams.contains(name) {
        let whole = try trial.outcome(of: sound)
        for cut in [
          StageTrial.Cut(blocks: [1, 0, 63, 64, 1, 65, 1023, 700]),
          StageTrial.Cut(blocks: [997], handover: 1300),
          StageTrial.Cut(blocks: [64], handover: 0),
        ] {
          let result = try trial.outcome(of: sound, cut)
          if let difference = result.firstDifference(from: whole) {
            Issue.record("\(kind) \(settings), \(name), \(cut): \(difference)")
          }
        }
      }
    }
  }
}
