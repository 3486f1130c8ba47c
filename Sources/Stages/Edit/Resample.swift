import Audio
import PipelineModel
import Platform
import SoundEngine

/// `resample`: to another sample rate.
private struct ResampleStage: PlainStage, SoundFilterStage, LevelKeepingStage {
  let rate: Hertz
  let quality: String

  static let descriptor = StageDescriptor.soundFilter(
    "resample", revision: 1,
    summary: "Change the sample rate",
    discussion: """
      A polyphase filter with linear phase (a sinc under Kaiser's window) at exact rational \
      phases. `quick` keeps 80 % of the band and attenuates what would alias by 100 dB; `high` \
      91 %, which is 20 kHz at 44.1 kHz, by 125 dB; `best` 95 % by 150 dB. Nothing is shifted. \
      Sound that has the rate already stays as it is, bit for bit. Peaks between samples may become \
      samples: full-scale sound can rise above full scale, and is not clipped.
      """,
    parameters: [
      ParameterDescriptor(
        "rate", .number(.hertz, 8000...384_000), .required, "the new sample rate"),
      ParameterDescriptor(
        "quality", .choice(["quick", "high", "best"]), .defaulted("high"),
        "how steep and how clean the filter is"),
    ],
    shorthand: "rate")

  init(_ parameters: Self) throws(SpoolError) {
    self = parameters
    try rate.checkWhole(for: "resample", "rate")
  }

  func makeProcessor(for format: AudioFormat) -> any Processor {
    guard format.sampleRate != rate else { return Gain(Decibels(0), format: format) }
    let quality: Resampler.Quality =
      switch self.quality {
      case "quick": .quick
      case "best": .best
      default: .high
      }
    return Resampler(to: rate, quality: quality, format: format)
  }

  func outline(after stream: SoundOutline) -> SoundOutline {
    let old = stream.format.sampleRate
    guard old != rate else { return stream }
    return stream.changed(to: stream.format.at(rate)) {
      Resampler.length(of: $0, from: old, to: rate)
    }
  }
}

extension StageRegistration { static let resample = StageRegistration(ResampleStage.self) }

extension Hertz {
  /// Throws for a rate that is no whole number of hertz: sound cannot be brought to it exactly.
  func checkWhole(for kind: String, _ parameter: String) throws(SpoolError) {
    guard value != value.rounded() else { return }
    throw SpoolError(
      "\(kind) takes a whole number of hertz, not \(value)", advice: "\(parameter): 48 kHz")
  }
}
