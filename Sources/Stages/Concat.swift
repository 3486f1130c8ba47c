import AudioModel
import DSP
import Media
import PipelineModel

/// `concat`: several recordings one after the other.
struct ConcatStage: DeclaredStage, SoundSourceStage {
  struct Parameters: Codable, Sendable {
    let crossfade: Seconds
    let curve: FadeCurve
    let sampleRate: Hertz?
    let channels: Int?
  }

  static let descriptor = StageDescriptor(
    kind: "concat", revision: 1,
    summary: "Put several recordings one after the other, with or without crossfades",
    discussion: """
      Takes recordings and sound from the steps above, in this order: from: [intro, $parts]. What \
      has another rate or other channels than the first part is brought to its, or to the \
      sample-rate and channels that are given: rates as resample does it, two channels as stereo \
      makes them from any number, one as the mean of two (mono); no other number of channels is \
      made. All else stays as it is, bit for bit, so that the pieces of a split give the whole \
      again. Each crossfade makes the sound shorter by its length. A part between two others must \
      be twice as long as the crossfade, the first and the last once, or it is an error. The \
      measurement says where each part lies, in seconds.
      """,
    flow: .streaming(.sound, .source),
    inputs: [
      Port(PortName("parts"), .sound, "the parts, in order", intake: .both, isList: true)
    ],
    outputs: [
      Port(.sound, .sound, "all parts as one"),
      Port(.measurement, .measurement, "where each part lies, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "crossfade", .number(.milliseconds, 0...10_000), .defaulted("0 ms"),
        "how long the end of a part and the beginning of the next sound together"),
      ParameterDescriptor(
        "curve", .choice([FadeCurve.linear, .sCurve, .equalPower].map(\.rawValue)),
        .defaulted("equal-power"), "how one goes over into the other"),
      ParameterDescriptor(
        "sample-rate", .number(.hertz, 4000...768_000), .optional,
        "the rate of the whole; without it that of the first part"),
      ParameterDescriptor(
        "channels", .integer(1...64), .optional,
        "the channels of the whole; without it those of the first part"),
    ])

  static var libraries: [String: String] { MediaVersions.all }

  private let settings: Parameters

  init(_ parameters: Parameters) throws(StageError) {
    settings = parameters
    guard let rate = parameters.sampleRate, rate.value != rate.value.rounded() else { return }
    throw StageError(
      "concat takes a whole number of hertz, not \(rate.value)", advice: "sample-rate: 48 kHz")
  }

  func open(_ inputs: [SoundInput]) throws(StageError) -> any SoundSource {
    ConcatSource(try layout(inputs))
  }

  func outline(of inputs: [SoundInput]) throws(StageError) -> SoundOutline {
    try layout(inputs).outline
  }

  private func layout(_ inputs: [SoundInput]) throws(StageError) -> ConcatLayout {
    var parts: [PartInput] = []
    for input in inputs { parts.append(try PartInput(input, number: parts.count + 1)) }
    return try ConcatLayout(
      parts, crossfade: settings.crossfade, curve: settings.curve,
      sampleRate: settings.sampleRate, channelCount: settings.channels)
  }
}
