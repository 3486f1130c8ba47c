import Audio
import TestSupport

/// The processors that repair or listen more closely, each beside ffmpeg's counterpart, with the
/// filters that it is compared with.
enum RepairBenchmarks {
  /// All comparisons. Noise and clipping are taken out of `sound`, which must have some of both.
  static func comparisons(_ sound: TestSound) -> [Comparison] {
    let format = sound.format
    let meter = NoiseProfile.Meter(format: format)
    sound.analysed(by: meter)
    let noise =
      meter.finding().noise ?? NoiseProfile(spectra: [], level: Decibels(-60), start: Seconds(0))
    let notches = (1...8).map {
      EqualizerBand(.notch, frequency: Hertz(50 * Double($0)), q: 20 * Double($0))
    }
    let careful = Sidechain(
      .rms(window: Seconds(0.01)), highPass: Hertz(80), lookAhead: Seconds(0.005))
    return [
      Comparison(
        "gate, RMS, high-pass, look-ahead",
        .ffmpeg(
          "asplit[a][b];[b]highpass=f=80[s];[a][s]sidechaingate=threshold=0.0056:detection=rms")
      ) {
        Gate(
          Gate.Settings(
            threshold: Decibels(-45), attack: Seconds(0.002), hold: Seconds(0.06),
            release: Seconds(0.12), sidechain: careful), format: format)
      },
      Comparison(
        "compressor, RMS, high-pass, look-ahead",
        .ffmpeg(
          "asplit[a][b];[b]highpass=f=80[s];[a][s]sidechaincompress=threshold=0.126:ratio=3"
            + ":attack=8:release=120:detection=rms")
      ) {
        Compressor(
          Compressor.Settings(
            threshold: Decibels(-18), ratio: 3, knee: Decibels(6), attack: Seconds(0.008),
            release: Seconds(0.12), sidechain: careful), format: format)
      },
      Comparison("offset", .ffmpeg("dcshift=shift=0.01", minutes: 20, copies: 4)) {
        OffsetRemover(offsets: [0.01, -0.01], format: format)
      },
      Comparison(
        "hum, 8 notches",
        .ffmpeg((1...8).map { "bandreject=f=\(50 * $0):t=h:w=2.5" }.joined(separator: ","))
      ) { Equalizer(bands: notches, format: format) },
      Comparison("de-esser", .ffmpeg("deesser=i=0.5")) {
        DeEsser(DeEsser.Settings(), format: format)
      },
      Comparison("denoiser", .ffmpeg("afftdn", minutes: 2)) {
        Denoiser(Denoiser.Settings(), noise: noise, format: format)
      },
      Comparison("declipper", .ffmpeg("adeclip", minutes: 1)) {
        Declipper(Declipper.Settings(), format: format)
      },
    ]
  }

  /// Prints what the meters cost that have no counterpart.
  static func reportLearning(_ material: BenchmarkMaterial) {
    let format = material.sound.format
    func line(_ name: String, _ seconds: Double) {
      report(Text.row([Text.number(seconds), "-", "-"]) + "  \(name)")
    }
    line("learning the offset", material.seconds(of: { OffsetRemover.Meter(format: format) }))
    line("learning the hum", material.seconds(of: { HumSpectrum.Meter(format: format) }))
    line("learning the noise", material.seconds(of: { NoiseProfile.Meter(format: format) }))
  }
}
