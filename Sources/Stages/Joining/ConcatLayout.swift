import AudioModel
import DSP
import PipelineModel

/// Parts in their order, and what they become together. Nothing is decoded yet.
struct ConcatLayout {
  let parts: [PartInput]
  /// What comes out.
  let format: AudioFormat
  let crossfade: Frames
  let curve: FadeCurve
  /// How long each part is in the whole's format, as far as that is known.
  private let lengths: [SoundOutline?]

  /// Throws where parts cannot be joined, as far as their headers tell.
  /// - Parameters:
  ///   - sampleRate: nil for that of the first part of which anything is known.
  ///   - channelCount: the same.
  init(
    _ parts: [PartInput], crossfade: Seconds, curve: FadeCurve, sampleRate: Hertz?,
    channelCount: Int?
  ) throws(StageError) {
    guard !parts.isEmpty else {
      throw StageError("concat has no parts", advice: "name at least one recording")
    }
    self.parts = parts
    self.curve = curve
    let first = parts.lazy.compactMap(\.outline?.format).first
    let format = AudioFormat(
      sampleRate: sampleRate ?? first?.sampleRate ?? Hertz(48_000),
      channelCount: channelCount ?? first?.channelCount ?? 2)
    self.format = format
    self.crossfade = crossfade.frames(at: format.sampleRate)
    var lengths: [SoundOutline?] = []
    for part in parts {
      guard let own = part.outline else {
        lengths.append(nil)
        continue
      }
      let fitting = try SoundFitting(from: own.format, to: format, of: part.title)
      lengths.append(own.changed(to: format) { fitting?.length(of: $0) ?? $0 })
    }
    self.lengths = lengths
    for (index, length) in lengths.enumerated() {
      if let frames = length?.certainFrames, frames < least(ofPart: index) {
        throw tooShort(index, frames)
      }
    }
  }

  /// Its format and, where the headers say how long the parts are, its length.
  var outline: SoundOutline {
    var total: Frames? = Frames(-(parts.count - 1) * crossfade.count)
    var isGuessed = false
    for length in lengths {
      total = total.flatMap { total in length?.frames.map { total + $0 } }
      isGuessed = isGuessed || length?.isGuessed ?? true
    }
    return SoundOutline(format: format, frames: total.map { max($0, .zero) }, isGuessed: isGuessed)
  }

  /// How long a part must be for its crossfades.
  private func least(ofPart index: Int) -> Frames {
    let joints = (index > 0 ? 1 : 0) + (index < parts.count - 1 ? 1 : 0)
    return Frames(joints * crossfade.count)
  }

  /// What is to be said of a part that has no room for its crossfades.
  func tooShort(_ index: Int, _ frames: Frames) -> StageError {
    let rate = format.sampleRate
    return StageError(
      "\(parts[index].title) is too short for crossfades of \(crossfade.duration(at: rate).words)",
      reason: "it is \(frames.duration(at: rate).words) long, and they take "
        + least(ofPart: index).duration(at: rate).words,
      advice: "a shorter crossfade, or leave the part out")
  }
}
