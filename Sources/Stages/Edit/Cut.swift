import Audio
import PipelineModel
import Platform
import SoundEngine

/// `cut`: takes stretches out of the recording.
private struct CutStage: DeclaredStage, TimeMovingStage {
  struct Parameters: Codable, Sendable {
    let remove: [Removal]
    let crossfade: Seconds
    let curve: FadeCurve
  }

  struct Removal: Codable, Sendable {
    let from: Seconds
    let to: Seconds?
  }

  static let descriptor = timeChange(
    "cut", revision: 1,
    summary: "Take stretches out, and join what is left with short crossfades",
    discussion: """
      The crossfade takes its sound from what is kept, so that nothing of what was taken out is \
      heard; each joint makes the sound shorter by its length. Stretches may be in any order; \
      those that overlap or touch become one. What is kept between two joints must be twice as \
      long as the crossfade, or it is an error. A stretch that reaches beyond the end takes \
      everything to the end; one that begins there is an error where the length is known \
      beforehand, and otherwise, behind silence for instance, takes nothing, with a warning.
      """,
    parameters: [
      ParameterDescriptor(
        "remove",
        .list(
          of: .group([
            ParameterDescriptor(
              "from", .number(.seconds, 0...360_000), .required, "where it begins"),
            ParameterDescriptor(
              "to", .number(.seconds, 0...360_000), .optional,
              "where it ends; left out, at the end of the sound"),
          ]), count: 1...10_000),
        .required, "the stretches to take out"),
      ParameterDescriptor(
        "crossfade", .number(.milliseconds, 0...10_000), .defaulted("10 ms"),
        "how long what ends and what begins sound together"),
      ParameterDescriptor(
        "curve",
        .choice([FadeCurve.linear, .sCurve, .equalPower].map(\.rawValue)),
        .defaulted("equal-power"), "how one goes over into the other"),
    ],
    shorthand: "remove")

  private let cuts: CutList
  private let crossfade: Seconds
  private let curve: FadeCurve

  init(_ parameters: Parameters) throws(SpoolError) {
    crossfade = parameters.crossfade
    curve = parameters.curve
    cuts = try CutList(parameters.remove.map { ($0.from, $0.to) })
    // At a rate at which rounding to frames means nothing.
    _ = try cuts.kept(crossfade: crossfade, at: Hertz(1_000_000), frames: nil)
  }

  func makeProcessor(for format: AudioFormat) throws(SpoolError) -> any Processor {
    let rate = format.sampleRate
    return Splice(
      keeping: try cuts.kept(crossfade: crossfade, at: rate, frames: nil),
      crossfade: crossfade.frames(at: rate), curve: curve, format: format)
  }

  func warnings(of report: any Sendable) -> [String] {
    guard let timeline = report as? Timeline else { return [] }
    return cuts.cuts.filter { $0.from >= timeline.before }.map {
      "nothing was taken out at \($0.from.words): the sound ends at \(timeline.before.words)"
    }
  }

  func outline(after stream: SoundOutline) throws(SpoolError) -> SoundOutline {
    let rate = stream.format.sampleRate
    let overlap = crossfade.frames(at: rate).count
    let certain = stream.certainFrames
    // Where the length is certain, what does not fit it is refused before anything is done.
    _ = try cuts.kept(crossfade: crossfade, at: rate, frames: certain)
    let pieces = try cuts.kept(crossfade: crossfade, at: rate, frames: nil)
    return stream.changed { frames in
      let left = pieces.filter { $0.lowerBound < frames.count }
      let kept = left.reduce(0) { $0 + min($1.upperBound, frames.count) - $1.lowerBound }
      return Frames(max(0, kept - max(0, left.count - 1) * overlap))
    }
  }
}

extension StageRegistration { static let cut = StageRegistration(CutStage.self) }

/// Stretches that are to be taken out, in order and apart from each other.
struct CutList {
  /// A stretch, in seconds.
  struct Cut: Hashable {
    let from: Seconds
    /// Infinite for one that reaches to the end.
    var to: Seconds
  }

  let cuts: [Cut]

  /// Sorts stretches, and makes one of those that overlap or touch. One without an end reaches to
  /// the end of the sound.
  init(_ stretches: [(from: Seconds, to: Seconds?)]) throws(SpoolError) {
    var cuts: [Cut] = []
    for (from, to) in stretches.sorted(by: { $0.from < $1.from }) {
      let to = to ?? Seconds(.infinity)
      guard from < to else {
        throw SpoolError(
          "cut cannot take out what ends at \(to.words) and begins at \(from.words)",
          advice: "a \"to\" after \"from\"")
      }
      if let last = cuts.last, from <= last.to {
        cuts[cuts.count - 1].to = max(last.to, to)
      } else {
        cuts.append(Cut(from: from, to: to))
      }
    }
    self.cuts = cuts
  }

  /// What is left between them, in frames; the last stretch is open-ended.
  /// - Parameters:
  ///   - crossfade: how much of two neighbours overlaps.
  ///   - frames: the length of the sound, where it is known.
  func kept(
    crossfade: Seconds, at rate: Hertz, frames: Frames?
  ) throws(SpoolError) -> [Range<Int>] {
    let overlap = crossfade.frames(at: rate).count
    let length = frames?.count ?? Int.max
    var pieces: [Range<Int>] = []
    var start = 0
    for cut in cuts {
      let from = cut.from.frames(at: rate).count
      guard from < length else {
        throw SpoolError(
          "cut begins at \(cut.from.words), beyond the end of the sound",
          reason: "it ends at \(Frames(length).duration(at: rate).words)",
          advice: "choose times within the recording")
      }
      if from > start { pieces.append(start..<from) }
      start = cut.to.value.isFinite ? max(cut.to.frames(at: rate).count, from) : Int.max
    }
    if start < length { pieces.append(start..<length) }
    guard !pieces.isEmpty else {
      throw SpoolError(
        "cut takes out everything", reason: "nothing lies before, between or behind its stretches",
        advice: "leave a part of the sound")
    }
    for (index, piece) in pieces.enumerated() where pieces.count > 1 {
      let joints = index == 0 || index == pieces.count - 1 ? 1 : 2
      guard piece.count < joints * overlap else { continue }
      let left = Frames(piece.count).duration(at: rate)
      throw SpoolError(
        "cut has no room for crossfades of \(crossfade.words)",
        reason: "it leaves \(left.words) at \(Frames(piece.lowerBound).duration(at: rate).words)",
        advice: "a shorter crossfade, or one cut in place of two")
    }
    return pieces
  }
}
