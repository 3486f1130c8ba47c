import Audio
import PipelineModel
import Platform
import SoundEngine

/// `dehum`: notches at the mains frequency and its harmonics.
private struct DehumStage: PlainStage, AnalysedSoundStage {
  let frequency: String
  let harmonics: Int
  let q: Double

  static let descriptor = StageDescriptor.analysedFilter(
    "dehum", revision: 1,
    summary: "Take out mains hum: 50 or 60 Hz and their harmonics",
    discussion: """
      The recording is searched for lines that stay, which tells hum from a low voice and finds \
      its frequency to a few hundredths of a hertz. One narrow notch is put on each harmonic that \
      stands out; all are equally wide. With frequency: 50 Hz or 60 Hz every harmonic gets its \
      notch, whether it stands out or not. A recording without hum stays as it is, bit for bit.
      """,
    parameters: [
      ParameterDescriptor(
        "frequency", .choice(["auto", "50 Hz", "60 Hz"]), .defaulted("auto"),
        "the mains frequency; auto finds it"),
      ParameterDescriptor(
        "harmonics", .integer(1...30), .defaulted("10"),
        "how many harmonics, the fundamental included"),
      ParameterDescriptor(
        "q", .number(.number, 2...200), .defaulted("20"),
        "how narrow the notches are: the fundamental over the width of each"),
    ],
    shorthand: "frequency", report: "the hum that was found, and the notches")

  /// The mains frequency that was asked for; nil where it is to be found.
  private var fixed: Hertz? {
    switch frequency {
    case "50 Hz": Hertz(50)
    case "60 Hz": Hertz(60)
    default: nil
    }
  }

  private struct Report: Codable {
    let hum: HumSpectrum.Hum?
    let notches: [Hertz]
  }

  func makeAnalysis(of format: AudioFormat, resuming: ListenerProgress?) -> any SoundAnalysis {
    MeteredAnalysis({ HumSpectrum.Meter(format: format) }, resuming: resuming) {
      [self] (spectrum) throws(SpoolError) in
      let hum = hum(in: spectrum)
      let bands = bands(against: hum, below: format.sampleRate.value / 2)
      var warnings: [String] = []
      if fixed == nil, hum == nil {
        warnings = [
          spectrum.isTelling
            ? "no hum was found, so the sound stays as it is"
            : "too short to look for hum, so the sound stays as it is; "
              + "dehum: 50 Hz works without looking"
        ]
      }
      return try MeteredAnalysis.Decision(
        memo: bands, findings: Report(hum: hum, notches: bands.map(\.frequency)),
        warnings: warnings)
    }
  }

  /// The hum whose harmonics stand out most, or the one that was asked for.
  private func hum(in spectrum: HumSpectrum) -> HumSpectrum.Hum? {
    if let fixed {
      return HumSpectrum.Hum(
        frequency: fixed,
        prominences: spectrum.prominences(of: fixed, harmonics: harmonics))
    }
    func weight(_ hum: HumSpectrum.Hum) -> Double {
      hum.prominences.reduce(0) { $0 + max($1.value, 0) }
    }
    return [50.0, 60].compactMap { spectrum.hum(near: Hertz($0), harmonics: harmonics) }
      .max { weight($0) < weight($1) }
  }

  private func bands(against hum: HumSpectrum.Hum?, below limit: Double) -> [EqualizerBand] {
    guard let hum else { return [] }
    return hum.prominences.enumerated().compactMap { index, prominence in
      let number = Double(index + 1)
      let frequency = hum.frequency.value * number
      guard frequency < 0.95 * limit, fixed != nil || prominence >= HumSpectrum.Hum.audible else {
        return nil
      }
      return EqualizerBand(.notch, frequency: Hertz(frequency), q: q * number)
    }
  }

  func makeProcessor(for format: AudioFormat, memo: String) throws(SpoolError) -> any Processor {
    Equalizer(
      bands: try Findings.decode([EqualizerBand].self, from: memo), format: format)
  }
}

extension StageRegistration { static let dehum = StageRegistration(DehumStage.self) }
