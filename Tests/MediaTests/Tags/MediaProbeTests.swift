import Audio
import Media
import Platform
import TestSupport
import Testing

@Suite("A media probe", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct MediaProbeTests {
  let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  @Test("describes a recording")
  func describes() throws {
    let path = scratch.file("a.flac")
    try FFmpeg.run(
      FFmpeg.sound(channels: 1, rate: 44100, seconds: 2)
        + ["-sample_fmt", "s32", "-metadata", "TITLE=Rain", "-metadata", "noteId=42", path])
    let found = try MediaProbe.describe(SourceFile(path))
    #expect(found.container == "flac")
    #expect(found.codec == "flac")
    #expect(found.format == AudioFormat(sampleRate: Hertz(44100), channelCount: 1))
    #expect(found.bitDepth == 24)
    #expect(found.expectedFrames == Frames(88200))
    #expect(found.duration == Seconds(2))
    #expect(found.tags["title"] == "Rain")
    #expect(found.tags["noteid"] == "42")
    #expect(!found.hasCoverArt)
    #expect(try MediaProbe.coverArt(of: SourceFile(path)) == nil)
  }

  @Test("finds the tags of the sound stream, which is where Ogg has them")
  func streamTags() throws {
    let path = scratch.file("a.ogg")
    try FFmpeg.run(
      FFmpeg.sound(seconds: 1) + ["-c:a", "libopus", "-metadata", "title=Rain", path])
    #expect(try MediaProbe.describe(SourceFile(path)).tags["title"] == "Rain")
  }

  @Test("finds the sound behind a picture, and the picture")
  func picture() throws {
    let cover = scratch.file("cover.png")
    try FFmpeg.run(["-f", "lavfi", "-i", "color=red:s=64x48", "-frames:v", "1", cover])
    let path = scratch.file("song.mp3")
    try FFmpeg.run(
      ["-i", cover] + FFmpeg.sound(seconds: 1)
        + ["-map", "0:v", "-map", "1:a", "-c:v", "copy", "-disposition:v", "attached_pic", path])
    let found = try MediaProbe.describe(SourceFile(path))
    #expect(found.codec == "mp3")
    #expect(found.bitDepth == nil)
    #expect(found.hasCoverArt)
    #expect(try MediaProbe.coverArt(of: SourceFile(path))?.mimeType == "image/png")
  }

  @Test("knows the libraries it works with")
  func versions() throws {
    let program = try #require(Program(named: "ffmpeg"))
    let text = try program.run(["-version"]).text.filter { $0 != " " }
    let versions = MediaLibraries.versions
    #expect(versions.count == 3)
    for (library, version) in versions {
      #expect(text.contains("\(library)\(version)/"), "\(library) \(version)")
    }
    let encoders = MediaLibraries.encoderVersions.filter { versions[$0.key] == nil }
    #expect(encoders.keys.sorted() == ["libmp3lame", "libopus", "libvorbis"])
    #expect(encoders.values.allSatisfy { $0.contains(/[0-9]\.[0-9]/) })
  }
}
