import Audio
import PipelineModel
import SoundEngine

/// `stereo`: two channels from one or from many.
private struct StereoStage: PlainStage, SoundFilterStage {
  let pan: Double
  let panLaw: PanLaw

  static let descriptor = StageDescriptor.soundFilter(
    "stereo", revision: 2,
    summary: "Make two channels of one, or mix many down to two",
    discussion: """
      One channel is placed between left and right: `pan` -1 is left, 0 the middle, 1 right; the \
      pan law says how loud each side is in the middle. Two channels stay as they are. Surround \
      sound is mixed down after ITU-R BS.775: centre and surrounds at -3 dB, low frequencies left \
      out. Of channels without positions, those with odd numbers go left and the others right.
      """,
    parameters: [
      ParameterDescriptor(
        "pan", .number(.number, -1...1), .defaulted("0"),
        "where a single channel lies; others do not move"),
      ParameterDescriptor(
        "pan-law", .choice(PanLaw.allCases.map(\.rawValue)), .defaulted("0 dB"),
        "the gain of each side for a single channel in the middle"),
    ],
    shorthand: "pan")

  func makeProcessor(for format: AudioFormat) -> any Processor {
    let gains =
      format.channelCount == 1
      ? Downmix.panned(to: pan, law: panLaw)
      : Downmix.stereo(from: format)
    return ChannelMatrix(gains, format: format)
  }

  func outline(after stream: SoundOutline) -> SoundOutline { stream.with(channelCount: 2) }
}

extension StageRegistration { static let stereo = StageRegistration(StereoStage.self) }
