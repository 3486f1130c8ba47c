import Foundation

/// Recordings for the benchmarks to work on, made once by ffmpeg: talk from two of the samples,
/// music-like tones and room noise, at changing levels; 48 kHz stereo AAC at 128 kbit/s, and what is
/// made of that.
struct Material {
  private let workshop: Workshop

  init(_ workshop: Workshop) { self.workshop = workshop }

  /// The path of a recording of so many minutes.
  func programme(minutes: Int) throws(BenchmarkError) -> String {
    try made(
      "programme-\(minutes).m4a", arguments(minutes: minutes), "\(minutes) minutes of material")
  }

  /// The path of the same recording as 16-bit WAV.
  func wave(minutes: Int) throws(BenchmarkError) -> String {
    let programme = try programme(minutes: minutes)
    return try made(
      "programme-\(minutes).wav",
      ["-nostdin", "-hide_banner", "-nostats", "-y", "-i", programme, "-c:a", "pcm_s16le"],
      "\(minutes) minutes of WAV")
  }

  /// The paths of so many 16-bit WAV files, by turns mono and stereo: the recording, each time from
  /// another second on.
  func tracks(count: Int, minutes: Int) throws(BenchmarkError) -> [String] {
    let programme = try programme(minutes: minutes)
    var paths: [String] = []
    for number in 0..<count {
      paths.append(
        try made(
          "track-\(minutes)-\(number).wav",
          [
            "-nostdin", "-hide_banner", "-nostats", "-y", "-ss", "\(number)", "-i", programme,
            "-ac", "\(number % 2 + 1)", "-c:a", "pcm_s16le",
          ], "track \(number + 1) of \(count)"))
    }
    return paths
  }

  /// The path of a file that ffmpeg makes, once for each recipe.
  private func made(
    _ name: String, _ recipe: [String], _ title: String
  ) throws(BenchmarkError) -> String {
    let path = workshop.file(name)
    let recipePath = path + ".recipe"
    let written = recipe.joined(separator: "\n")
    if (try? String(contentsOfFile: recipePath, encoding: .utf8)) == written { return path }
    report("Making \(title), once")
    // The recipe is written last: a recording that was cut off has none.
    try? FileManager.default.removeItem(atPath: recipePath)
    _ = try ChildProcess(
      workshop.ffmpeg, recipe + [path], outputPath: workshop.file("material.log")
    ).wait()
    do {
      try written.write(toFile: recipePath, atomically: true, encoding: .utf8)
    } catch {
      throw BenchmarkError("cannot write \(recipePath)", "\(error)")
    }
    return path
  }

  private func arguments(minutes: Int) -> [String] {
    [
      "-nostdin", "-hide_banner", "-nostats", "-y",
      "-stream_loop", "-1", "-i", workshop.packageFile("samples/take.flac"),
      "-stream_loop", "-1", "-i", workshop.packageFile("samples/note-2.m4a"),
      "-filter_complex", Self.sound, "-map", "[programme]", "-t", "\(60 * minutes)",
      "-c:a", "aac", "-b:a", "128k", "-fflags", "+bitexact", "-flags", "+bitexact",
    ]
  }

  /// The first talker comes and goes by 6 dB and falls back by 12 dB for a quarter of every
  /// minute; music plays for a third of every two minutes.
  private static let sound = """
    [0:a]aresample=48000,aformat=channel_layouts=stereo,\
    volume='pow(10,(-3+6*sin(2*PI*t/37)-12*gt(mod(t,60),45))/20)':eval=frame[talk];\
    [1:a]aresample=48000,aformat=channel_layouts=stereo,volume=-8dB,adelay=7000|7009[guest];\
    aevalsrc=s=48000:exprs='\
    between(mod(t,120),60,100)*(0.05*sin(2*PI*110*t)*(1+sin(PI*t))\
    +0.04*sin(2*PI*277.18*t)*exp(-3*mod(t,0.5)))|\
    between(mod(t,120),60,100)*(0.05*sin(2*PI*110*t)*(1+cos(PI*t))\
    +0.04*sin(2*PI*659.26*t)*exp(-5*mod(t,0.25)))'[music];\
    anoisesrc=color=pink:sample_rate=48000:amplitude=0.004:seed=11[left];\
    anoisesrc=color=pink:sample_rate=48000:amplitude=0.004:seed=12[right];\
    [left][right]join=inputs=2:channel_layout=stereo[room];\
    [talk][guest][music][room]amix=inputs=4:normalize=0:duration=first[programme]
    """
}
