import Audio
import Foundation
import Media
import Platform
import TestSupport
import Testing

@Suite("Markers", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct MarkerTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// A chunk of a RIFF file, padded to an even length.
  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + number(body.count) + body + (body.count % 2 == 1 ? [0] : [])
  }

  private static func number(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func points(_ points: [(number: Int, frame: Int)]) -> [UInt8] {
    var list = number(points.count)
    for point in points {
      list += number(point.number) + number(point.frame) + Array("data".utf8)
      list += number(0) + number(0) + number(point.frame)
    }
    return chunk("cue ", list)
  }

  private static func names(_ names: [(number: Int, name: String)]) -> [UInt8] {
    var list = Array("adtl".utf8)
    for (index, name) in names { list += chunk("labl", number(index) + Array(name.utf8) + [0]) }
    return chunk("LIST", list)
  }

  /// A second of sound at 8 kHz with these chunks before and behind it.
  private func wave(before: [UInt8] = [], behind: [UInt8] = []) throws -> String {
    let format =
      [1, 0, 1, 0] as [UInt8] + Self.number(8000) + Self.number(16_000) + [2, 0, 16, 0]
    let body =
      Array("WAVE".utf8) + Self.chunk("fmt ", format) + before
      + Self.chunk("data", Array(repeating: 1, count: 16_000)) + behind
    let path = scratch.file("marked.wav")
    try Data(Array("RIFF".utf8) + Self.number(body.count) + body).write(
      to: URL(fileURLWithPath: path))
    return path
  }

  @Test("are the cue points of a WAV file, with their names, in order of time")
  func cues() throws {
    let cues = Self.points([(7, 6000), (1, 2000), (3, 4000)])
    let names = Self.names([(1, "Bell"), (7, "Door")])
    let expected = [
      MediaProbe.Marker(time: Seconds(0.25), title: "Bell"), MediaProbe.Marker(time: Seconds(0.5)),
      MediaProbe.Marker(time: Seconds(0.75), title: "Door"),
    ]
    #expect(try MediaProbe.markers(of: SourceFile(wave(behind: cues + names))) == expected)
    #expect(try MediaProbe.markers(of: SourceFile(wave(before: cues + names))) == expected)
  }

  @Test("keep every name behind notes and lengths of stretches, which libavformat stops at")
  func notes() throws {
    let cues = Self.points([(1, 0), (2, 2000), (3, 4000), (4, 6000)])
    var list = Array("adtl".utf8)
    for (number, name) in [(1, "Bell"), (2, "Tür")] {
      list += Self.chunk("labl", Self.number(number) + Array(name.utf8) + [0])
      list += Self.chunk("note", Self.number(number) + Array("A remark\0".utf8))
      let stretch = Self.number(480) + Array("rgn ".utf8) + Self.number(0) + Self.number(0)
      list += Self.chunk("ltxt", Self.number(number) + stretch)
    }
    list += Self.chunk("note", Self.number(3) + Array("Only a note\0".utf8))
    list += Self.chunk("labl", Self.number(4) + Array("Door\0".utf8))
    let path = try wave(behind: cues + Self.chunk("LIST", list))
    #expect(
      try MediaProbe.markers(of: SourceFile(path)).map(\.title) == [
        "Bell", "Tür", "Only a note", "Door",
      ])
    let markers = try MediaProbe.describe(SourceFile(path)).markers
    #expect(markers.map(\.time.value) == [0, 0.25, 0.5, 0.75])
  }

  @Test("are the chapters of other containers", arguments: ["m4a", "mka", "mp3"])
  func chapters(container: String) throws {
    let list = try scratch.write(
      """
      ;FFMETADATA1
      [CHAPTER]
      TIMEBASE=1/1000
      START=0
      END=1500
      title=Intro
      [CHAPTER]
      TIMEBASE=1/1000
      START=1500
      END=3000
      title=Verse = one
      """, to: "chapters.txt")
    let path = scratch.file("a." + container)
    try FFmpeg.run(FFmpeg.sound() + ["-i", list, "-map_metadata", "1", "-map_chapters", "1", path])
    let markers = try MediaProbe.markers(of: SourceFile(path))
    #expect(markers.map(\.title) == ["Intro", "Verse = one"])
    #expect(markers.map { ($0.time.value * 1000).rounded() } == [0, 1500])
  }

  @Test("are the chapters that comments tell of", arguments: ["ogg", "opus", "flac"])
  func comments(container: String) throws {
    let path = scratch.file("a." + container)
    let comments = [
      "CHAPTER001=00:00:01.500", "CHAPTER001NAME=Song", "CHAPTER000=00:00:00.250",
    ]
    try FFmpeg.run(FFmpeg.sound() + comments.flatMap { ["-metadata", $0] } + [path])
    #expect(
      try MediaProbe.markers(of: SourceFile(path)) == [
        MediaProbe.Marker(time: Seconds(0.25)),
        MediaProbe.Marker(time: Seconds(1.5), title: "Song"),
      ])
  }

  @Test("are none where a file marks nothing, or is no recording")
  func none() throws {
    #expect(try MediaProbe.markers(of: SourceFile(wave())) == [])
    let path = scratch.file("a.flac")
    try FFmpeg.run(FFmpeg.sound(seconds: 1) + [path])
    #expect(try MediaProbe.markers(of: SourceFile(path)) == [])
    #expect(throws: SpoolError.self) {
      try MediaProbe.markers(of: SourceFile(scratch.file("absent.wav")))
    }
  }
}
