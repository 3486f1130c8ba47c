import AudioModel
import PipelineFile
import PipelineModel

/// The settings of one track, as a pipeline writes them.
struct TrackParameters: Codable, Sendable {
  let name: String?
  let volume: Double
  let gain: Decibels
  let pan: Double
  let mute: Bool
  let solo: Bool
  let voice: Bool
  let offset: String

  /// What they are called, and what they take.
  static let descriptors = [
    ParameterDescriptor("name", .text(maximumLength: 100), .optional, "for duck and for people"),
    ParameterDescriptor("volume", .number(.number, 0...1.5), .defaulted("1"), "the fader"),
    ParameterDescriptor(
      "gain", .number(.decibels, -120...24), .defaulted("0 dB"), "a gain before the fader"),
    ParameterDescriptor(
      "pan", .number(.number, -1...1), .defaulted("0"), "-1 is left, 0 the middle, 1 right"),
    ParameterDescriptor("mute", .flag, .defaulted("false"), "do not let it be heard"),
    ParameterDescriptor(
      "solo", .flag, .defaulted("false"), "let only this one be heard, and others like it"),
    ParameterDescriptor(
      "voice", .flag, .defaulted("false"), "somebody talks or sings in it: match counts it in"),
    ParameterDescriptor(
      "offset", .text(maximumLength: 40), .defaulted("0 s"),
      "where it begins: 1.5 s, 22050 samples, or timestamp (Broadcast WAV); before the mix begins "
        + "with -23 ms"),
  ]

  /// The channel that they describe.
  var track: MixTrack {
    get throws(StageError) {
      guard let offset = TrackOffset(offset) else {
        throw StageError(
          "offset of mixdown is \"\(offset)\"", advice: TrackOffset.allowed)
      }
      return MixTrack(
        name: name, volume: volume, gain: gain, pan: pan, isMuted: mute, isSoloed: solo,
        isVoice: voice, offset: offset)
    }
  }
}
