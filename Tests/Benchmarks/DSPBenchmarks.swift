import Audio
import TestSupport

/// `benchmarks dsp`: how long each processor works for an hour of stereo sound at 48 kHz on one
/// core, beside the filter of ffmpeg or sox that does the same.
struct DSPBenchmarks {
  let rounds: Int
  /// A word of the names that are wanted; nil wants all.
  var only: String?

  /// Measures them all, printing each.
  func run() throws(BenchmarkError) -> [Verdict] {
    report("DSP: CPU seconds for an hour of 48 kHz stereo")
    report(Text.row(["spool", "theirs", "ratio"]))
    let material = try BenchmarkMaterial()
    var verdicts: [Verdict?] = []
    for comparison in (Self.dynamics + Self.shaping + Self.meters).filter(isWanted) {
      verdicts.append(try comparison.judge(material, rounds: rounds))
    }
    // It clips at the crests of its bursts, so that there is something to mend.
    let clipping = try BenchmarkMaterial(sound: material.sound.map { min(max(2 * $0, -1), 1) })
    for comparison in RepairBenchmarks.comparisons(clipping.sound).filter(isWanted) {
      verdicts.append(try comparison.judge(clipping, rounds: rounds))
    }
    if only == nil { RepairBenchmarks.reportLearning(clipping) }
    return verdicts.compactMap { $0 }
  }

  private func isWanted(_ comparison: Comparison) -> Bool {
    only.map { comparison.name.contains($0) } ?? true
  }

  private static let format = BenchmarkMaterial.format
  private static let bands = [
    EqualizerBand(.highPass, frequency: Hertz(80)),
    EqualizerBand(.peak, frequency: Hertz(3200), gain: Decibels(3), q: 0.9),
    EqualizerBand(.highShelf, frequency: Hertz(9000), gain: Decibels(1.5)),
    EqualizerBand(.lowShelf, frequency: Hertz(200), gain: Decibels(-2)),
  ]
  private static let gate = Gate.Settings(
    threshold: Decibels(-45), attack: Seconds(0.002), hold: Seconds(0.06), release: Seconds(0.12))
  private static let compressor = Compressor.Settings(
    threshold: Decibels(-18), ratio: 3, knee: Decibels(6), attack: Seconds(0.008),
    release: Seconds(0.12))

  private static let theirEqualizer =
    "highpass=f=80,equalizer=f=3200:t=q:w=0.9:g=3,highshelf=f=9000:g=1.5,lowshelf=f=200:g=-2"
  private static let theirGate = "agate=threshold=0.0056:attack=2:release=120"
  private static let theirCompressor =
    "acompressor=threshold=0.126:ratio=3:knee=2:attack=8:release=120"

  private static var dynamics: [Comparison] {
    [
      Comparison("equalizer, 4 bands", .ffmpeg(theirEqualizer)) {
        Equalizer(bands: bands, format: format)
      },
      Comparison("gate", .ffmpeg(theirGate)) { Gate(gate, format: format) },
      Comparison("compressor", .ffmpeg(theirCompressor)) { Compressor(compressor, format: format) },
      Comparison(
        "all three", .ffmpeg("\(theirEqualizer),\(theirGate),\(theirCompressor)"), limit: 0.5
      ) {
        ProcessorChain(
          [
            Equalizer(bands: bands, format: format), Gate(gate, format: format),
            Compressor(compressor, format: format),
          ], format: format)
      },
      Comparison("gain", .ffmpeg("volume=-3dB", minutes: 20, copies: 4)) {
        Gain(Decibels(-3), format: format)
      },
      Comparison("limiter, idle", .ffmpeg("alimiter=limit=1:level=0")) {
        Limiter(.init(ceiling: Decibels(6)), format: format)
      },
      // ffmpeg's hears samples; to hold true peaks too, it is given four times as many.
      Comparison(
        "limiter, working on true peaks",
        .ffmpeg("aresample=192000,alimiter=limit=0.355:level=0,aresample=48000")
      ) { Limiter(.init(ceiling: Decibels(-9)), format: format) },
    ]
  }

  private static var shaping: [Comparison] {
    [
      Comparison("fade", .ffmpeg("afade=d=300:curve=hsin", copies: 4)) {
        Fade(fadeIn: Seconds(300), fadeOut: Seconds(0), curve: .sCurve, format: format)
      },
      Comparison("trim", .ffmpeg("atrim=start=1,asetpts=N", minutes: 20, copies: 4)) {
        Splice(keeping: [48_000..<Int.max], format: format)
      },
      Comparison(
        "cut",
        .ffmpeg(
          "asplit[x][y];[x]atrim=end=100[a];[y]atrim=start=101,asetpts=N[b];"
            + "[a][b]acrossfade=d=0.01")
      ) {
        Splice(
          keeping: [0..<4_800_000, 4_848_000..<Int.max], crossfade: Frames(480), format: format)
      },
      Comparison(
        "silence, shortened",
        .ffmpeg("silenceremove=stop_periods=-1:stop_duration=0.5:stop_threshold=-45dB")
      ) {
        SilenceShortener(
          SilenceShortener.Settings(
            threshold: Decibels(-45), minimum: Seconds(0.5), maximum: Seconds(0.3)), format: format)
      },
      Comparison("speed 1.25", .ffmpeg("atempo=1.25")) {
        TempoChanger(tempo: 1.25, format: format)
      },
      Comparison("speed 1.25, beside sox", .sox(["tempo", "-s", "1.25"])) {
        TempoChanger(tempo: 1.25, format: format)
      },
      Comparison("mono", .ffmpeg("pan=mono|c0=0.5*c0+0.5*c1", minutes: 20)) {
        ChannelMatrix(Downmix.mono(from: format, law: .linear), format: format)
      },
      Comparison("channels", .ffmpeg("pan=stereo|c0=c1|c1=c0", minutes: 20, copies: 4)) {
        ChannelMatrix([[0, 1], [1, 0]], format: format)
      },
      Comparison("resample to 44.1 kHz, beside sox", .sox(["rate", "-h", "44100"])) {
        Resampler(to: Hertz(44_100), format: format)
      },
      Comparison(
        "resample to 44.1 kHz, beside a filter as long",
        .ffmpeg("aresample=44100:filter_size=176:cutoff=0.955:filter_type=kaiser:kaiser_beta=13")
      ) { Resampler(to: Hertz(44_100), format: format) },
      Comparison("dither to 16 bits", .ffmpeg("aresample=osf=s16:dither_method=triangular")) {
        Quantizer(.bits16, format: format)
      },
    ]
  }

  private static var meters: [Comparison] {
    [
      Comparison("loudness and peaks", .ffmpeg("ebur128=peak=true:framelog=verbose")) {
        $0.seconds(of: { LoudnessMeter(format: format) })
      },
      Comparison("all levels", .ffmpeg("ebur128=peak=true:framelog=verbose,astats")) {
        $0.seconds(of: { LevelMeter(format: format) })
      },
      Comparison("loudness curve", .ffmpeg("ebur128=framelog=verbose")) {
        $0.seconds(of: { LoudnessMeter(format: format, includesPeaks: false) })
      },
    ]
  }
}
