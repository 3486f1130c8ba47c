import Audio
import PipelineModel
import Platform
import SoundEngine

/// `click`: a metronome, which needs no recording.
private struct ClickStage: DeclaredStage, SoundSourceStage {
  struct Parameters: Codable, Sendable {
    let tempo: Double
    let beats: Int
    let note: String
    let bars: Int?
    let duration: Seconds?
    let countIn: Int
    let volume: Decibels
    let sampleRate: Hertz
    let channels: Int
  }

  static let descriptor = StageDescriptor(
    kind: "click", revision: 1,
    summary: "Make a metronome track",
    discussion: """
      The first beat of a bar is a sine of 1000 Hz that dies away within 15 ms, the others one of \
      800 Hz within 10 ms. The tempo counts quarters: in eighths the beats follow each other twice \
      as fast. Needs no recording: write `inputs: {}` in the pipeline. The count-in comes before \
      the bars or the duration that are asked for, and sounds like them.
      """,
    flow: .streaming(.sound, .source),
    inputs: [],
    outputs: [Port(.sound, .sound, "the clicks")],
    parameters: [
      ParameterDescriptor(
        "tempo", .number(.beatsPerMinute, 40...240), .defaulted("120 BPM"), "quarters a minute"),
      ParameterDescriptor("beats", .integer(2...8), .defaulted("4"), "beats of a bar"),
      ParameterDescriptor(
        "note", .choice(["quarter", "eighth"]), .defaulted("quarter"), "the note that is a beat"),
      ParameterDescriptor(
        "bars", .integer(1...100_000), .optional, "how many bars, in place of a duration"),
      ParameterDescriptor(
        "duration", .number(.seconds, 0.1...86_400), .optional,
        "how long, in place of a number of bars"),
      ParameterDescriptor(
        "count-in", .integer(0...2), .defaulted("0"), "bars before the first that counts"),
      ParameterDescriptor(
        "volume", .number(.decibels, -60...0), .defaulted("-6 dB"),
        "how loud a click begins, relative to full scale"),
      ParameterDescriptor(
        "sample-rate", .number(.hertz, 8000...192_000), .defaulted("48 kHz"), "samples a second"),
      ParameterDescriptor(
        "channels", .integer(1...8), .defaulted("1"), "channels, all alike"),
    ])

  private let track: ClickTrack

  init(_ parameters: Parameters) throws(SpoolError) {
    let quarter = 60 / parameters.tempo
    let interval = parameters.note == "eighth" ? quarter / 2 : quarter
    let bar = interval * Double(parameters.beats)
    let length: Double
    switch (parameters.bars, parameters.duration) {
    case (let bars?, nil): length = Double(bars) * bar
    case (nil, let duration?): length = duration.value
    default:
      throw SpoolError(
        "click needs either bars or duration", advice: "bars: 8, or duration: 30 s")
    }
    track = ClickTrack(
      format: AudioFormat(
        sampleRate: parameters.sampleRate, channelCount: parameters.channels),
      beatsPerBar: parameters.beats, interval: Seconds(interval),
      duration: Seconds(length + Double(parameters.countIn) * bar), volume: parameters.volume)
  }

  func open(_ inputs: [SoundInput]) -> any SoundSource { ClickSource(track) }

  func outline(of inputs: [SoundInput]) -> SoundOutline {
    SoundOutline(format: track.format, frames: track.frames)
  }
}

extension StageRegistration { static let click = StageRegistration(ClickStage.self) }

/// Clicks as the source of a pass.
private final class ClickSource: SoundSource {
  private let track: ClickTrack
  private var position = Frames.zero

  init(_ track: ClickTrack) { self.track = track }

  var outline: SoundOutline { SoundOutline(format: track.format, frames: track.frames) }
  let warnings: [String] = []

  func skip(to frame: Frames) -> Frames {
    position = min(frame, track.frames)
    return position
  }

  func read(into buffer: inout AudioBuffer) -> Bool {
    track.fill(&buffer, from: position)
    position += buffer.frameCount
    return buffer.frameCount.count > 0
  }

  func report() -> String? { nil }
}
