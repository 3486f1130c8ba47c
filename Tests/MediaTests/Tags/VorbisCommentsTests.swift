import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("Vorbis comments", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct VorbisCommentsTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func both(_ path: String) throws -> (comment: String?, description: String?)? {
    VorbisComments(try ContainerBytes(path: path))?.commentAndDescription
  }

  @Test("may be spoilt or cut off anywhere", arguments: ["flac", "ogg", "opus"])
  func spoilt(container: String) throws {
    let path = scratch.file("a." + container)
    try FFmpeg.run(FFmpeg.sound(seconds: 0.2) + ["-metadata", "comment=Take", path])
    let found = try #require(try both(path))
    #expect(found.comment == nil && found.description == "Take", "as ffmpeg calls it")
    let intact = Array(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(400))
    for offset in intact.indices {
      for value in [0, 0x7F, 0xFF] as [UInt8] {
        var spoilt = intact
        spoilt[offset] = value
        try Data(spoilt).write(to: URL(fileURLWithPath: path))
        _ = try both(path)
      }
      try Data(intact.prefix(offset)).write(to: URL(fileURLWithPath: path))
      _ = try both(path)
    }
  }

  @Test(
    "have both, and several of a name",
    .enabled(if: Program(named: "flac") != nil, "the flac program is not installed"))
  func severalOfAName() throws {
    let (wave, path) = (scratch.file("a.wav"), scratch.file("a.flac"))
    try FFmpeg.run(FFmpeg.sound(seconds: 0.2) + [wave])
    let tags = ["Comment=one", "DESCRIPTION=about", "COMMENT=two", "TITLE=x"]
    _ = try Reference.output("flac", ["-s", "-o", path, wave] + tags.flatMap { ["-T", $0] })
    let found = try #require(try both(path))
    #expect(found.comment == "one;two" && found.description == "about")
    let several = VorbisComments(try ContainerBytes(path: path))?.severalValues
    #expect(several == ["comment": ["one", "two"]])
  }

  @Test("are drafted under names of the same length, each its own, where a name has several")
  func drafts() {
    let values = (1...12).map { "value \($0)" }
    let several = [
      "track": ["1", "2"], "isrc": values, "x": ["a", "b"], "artist": ["one", "two"],
    ]
    var tags = several.mapValues(VorbisComments.joined)
    tags["artist"] = "stated"
    let draft = VorbisComments.draft(of: tags, severalValues: several)
    #expect(draft.tags["artist"] == "stated", "what is no joined text stays")
    #expect(draft.tags["x"] == "a;b", "there is no room for another name")
    #expect(draft.tags["isrc"] == values[0] && draft.tags["track"] == "1")
    #expect(draft.names.count == 12 && draft.tags.count == 16)
    for (name, written) in draft.names {
      #expect(name.utf8.count == written.utf8.count && name.hasPrefix("~"))
    }
    #expect(
      draft.names.filter { $0.value == "isrc" }.keys.sorted().map { draft.tags[$0] }
        == Array(values.dropFirst()))
  }
}
