import Foundation
import TestSupport
import Testing

@Suite(
  "An export says what it loses, and takes over nothing that is no longer true",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ExportWarningTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func pipeline(_ stages: String) throws -> String {
    try place.pipeline(
      "pipeline: loss\ninputs: { take: sound }\nstages:\n  - decode: { from: $take }\n\(stages)\n")
  }

  private func tags(of path: String) throws -> [String: String] { try SoundFacts(of: path).tags }

  /// A tone of 48,000 frames whose peaks lie 6 dB over full scale, as floats.
  private func overloaded(_ name: String = "hot.wav") throws -> String {
    let path = place.file(name)
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "aevalsrc='2*sin(2*PI*997*t)':s=48000:d=1", "-c:a", "pcm_f32le", path,
    ])
    return path
  }

  @Test("tags that say how loud the recording is end where its level ends")
  func loudnessTags() throws {
    let take = place.file("take.flac")
    try Reference.record(
      take, seconds: 3,
      coding: [
        "-metadata", "REPLAYGAIN_TRACK_GAIN=-7.5 dB", "-metadata", "R128_TRACK_GAIN=-1000",
        "-metadata", "iTunNORM=00000A", "-metadata", "title=Song", "-metadata", "mood=calm",
      ])
    let plain = try place.spool(["convert", "take.flac", "-o", "plain.mp3"])
    try #require(plain.exitCode == 0, "\(plain.errorOutput)")
    let kept = try tags(of: place.file("plain.mp3"))
    #expect(kept["replaygain_track_gain"] == "-7.5 dB" && kept["r128_track_gain"] == "-1000")
    let quick = try place.spool(["normalize", "take.flac", "-t", "-20", "-o", "level.mp3"])
    try #require(quick.exitCode == 0, "\(quick.errorOutput)")
    let run = try place.run(pipeline("  - gain: -1 dB\n  - export: [flac, opus]"), [take])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    for path in [place.file("level.mp3"), place.out + "/take.flac", place.out + "/take.opus"] {
      let left = try tags(of: path)
      #expect(
        !left.keys.contains { name in
          ["replaygain", "r128", "itunnorm"].contains { name.hasPrefix($0) }
        }, "\(path): \(left)")
      #expect(left["title"] == "Song" && left["mood"] == "calm", "\(path)")
    }
  }

  @Test(
    "a bit rate that the format does not have at the recording's rate is told, with those it has")
  func bitRates() throws {
    let take = place.file("take.wav")
    try Reference.record(take, seconds: 2, coding: ["-ar", "16000", "-ac", "1"])
    for (rate, ending, said) in [
      ("320k", "mp3", "it has at most 160"), ("320k", "m4a", "it has at most 96"),
      ("320k", "opus", "it has at most 256"), ("160k", "mp3", nil), ("96k", "opus", nil),
    ] {
      let result = try place.spool([
        "convert", "take.wav", "-o", "\(rate).\(ending)", "-b", rate, "--replace",
      ])
      try #require(result.exitCode == 0, "\(result.errorOutput)")
      #expect(
        result.errorOutput.contains(said ?? "it has at") == (said != nil),
        "\(rate) \(ending): \(result.errorOutput)")
    }
    let low = try place.spool(
      ["convert", "take.wav", "-o", "low.mp3", "-b", "16k", "--sample-rate", "44100"])
    #expect(low.errorOutput.contains("it has at least 32"), "\(low.errorOutput)")
    // Nobody has asked for the usual rate.
    let run = try place.run(pipeline("  - resample: 8 kHz\n  - export: [m4a, mp3]"), [take])
    #expect(run.exitCode == 0 && !run.errorOutput.contains("it has at"), "\(run.errorOutput)")
  }

  @Test("what a step warned of is said again where its work is reused, and stands in the records")
  func reused() throws {
    let hot = try overloaded()
    let pipeline = try pipeline("  - export: [wav]")
    for _ in 0..<2 {
      let run = try place.run(pipeline, [hot])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      #expect(run.warnings.count { $0.contains("over full scale") } == 1, "\(run.errorOutput)")
      let shown = try place.spool(["runs", "show", "last"])
      #expect(shown.text.contains("\nwarning: export: "), "\(shown.text)")
      let record = try place.spool(["runs", "show", "last", "--json"])
      #expect(record.text.contains(#""warnings":["#), "\(record.text)")
    }
    let folder = place.file("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: hot, toPath: folder + "/hot.wav")
    for number in 0..<2 {
      let batch = try place.spool(["batch", pipeline, folder, "--out", place.file("all")])
      try #require(batch.exitCode == 0, "\(batch.errorOutput)")
      #expect(
        batch.text.contains("warnings of earlier batches about 1 reused file") == (number == 1))
      let report = try String(contentsOfFile: place.file("all") + "/batch.json", encoding: .utf8)
      #expect(report.contains(#""warnings":{"export":["#), "\(report)")
    }
  }

  @Test("samples over full scale are counted where integers clip them, in one warning")
  func clipped() throws {
    let hot = try overloaded()
    let run = try place.run(pipeline("  - measure: {}\n  - export: [wav, flac, m4a]"), [hot])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let samples = try Reference.floats(of: hot)
    let count = samples.count { abs($0) > 1 }
    #expect(count > 10_000)
    #expect(
      run.warnings == [
        "\(count) samples lie up to 6.02 dB over full scale and are clipped in wav, flac: put "
          + "normalize or limit above, or keep them with wav: { bits: float }"
      ])
    let kept = try place.run(
      pipeline("  - export: { formats: [wav], wav: { bits: float }, name: kept }"), [hot])
    #expect(kept.exitCode == 0 && kept.warnings == [])
    #expect(try Reference.floats(of: place.out + "/kept.wav") == samples)
    let quick = try place.spool(["convert", "hot.wav", "-o", "hot.flac", "--json"])
    #expect(quick.exitCode == 0, "\(quick.errorOutput)")
    #expect(quick.text.contains("\(count) samples lie up to 6.02 dB over full scale"))
    #expect(quick.text.contains("spool normalize brings them down"))
    let split = try place.run(
      pipeline("  - split: { at: [0.5 s], formats: [wav] }"), [hot])
    #expect(split.exitCode == 0, "\(split.errorOutput)")
    #expect(split.warnings.filter { $0.hasPrefix("\(count) samples lie") }.count == 1)
  }

  @Test("a mix over full scale is no matter where normalize follows")
  func levelledMix() throws {
    let hot = [try overloaded("a.wav"), try overloaded("b.wav")]
    var volume = 100
    func mix(_ stages: String) throws -> SpoolRun {
      // Each mix is another one: what is reused warns of nothing.
      volume -= 1
      let text = try place.pipeline(
        """
        pipeline: mix
        inputs: { tracks: sound+ }
        stages:
          - mixdown: { from: $tracks, master-volume: 0.\(volume) }
        \(stages)  - export: { formats: [wav], name: mix }

        """)
      let run = try place.run(text, hot, ["--replace"])
      #expect(run.exitCode == 0 && run.made.contains("mixdown"), "\(run.errorOutput)")
      return run
    }
    let plain = try mix("")
    #expect(plain.warnings.contains { $0.contains("the mix goes") }, "\(plain.errorOutput)")
    let normalize = "  - normalize: { loudness: -20 LUFS }\n"
    for level in [
      normalize, "  - limit: -1 dBTP\n", "  - fade: { out: 0.1 s }\n" + normalize,
      "  - measure\n  - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }\n  - compress: {}\n"
        + normalize,
      "  - concat: { from: [mixdown, mixdown] }\n" + normalize,
    ] {
      let run = try mix(level)
      #expect(run.warnings.filter { $0.contains("over full scale") } == [], "\(level)")
    }
    for way in [
      "  - fade: { out: 0.1 s }\n", "  - export: { formats: [flac], name: hot }\n" + normalize,
    ] {
      let warnings = try mix(way).warnings
      #expect(warnings.contains { $0.contains("the mix goes") }, "\(way) \(warnings)")
    }
  }

  @Test("of several sound streams, the run says which is taken")
  func streams() throws {
    let film = place.file("film.mkv")
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "sine=440:d=1", "-f", "lavfi", "-i", "sine=880:d=1", "-map", "0", "-map",
      "1", "-c:a", "pcm_s16le", film,
    ])
    let text = try pipeline("  - export: [wav]")
    let run = try place.run(text, [film])
    #expect(
      run.warnings == [
        "stream 0 is taken of 2 sound streams; decode: { stream: N } takes another one: 1"
      ])
    let chosen = try place.pipeline(
      "pipeline: loss\ninputs: { take: sound }\nstages:\n"
        + "  - decode: { from: $take, stream: 1 }\n  - export: { formats: [wav], name: other }\n")
    #expect(try place.run(chosen, [film]).warnings == [])
  }
}
