import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("What AIFF and CAF files tell, and FLAC files of the file that they were made of")
struct InterchangeChunksTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private static func big(_ value: Int, _ count: Int) -> [UInt8] { value.bigEndianBytes(count) }

  /// A chunk of an AIFF file.
  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + big(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
  }

  private static func marker(_ number: Int, _ frame: Int, _ name: String) -> [UInt8] {
    let text = Array(name.utf8)
    return big(number, 2) + big(frame, 4) + big(text.count, 1) + text
      + (text.count % 2 == 0 ? [0] : [])
  }

  private static func comment(_ text: String, on marker: Int) -> [UInt8] {
    big(0, 4) + big(marker, 2) + big(text.utf8.count, 2) + Array(text.utf8)
      + (text.utf8.count % 2 == 1 ? [0] : [])
  }

  private static let aiffChunks: [UInt8] = {
    var body = chunk(
      "MARK", big(3, 2) + marker(7, 6000, "Door") + marker(1, 2000, "Bell!") + marker(2, 9, ""))
    body += chunk("COMT", big(2, 2) + comment("On it", on: 7) + comment("Of all", on: 0))
    body += chunk("ANNO", Array("First".utf8)) + chunk("ANNO", Array("Second".utf8))
    return body
  }()

  private static let aiff: [UInt8] = {
    let body =
      Array("AIFF".utf8) + aiffChunks + chunk("INST", [UInt8](repeating: 0, count: 20))
      + chunk("SSND", [UInt8](repeating: 0, count: 33))
    return Array("FORM".utf8) + big(body.count, 4) + body
  }()

  private static let caf: [UInt8] = {
    func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
      Array(name.utf8) + big(body.count, 8) + body
    }
    func marker(_ number: Int, _ frame: Double) -> [UInt8] {
      Array("gene".utf8) + big(Int(bitPattern: UInt(frame.bitPattern)), 8) + big(number, 4)
        + [UInt8](repeating: 0xFF, count: 8) + big(0, 4)
    }
    let names = Array("Bell\0Door\0".utf8)
    return Array("caff".utf8) + big(1, 2) + big(0, 2)
      + chunk("mark", big(0, 4) + big(2, 4) + marker(40, 2000) + marker(30, 6000))
      + chunk("strg", big(2, 4) + big(40, 4) + big(0, 8) + big(30, 4) + big(5, 8) + names)
      + chunk("data", big(0, 4) + [1, 2, 3, 4])
  }()

  private func notes(_ bytes: [UInt8]) throws -> BroadcastMetadata {
    let path = scratch.file("a")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try BroadcastMetadata(of: path)
  }

  private func markers(_ notes: BroadcastMetadata) -> [String] {
    (notes.cues?.markers(at: Hertz(1000)) ?? []).map { "\($0.time.value) \($0.title ?? "-")" }
  }

  @Test("are the markers of AIFF, its comments and all its annotations")
  func aiffChunks() throws {
    let notes = try notes(Self.aiff)
    #expect(markers(notes) == ["0.009 -", "2.0 Bell!", "6.0 Door"])
    #expect(notes.cues?.labels.filter { $0.name == "note" }.map(\.number) == [7])
    #expect(notes.annotations == ["First", "Second", "Of all"])
    #expect(notes.otherChunks == ["INST"])
  }

  @Test("are the markers of CAF with their names")
  func cafChunks() throws {
    let notes = try notes(Self.caf)
    #expect(markers(notes) == ["2.0 Bell", "6.0 Door"])
    #expect(notes.otherChunks == [])
  }

  @Test("may be spoilt anywhere")
  func spoilt() throws {
    for intact in [Self.aiff, Self.caf] {
      for offset in intact.indices {
        var spoilt = intact
        spoilt[offset] = spoilt[offset] == 0xFF ? 0x7F : 0xFF
        _ = try notes(spoilt)
        _ = try notes(Array(intact.prefix(offset)))
      }
    }
  }

  @Test(
    "are the chunks that flac keeps",
    .enabled(if: Program(named: "flac") != nil, "the flac program is not installed"),
    arguments: ["wav", "rf64", "w64", "aiff"])
  func foreign(kind: String) throws {
    let path = scratch.file("a." + kind)
    if kind == "aiff" {
      try FFmpeg.run(FFmpeg.sound(seconds: 1) + ["-c:a", "pcm_s16be", path])
      var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
      bytes += Self.aiffChunks
      bytes.replaceSubrange(4..<8, with: Self.big(bytes.count - 8, 4))
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    } else {
      let chunks: [(String, [UInt8])] = [
        ("bext", WaveBytes.bext("Take 3", time: 9, history: "A=ANALOGUE\r\n")),
        ("cue ", WaveBytes.cue([(1, 2000)])), ("LIST", WaveBytes.names([(1, "Bell")])),
        ("LIST", Array("INFO".utf8) + WaveBytes.chunk("IARL", Array("Shelf 9\0".utf8))),
      ]
      let bytes =
        switch kind {
        case "wav": WaveBytes.riff(behind: chunks.flatMap { WaveBytes.chunk($0.0, $0.1) })
        case "rf64": WaveBytes.rf64(behind: chunks.flatMap { WaveBytes.chunk($0.0, $0.1) })
        default:
          WaveBytes.wave64(
            behind: chunks.flatMap {
              WaveBytes.wave64Chunk($0.0 == "LIST" ? "list" : $0.0, $0.1)
            })
        }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
    let made = scratch.file("a.flac")
    _ = try Reference.output("flac", ["-s", "--keep-foreign-metadata", "-o", made, path])
    let notes = try BroadcastMetadata(of: made)
    if kind == "aiff" {
      #expect(markers(notes) == ["0.009 -", "2.0 Bell!", "6.0 Door"])
      #expect(notes.annotations == ["First", "Second", "Of all"])
    } else {
      #expect(notes.bext?.description == "Take 3")
      #expect(markers(notes) == ["2.0 Bell"])
      #expect(notes.information == ["iarl": "Shelf 9"])
    }
    #expect(
      try MediaProbe.markers(of: SourceFile(made)).contains { $0.title?.hasPrefix("Bell") == true })
  }
}
