import Audio
import PipelineModel
import Platform
import SoundEngine

/// `trim`: one stretch of the recording, and nothing before or after it.
private struct TrimStage: DeclaredStage, TimeMovingStage, LevelKeepingStage {
  struct Parameters: Codable, Sendable {
    let start: Seconds
    let end: Seconds?
    let duration: Seconds?
  }

  static let descriptor = timeChange(
    "trim", revision: 1,
    summary: "Keep one stretch: from a start to an end, or for a duration",
    discussion: """
      Times are rounded to the nearest frame; what is kept stays as it is, bit for bit. A \
      negative `end` counts from the end of the sound: `end: -2 s` takes the last two seconds \
      away. An end beyond the end of the sound is the end of the sound; a start beyond it is an \
      error.
      """,
    parameters: [
      ParameterDescriptor(
        "start", .number(.seconds, 0...360_000), .defaulted("0 s"), "where it begins"),
      ParameterDescriptor(
        "end", .number(.seconds, -60...360_000), .optional,
        "where it ends; negative from the end of the sound"),
      ParameterDescriptor(
        "duration", .number(.seconds, 0...360_000), .optional,
        "how long it is, in place of an end"),
    ])

  private let start: Seconds
  private let end: Seconds?

  init(_ parameters: Parameters) throws(SpoolError) {
    start = parameters.start
    switch (parameters.end, parameters.duration) {
    case (let end?, nil): self.end = end
    case (nil, let duration?): end = Seconds(start.value + duration.value)
    case (nil, nil): end = nil
    default:
      throw SpoolError(
        "trim takes an end or a duration, not both",
        advice: "end: 90 s, or duration: 30 s")
    }
    if let end, end.value >= 0, end <= start {
      throw SpoolError(
        "trim would keep nothing: it ends at \(end.words) and starts at \(start.words)",
        advice: "an end after the start")
    }
  }

  private func range(at rate: Hertz) -> Range<Int> {
    let first = start.frames(at: rate).count
    guard let end, end.value >= 0 else { return first..<Int.max }
    return first..<max(first, end.frames(at: rate).count)
  }

  private func tail(at rate: Hertz) -> Frames {
    guard let end, end.value < 0 else { return .zero }
    return Frames(-end.frames(at: rate).count)
  }

  func beginning(at rate: Hertz) -> Frames? { start.frames(at: rate) }

  func makeProcessor(for format: AudioFormat) -> any Processor {
    let rate = format.sampleRate
    return Splice(keeping: [range(at: rate)], droppingLast: tail(at: rate), format: format)
  }

  func outline(after stream: SoundOutline) throws(SpoolError) -> SoundOutline {
    let rate = stream.format.sampleRate
    let (range, tail) = (range(at: rate), tail(at: rate))
    let left = { (frames: Frames) in
      Frames(max(0, min(range.upperBound, frames.count - tail.count) - range.lowerBound))
    }
    if let frames = stream.certainFrames, left(frames) == .zero {
      let reason =
        start.frames(at: rate) < frames
        ? "\(Seconds(-(end?.value ?? 0)).words) less, it ends before \(start.words)"
        : "it ends before \(start.words)"
      throw SpoolError(
        "trim leaves nothing of \(frames.duration(at: rate).words) of sound", reason: reason,
        advice: "choose times within the recording")
    }
    return stream.changed(left)
  }
}

extension StageRegistration { static let trim = StageRegistration(TrimStage.self) }
