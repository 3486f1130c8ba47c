import Audio
import Foundation

/// The whole job as two ffmpeg commands: one that measures, and one that applies the gain and
/// writes the three files from one filter graph.
///
/// One filter thread is this ffmpeg's fastest setting; other forms of its biquads, double
/// precision and other places to convert the samples made no difference or a loss.
struct FFmpegMastering {
  /// The figures of `Pipelines/whole-job.yaml`. Thresholds, the gate's range and the knee are
  /// amplitudes here. Spool's gate shuts and does not expand downwards, hence the ratio; and it
  /// hears peaks, as its compressor does. With ffmpeg's own defaults there, more noise is left
  /// out, and the AAC encoder has a fifth less to do.
  static let filters = """
    highpass=f=80,lowshelf=f=200:g=-2,equalizer=f=3200:t=q:w=0.9:g=3,highshelf=f=9000:g=1.5,\
    agate=threshold=0.005623:range=0.0631:attack=2:release=120:ratio=9000\
    :detection=peak:link=maximum,\
    acompressor=threshold=0.1259:ratio=3:knee=1.995:attack=8:release=120\
    :detection=peak:link=maximum
    """
  private static let loudness = LUFS(-16)
  private static let ceiling = Decibels(-1)

  let workshop: Workshop
  let recording: String

  /// Runs both commands; the files are in `folder` afterwards.
  func run(into folder: String) throws(BenchmarkError) -> ProcessUsage {
    let log = workshop.file("ffmpeg-measure.log")
    let measuring = try ChildProcess(
      workshop.ffmpeg,
      Self.common + [
        "-filter_threads", "1", "-i", recording,
        "-af", Self.filters + ",ebur128=peak=true:framelog=verbose", "-f", "null", "-",
      ], outputPath: log
    ).wait()
    let levels = try Levels(ofLog: log)
    let applying = try ChildProcess(
      workshop.ffmpeg,
      Self.common + [
        "-filter_complex_threads", "1", "-i", recording, "-filter_complex",
        "[0:a]\(Self.filters),\(gain(for: levels)),asplit=3[wav][m4a][alac]",
        "-map", "[wav]", "-c:a", "pcm_s24le", folder + "/programme.wav",
        "-map", "[m4a]", "-c:a", "aac", "-b:a", "128k", folder + "/programme.m4a",
        "-map", "[alac]", "-c:a", "alac", "-sample_fmt", "s32p", folder + "/programme.alac.m4a",
      ], outputPath: workshop.file("ffmpeg-apply.log")
    ).wait()
    return measuring + applying
  }

  private static let common = ["-nostdin", "-hide_banner", "-nostats", "-y"]

  /// The gain to the target, and a limiter only where a peak would pass the ceiling.
  private func gain(for levels: Levels) -> String {
    let gain = Self.loudness.value - levels.integrated.value
    let volume = "volume=\(Text.number(gain))dB:precision=double"
    guard levels.truePeak.value + gain > Self.ceiling.value else { return volume }
    return volume + ",alimiter=limit=\(Text.number(pow(10, Self.ceiling.value / 20), 4))"
      + ":level=disabled"
  }
}
