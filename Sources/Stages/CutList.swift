import AudioModel
import PipelineModel

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
  init(_ stretches: [(from: Seconds, to: Seconds?)]) throws(StageError) {
    var cuts: [Cut] = []
    for (from, to) in stretches.sorted(by: { $0.from < $1.from }) {
      let to = to ?? Seconds(.infinity)
      guard from < to else {
        throw StageError(
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
  ) throws(StageError) -> [Range<Int>] {
    let overlap = crossfade.frames(at: rate).count
    let length = frames?.count ?? Int.max
    var pieces: [Range<Int>] = []
    var start = 0
    for cut in cuts {
      let from = cut.from.frames(at: rate).count
      guard from < length else {
        throw StageError(
          "cut begins at \(cut.from.words), beyond the end of the sound",
          reason: "it ends at \(Frames(length).duration(at: rate).words)",
          advice: "choose times within the recording")
      }
      if from > start { pieces.append(start..<from) }
      start = cut.to.value.isFinite ? max(cut.to.frames(at: rate).count, from) : Int.max
    }
    if start < length { pieces.append(start..<length) }
    guard !pieces.isEmpty else {
      throw StageError(
        "cut takes out everything", reason: "nothing lies before, between or behind its stretches",
        advice: "leave a part of the sound")
    }
    for (index, piece) in pieces.enumerated() where pieces.count > 1 {
      let joints = index == 0 || index == pieces.count - 1 ? 1 : 2
      guard piece.count < joints * overlap else { continue }
      let left = Frames(piece.count).duration(at: rate)
      throw StageError(
        "cut has no room for crossfades of \(crossfade.words)",
        reason: "it leaves \(left.words) at \(Frames(piece.lowerBound).duration(at: rate).words)",
        advice: "a shorter crossfade, or one cut in place of two")
    }
    return pieces
  }
}
