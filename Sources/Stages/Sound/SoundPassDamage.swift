import AudioModel
import PipelineModel

/// A part of a listener's work that an earlier process had noted, and that is not what was written.
struct SoundPassDamage: Hashable {
  /// The step whose it is.
  let step: StepID
  /// What it is, in words.
  let part: String
  /// Where it goes on, in seconds of the recording.
  let goesOnAt: Double
  /// How much of what there was of it is made again: 1 for all.
  let share: Double

  init(_ step: StepID, _ part: String, goesOnAt: Double, share: Double) {
    self.step = step
    self.part = part
    self.goesOnAt = goesOnAt
    self.share = share
  }

  /// What a listener does not go on from although it was noted: it needs sound again that it had.
  static func found(
    in end: SoundTap.End, of step: StepID, noted: PassNote.Standing, rate: Hertz
  ) -> [SoundPassDamage] {
    guard let listener = end.listener else { return [] }
    var parts = listener.damagedParts
    // One that was done, and whose artifacts the store has lost, had needed nothing more.
    let had = noted.result == nil ? noted.needsFrom : .max
    if parts.isEmpty, listener.firstFrame.count < had {
      parts[name(of: end)] = listener.firstFrame
    }
    return parts.sorted { $0.key < $1.key }.map { part, frame in
      let share = had > 0 ? 1 - min(1, Double(frame.count) / Double(had)) : 1
      return SoundPassDamage(
        step, part, goesOnAt: frame.duration(at: rate).value, share: share)
    }
  }

  private static func name(of end: SoundTap.End) -> String {
    switch end {
    case .sink(let sink) where sink is KeptSoundWriter: "kept sound"
    case .analysis: "measurement"
    case .sink, .finished: "unfinished work"
    }
  }
}
