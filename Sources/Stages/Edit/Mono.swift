import Audio
import PipelineModel
import SoundEngine

/// `mono`: one channel from all.
private struct MonoStage: PlainStage, SoundFilterStage {
  let panLaw: PanLaw

  static let descriptor = StageDescriptor.soundFilter(
    "mono", revision: 2,
    summary: "Mix all channels into one",
    discussion: """
      Surround sound is mixed down to two channels after ITU-R BS.775 first: centre and surrounds \
      at -3 dB, low frequencies left out. The pan law says by how much left and right are turned \
      down: -6 dB gives their mean, right for voices that both carry; -3 dB keeps the power of \
      channels that are unlike. Of channels without positions it is the mean. To take one channel \
      alone, use channels.
      """,
    parameters: [
      ParameterDescriptor(
        "pan-law", .choice(PanLaw.allCases.map(\.rawValue)), .defaulted("-6 dB"),
        "the gain of left and right")
    ],
    shorthand: "pan-law")

  func makeProcessor(for format: AudioFormat) -> any Processor {
    ChannelMatrix(Downmix.mono(from: format, law: panLaw), format: format)
  }

  func outline(after stream: SoundOutline) -> SoundOutline { stream.with(channelCount: 1) }
}

extension StageRegistration { static let mono = StageRegistration(MonoStage.self) }

extension SoundOutline {
  /// The stream with another number of channels.
  func with(channelCount: Int) -> SoundOutline {
    guard channelCount != format.channelCount else { return self }
    return changed(to: AudioFormat(sampleRate: format.sampleRate, channelCount: channelCount))
  }
}
