import AudioModel
import DSP
import PipelineModel

/// Decides on the gain of an album from what surveys found: first how loud all of it is, and, where
/// the ceiling is passed, how loud it becomes behind the limiter.
struct AlbumGain {
  /// The loudness that the album is to have.
  let wanted: LUFS
  /// The ceiling of the limiter.
  let ceiling: Decibels

  /// What comes next. A survey without parameters hears the recordings as they are.
  func move(after rounds: [AlbumRound]) throws(StageError) -> AlbumMove {
    guard let first = rounds.first else { return .survey([:]) }
    let recordings = try surveys(first)
    guard let loudness = LoudnessHistory.integrated(recordings.map(\.history)) else {
      return .settle([:])
    }
    let unlimited = Self.rounded(wanted.value - loudness.value)
    let peak = recordings.compactMap { $0.truePeak?.value }.max() ?? -.infinity
    guard peak + unlimited.value > ceiling.value else { return settle(unlimited) }
    var steps = LoudnessSteps(wanted: wanted, unlimited: unlimited)
    for round in rounds.dropFirst() where !steps.isSettled {
      let reached = LoudnessHistory.integrated(try surveys(round).map(\.history))
      guard let reached else { return settle(steps.gain) }
      steps.take(reached)
    }
    if steps.isSettled { return settle(steps.gain) }
    return .survey(["gain": Self.rounded(steps.gain.value).value, "ceiling": ceiling.value])
  }

  private func surveys(_ round: AlbumRound) throws(StageError) -> [LoudnessSurvey] {
    var surveys: [LoudnessSurvey] = []
    for text in round.findings {
      surveys.append(try Findings.decode(LoudnessSurvey.self, from: text))
    }
    return surveys
  }

  private func settle(_ gain: Decibels) -> AlbumMove {
    .settle(["album-gain": Self.rounded(gain.value).value])
  }

  /// A gain that can be read and typed: in thousandths of a decibel.
  private static func rounded(_ gain: Double) -> Decibels {
    Decibels((gain * 1000).rounded() / 1000)
  }
}
