import PipelineModel
import Platform
@testable import Stages
import TestSupport

/// What a stage made of a sound, with all that two tries of the same must have in common.
struct StageOutcome {
  /// Why it made nothing.
  var refusal: SpoolError?
  /// What came out, of a stage that gives sound.
  var sound: TestSound?
  /// The bytes that it kept, by port.
  var files: [PortName: Digest] = [:]
  /// What it wrote down, and how it decided.
  var texts: [String] = []

  /// Where it differs from another outcome, in words; nil where it does not.
  func firstDifference(from other: StageOutcome) -> String? {
    guard refusal == other.refusal else {
      return "\(Self.words(refusal)) is not \(Self.words(other.refusal))"
    }
    guard texts == other.texts else { return "\(texts) is not \(other.texts)" }
    guard files == other.files else { return "other bytes at \(files.keys.map(\.name))" }
    switch (sound, other.sound) {
    case (nil, nil): return nil
    case (let mine?, let others?): return mine.firstDifference(from: others)
    default: return "one has sound, and one has none"
    }
  }

  private static func words(_ refusal: SpoolError?) -> String {
    refusal.map { "\"\($0.message)\"" } ?? "success"
  }
}
