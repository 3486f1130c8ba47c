import Audio
import PipelineModel
import SoundEngine

/// `compress`: loud stretches become quieter, so that the whole can become louder.
private struct CompressorStage: PlainStage, SoundFilterStage, SidechainParameters {
  let threshold: Decibels
  let ratio: Double
  let knee: Decibels
  let attack: Seconds
  let release: Seconds
  let makeUp: Decibels
  let mix: Double
  let detector: String
  let rmsWindow: Seconds
  let sidechainHighpass: Hertz?
  let lookAhead: Seconds
  let link: Double

  static let descriptor = StageDescriptor.soundFilter(
    "compress", revision: 2,
    summary: "Even out the level: what is above a threshold rises more slowly",
    discussion: """
      A feed-forward compressor with a soft knee after Giannoulis, Massberg and Reiss (JAES 2012). \
      The channels are linked by their loudest, unless `link` says otherwise. The peak level is \
      the greatest magnitude of the last 10 ms, half a period of 50 Hz: a steady tone from there \
      on has the level of its crests, and lies on the static curve whatever attack and release \
      are. The attack begins with the peak, the release 10 ms after it. RMS levels are those of a \
      mean square, without a hold; a full-scale sine has -3 dB.
      """,
    parameters: [
      ParameterDescriptor(
        "threshold", .number(.decibels, -80...0), .defaulted("-18 dB"),
        "the level above which it acts"),
      ParameterDescriptor(
        "ratio", .number(.ratio, 1...100), .defaulted("3:1"),
        "by how many dB the input rises for 1 dB at the output"),
      ParameterDescriptor(
        "knee", .number(.decibels, 0...40), .defaulted("6 dB"),
        "the width of the bend around the threshold"),
      ParameterDescriptor(
        "attack", .number(.milliseconds, 0.01...1000), .defaulted("8 ms"),
        "the time constant for rising levels"),
      ParameterDescriptor(
        "release", .number(.milliseconds, 1...10_000), .defaulted("120 ms"),
        "the time constant for falling levels"),
      ParameterDescriptor(
        "make-up", .number(.decibels, -24...48), .defaulted("0 dB"), "gain behind it"),
      ParameterDescriptor(
        "mix", .number(.percent, 0...100), .defaulted("100 %"),
        "how much of the result is compressed: less is parallel compression"),
    ] + .sidechain,
    shorthand: "threshold", report: "how far it turned down")

  func makeProcessor(for format: AudioFormat) -> any Processor {
    Compressor(
      Compressor.Settings(
        threshold: threshold, ratio: ratio, knee: knee, attack: attack, release: release,
        makeUp: makeUp, mix: mix, sidechain: sidechain), format: format)
  }
}

extension StageRegistration { static let compressor = StageRegistration(CompressorStage.self) }

/// The parameters of a side chain, as `gate` and `compress` have them in common.
protocol SidechainParameters {
  var detector: String { get }
  var rmsWindow: Seconds { get }
  var sidechainHighpass: Hertz? { get }
  var lookAhead: Seconds { get }
  var link: Double { get }
}

extension SidechainParameters {
  var sidechain: Sidechain {
    Sidechain(
      detector == "rms" ? .rms(window: rmsWindow) : .peak, highPass: sidechainHighpass, link: link,
      lookAhead: lookAhead)
  }
}

extension [ParameterDescriptor] {
  /// The parameters that `SidechainParameters` has.
  static var sidechain: Self {
    [
      ParameterDescriptor(
        "detector", .choice(["peak", "rms"]), .defaulted("peak"),
        "whether peaks count, or the mean power, which is nearer to how loud it sounds"),
      ParameterDescriptor(
        "rms-window", .number(.milliseconds, 0.1...1000), .defaulted("10 ms"),
        "the time constant of the mean, with detector: rms"),
      ParameterDescriptor(
        "sidechain-highpass", .number(.hertz, 10...20_000), .optional,
        "listen only to what lies above: rumble and plosives then do not count"),
      ParameterDescriptor(
        "look-ahead", .number(.milliseconds, 0...100), .defaulted("0 ms"),
        "how long before its cause the gain moves"),
      ParameterDescriptor(
        "link", .number(.percent, 0...100), .defaulted("100 %"),
        "how far every channel follows the loudest; 0 % treats each for itself"),
    ]
  }
}
