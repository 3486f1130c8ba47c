import Audio
import PipelineModel
import Platform
import SoundEngine

/// `eq`: any number of second-order bands.
struct EqualizerStage: DeclaredStage, SoundFilterStage {
  struct Parameters: Codable, Sendable {
    let bands: [Band]
  }

  struct Band: Codable, Sendable {
    let type: String
    let frequency: Hertz
    let gain: Decibels
    let q: Double?
  }

  static let descriptor = StageDescriptor.soundFilter(
    "eq", revision: 1,
    summary: "Shape the spectrum with any number of bands",
    discussion: """
      Second-order filters after Robert Bristow-Johnson's cookbook, one after the other, with \
      double-precision state. A band above the Nyquist frequency acts just below it.
      """,
    parameters: [
      ParameterDescriptor(
        "bands",
        .list(
          of: .group([
            ParameterDescriptor(
              "type",
              .choice(["peak", "low-shelf", "high-shelf", "highpass", "lowpass", "notch"]),
              .required, "the shape of the band"),
            ParameterDescriptor(
              "frequency", .number(.hertz, 5...100_000), .required,
              "its centre, corner or cut-off"),
            ParameterDescriptor(
              "gain", .number(.decibels, -48...48), .defaulted("0 dB"),
              "boost or cut (peak and shelves)"),
            ParameterDescriptor(
              "q", .number(.number, 0.05...50), .optional,
              "how narrow it is; 1 for a peak, 0.707 for the others"),
          ]), count: 1...64),
        .required, "the bands, in the order in which they act")
    ],
    shorthand: "bands")

  private let bands: [EqualizerBand]

  init(_ parameters: Parameters) throws(SpoolError) {
    var bands: [EqualizerBand] = []
    for band in parameters.bands {
      guard let shape = EqualizerStage.shape(band.type) else {
        throw SpoolError("eq knows no band of type \(band.type)")
      }
      bands.append(
        EqualizerBand(
          shape, frequency: band.frequency, gain: band.gain, q: band.q))
    }
    self.bands = bands
  }

  func makeProcessor(for format: AudioFormat) -> any Processor {
    Equalizer(bands: bands, format: format)
  }

  private static func shape(_ name: String) -> EqualizerBand.Shape? {
    switch name {
    case "peak": .peak
    case "low-shelf": .lowShelf
    case "high-shelf": .highShelf
    case "highpass": .highPass
    case "lowpass": .lowPass
    case "notch": .notch
    default: nil
    }
  }
}
