import Foundation
import TestSupport
import Testing

/// What a file cannot hold of its recording is told once.
@Suite(
  "An export with less than its recording says so",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ExportLossTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func warnings(_ recording: String, _ export: String) throws -> [String] {
    let run = try place.run(
      place.pipeline(
        "pipeline: p\ninputs: { r: sound }\nstages:\n  - decode\n  - export: \(export)\n"),
      [recording])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return run.warnings
  }

  @Test("of 32 bit integers, and names the option that keeps more")
  func bits() throws {
    let path = place.file("take.wav")
    try Reference.record(path, seconds: 1, coding: ["-c:a", "pcm_s32le"])
    let rest =
      "file is written with less than the recording has: "
      + "24 bit, the recording has 32 (wav: { bits: float } keeps more)"
    #expect(
      try warnings(path, "[wav, flac, m4a]") == ["the wav \(rest)", "the flac \(rest)"])
    #expect(try warnings(path, "{ formats: [wav], wav: { bits: float } }") == [])
    // Who asks for 16 bit knows.
    #expect(try warnings(path, "{ formats: [wav], wav: { bits: 16 } }") == [])
    // The quick commands have options, and no parameters.
    let quick = try place.spool(["normalize", path, "-o", place.file("quick.flac")])
    #expect(quick.exitCode == 0)
    #expect(
      quick.errorOutput.contains("32 (a WAV file with --bits float keeps more)"),
      "\(quick.errorOutput)")
    // Of 32 bit by name alone: every sample fits into 24.
    let padded = place.file("padded.wav")
    try Reference.ffmpeg(["-i", place.file("quick.flac"), "-c:a", "pcm_s32le", padded])
    #expect(try warnings(padded, "[wav, flac]") == [])
    #expect(try Reference.floats(of: place.out + "/padded.wav") == Reference.floats(of: padded))
    let usual = place.file("usual.wav")
    try Reference.record(usual, seconds: 1, coding: ["-c:a", "pcm_s24le"])
    #expect(try warnings(usual, "[wav, flac]") == [])
  }

  @Test("of picture and chapters in WAV, which other formats have")
  func picture() throws {
    let cover = place.file("cover.png")
    _ = try Reference.ffmpeg(["-f", "lavfi", "-i", "color=red:s=64x48", "-frames:v", "1", cover])
    let bare = place.file("bare.flac")
    let chapter = ["-metadata", "CHAPTER000=00:00:01.000", "-metadata", "CHAPTER000NAME=One"]
    try Reference.record(bare, seconds: 3)
    let path = place.file("take.flac")
    _ = try Reference.ffmpeg(
      ["-i", bare, "-i", cover, "-map", "0:a", "-map", "1:v", "-c", "copy"] + chapter
        + ["-disposition:v", "attached_pic", path])
    #expect(
      try warnings(path, "[wav, flac, m4a, mp3]") == [
        "the wav file is written with less than the recording has: no picture; no chapters"
      ])
    #expect(
      try warnings(path, "{ formats: [wav], tags: false, chapters: false }") == [])
  }

  @Test("of the tags that M4A and WAV have no place for, and of no others")
  func tags() throws {
    let names = [
      "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre",
      "copyright", "grouping", "lyrics", "description", "synopsis", "show", "episode_id", "network",
      "keywords", "track", "disc", "compilation", "isrc", "label", "replaygain_track_gain",
      "musicbrainz_trackid", "bpm", "encoded_by", "performer", "publisher",
    ]
    let path = place.file("take.mp3")
    func record(_ path: String, _ names: [String]) throws {
      let values = names.flatMap { name in
        [
          "-metadata",
          "\(name)=\(["track", "disc", "compilation"].contains(name) ? "1" : "Some \(name)")",
        ]
      }
      try Reference.record(path, seconds: 1, coding: values)
    }
    try record(path, names)
    let read = try tags(of: path)
    for (format, file) in [("m4a", "take.m4a"), ("alac", "take.alac.m4a"), ("wav", "take.wav")] {
      let warning = try #require(try warnings(path, "[\(format)]").first)
      let lost = read.subtracting(try tags(of: place.out + "/" + file))
      let told = try #require(warning.split(separator: "without the tags ").last)
      let shown = told.split(separator: " and ")[0].split(separator: ", ").map(String.init)
      let rest = told.split(separator: " and ").dropFirst().first.flatMap {
        Int($0.prefix { $0 != " " })
      }
      #expect(
        Set(shown).isSubset(of: lost) && shown.count + (rest ?? 0) == lost.count,
        "\(warning) \(lost)")
    }
    #expect(try warnings(path, "[flac, mp3, ogg, opus]") == [])
  }

  /// The names of a file's tags, as ffprobe reads them.
  private func tags(of path: String) throws -> Set<String> {
    struct Report: Decodable {
      struct Part: Decodable { let tags: [String: String]? }
      let format: Part
    }
    let text = try Reference.output(
      "ffprobe", ["-v", "error", "-of", "json", "-show_entries", "format_tags", path])
    let tags = try JSONDecoder().decode(Report.self, from: text).format.tags ?? [:]
    let technical = ["encoder", "major_brand", "minor_version", "compatible_brands"]
    return Set(tags.keys.map { $0.lowercased() }).subtracting(technical)
  }
}
