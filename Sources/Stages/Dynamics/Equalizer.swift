import Audio
import PipelineModel
import Platform
import SoundEngine

/// `eq`: any number of second-order bands.
private struct EqualizerStage: PlainStage, SoundFilterStage {
  struct Band: Codable, Sendable {
    let type: String
    let frequency: Hertz
    let gain: Decibels
    let q: Double?
  }

  let bands: [Band]

  private static let shapes: [(name: String, shape: EqualizerBand.Shape)] = [
    ("peak", .peak), ("low-shelf", .lowShelf), ("high-shelf", .highShelf),
    ("highpass", .highPass), ("lowpass", .lowPass), ("notch", .notch),
  ]

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
              .choice(shapes.map(\.name)),
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

  func makeProcessor(for format: AudioFormat) throws(SpoolError) -> any Processor {
    var filters: [EqualizerBand] = []
    for band in bands {
      guard let shape = Self.shapes.first(where: { $0.name == band.type })?.shape else {
        throw SpoolError("eq knows no band of type \(band.type)")
      }
      filters.append(
        EqualizerBand(shape, frequency: band.frequency, gain: band.gain, q: band.q))
    }
    return Equalizer(bands: filters, format: format)
  }
}

extension StageRegistration { static let equalizer = StageRegistration(EqualizerStage.self) }
