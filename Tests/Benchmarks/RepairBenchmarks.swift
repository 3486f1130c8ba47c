import AudioModel
import DSP
import TestSupport

/// The processors that repair or listen more closely, each beside ffmpeg's counterpart, with the
/// filters that it is compared with.
enum RepairBenchmarks {
  /// One comparison.
  struct Case {
    let name: String
    let make: () -> any Processor
    /// What ffmpeg is told; nil where it has nothing alike.
    let ffmpeg: String?
  }

  /// All comparisons. Noise and clipping are taken out of `sound`, which must have some of both.
  static func cases(_ sound: TestSound) -> [Case] {
    let format = sound.format
    let meter = NoiseProfileMeter(format: format)
    sound.analysed(by: meter)
    let noise =
      meter.finding().noise ?? NoiseProfile(spectra: [], level: Decibels(-60), start: Seconds(0))
    let notches = (1...8).map {
      EqualizerBand(.notch, frequency: Hertz(50 * Double($0)), q: 20 * Double($0))
    }
    let careful = Sidechain(
      .rms(window: Seconds(0.01)), highPass: Hertz(80), lookAhead: Seconds(0.005))
    return [
      Case(
        name: "gate, RMS, high-pass, look-ahead",
        make: {
          Gate(
            Gate.Settings(
              threshold: Decibels(-45), attack: Seconds(0.002), hold: Seconds(0.06),
              release: Seconds(0.12), sidechain: careful), format: format)
        },
        ffmpeg:
          "asplit[a][b];[b]highpass=f=80[s];[a][s]sidechaingate=threshold=0.0056:detection=rms"),
      Case(
        name: "compressor, RMS, high-pass, look-ahead",
        make: {
          Compressor(
            Compressor.Settings(
              threshold: Decibels(-18), ratio: 3, knee: Decibels(6), attack: Seconds(0.008),
              release: Seconds(0.12), sidechain: careful), format: format)
        },
        ffmpeg: "asplit[a][b];[b]highpass=f=80[s];[a][s]sidechaincompress=threshold=0.126:ratio=3"
          + ":attack=8:release=120:detection=rms"),
      Case(
        name: "offset", make: { OffsetRemover(offsets: [0.01, -0.01], format: format) },
        ffmpeg: "dcshift=shift=0.01"),
      Case(
        name: "hum, 8 notches", make: { Equalizer(bands: notches, format: format) },
        ffmpeg: (1...8).map { "bandreject=f=\(50 * $0):t=h:w=2.5" }.joined(separator: ",")),
      Case(
        name: "de-esser", make: { DeEsser(DeEsser.Settings(), format: format) },
        ffmpeg: "deesser=i=0.5"),
      Case(
        name: "denoiser", make: { Denoiser(Denoiser.Settings(), noise: noise, format: format) },
        ffmpeg: "afftdn"),
      Case(
        name: "declipper", make: { Declipper(Declipper.Settings(), format: format) },
        ffmpeg: "adeclip"),
    ]
  }
}

extension BenchmarkMaterial {
  /// Prints what each of them costs for an hour, here and in ffmpeg. The sound clips at the crests of
  /// its bursts.
  func compareRepairs() {
    let clipping = BenchmarkMaterial(sound: sound.map { min(max(2 * $0, -1), 1) })
    for one in RepairBenchmarks.cases(clipping.sound) {
      let ours = clipping.seconds(through: one.make)
      guard let filter = one.ffmpeg, let theirs = clipping.secondsOfFFmpeg(filter, repeats: 1)
      else {
        print("  \(one.name): \(rounded(ours))")
        continue
      }
      print(
        "  \(one.name): \(rounded(ours)); in ffmpeg \(rounded(theirs)); "
          + "ratio \(rounded(ours / theirs))")
    }
    func analysis(_ name: String, _ seconds: Double) { print("  \(name): \(rounded(seconds))") }
    let format = Self.format
    analysis("learning the offset", clipping.seconds(of: { OffsetMeter(format: format) }))
    analysis("learning the hum", clipping.seconds(of: { HumMeter(format: format) }))
    analysis("learning the noise", clipping.seconds(of: { NoiseProfileMeter(format: format) }))
  }
}
