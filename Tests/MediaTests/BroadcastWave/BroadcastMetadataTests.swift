import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("What a WAV file tells")
struct BroadcastNotesTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private static let history = "A=ANALOGUE,M=stereo,T=Studer A80\r\n"
  private static let chunks: [(name: String, body: [UInt8])] = [
    ("bext", WaveBytes.bext("Take 3", time: 172_800_001, history: history)),
    ("iXML", Array("<BWFXML/>".utf8)),
    ("cue ", WaveBytes.cue([(7, 6000), (1, 2000)])),
    ("LIST", WaveBytes.names([(1, "Bell"), (7, "Door!")])),
  ]

  private func notes(_ bytes: [UInt8]) throws -> BroadcastMetadata {
    let path = scratch.file("a.wav")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try BroadcastMetadata(of: path)
  }

  private func expectAll(_ notes: BroadcastMetadata) {
    #expect(notes.bext?.description == "Take 3")
    #expect(notes.bext?.originator == "Recorder 7")
    #expect(notes.bext?.originationDate == "2026-03-14")
    #expect(notes.bext?.timeReference == 172_800_001)
    #expect(notes.bext?.codingHistory == Self.history)
    #expect(notes.iXML == Array("<BWFXML/>".utf8))
    #expect(notes.cues?.points.map(\.frame) == [6000, 2000])
    #expect(notes.cues?.points.map(\.number) == [7, 1])
    #expect(notes.cues?.cue == Self.chunks[2].body)
    #expect(notes.cues?.list == Self.chunks[3].body)
  }

  @Test("is found before and behind the sound, in RIFF, RF64 and Wave64")
  func everywhere() throws {
    let chunks = Self.chunks.flatMap { WaveBytes.chunk($0.name, $0.body) }
    let long = Self.chunks.flatMap {
      WaveBytes.wave64Chunk($0.name == "LIST" ? "list" : $0.name, $0.body)
    }
    expectAll(try notes(WaveBytes.riff(before: chunks)))
    expectAll(try notes(WaveBytes.riff(behind: chunks)))
    expectAll(try notes(WaveBytes.rf64(before: chunks)))
    expectAll(try notes(WaveBytes.rf64(behind: chunks)))
    expectAll(try notes(WaveBytes.wave64(before: long)))
    expectAll(try notes(WaveBytes.wave64(behind: long)))
  }

  @Test("is nothing in a file that tells nothing, or is none")
  func nothing() throws {
    #expect(try notes(WaveBytes.riff()) == BroadcastMetadata())
    #expect(try notes(WaveBytes.wave64()) == BroadcastMetadata())
    #expect(try notes(Array("fLaC and more".utf8)) == BroadcastMetadata())
    #expect(try notes([]) == BroadcastMetadata())
    #expect(throws: SpoolError.self) { try BroadcastMetadata(of: scratch.file("absent.wav")) }
  }

  @Test("may be spoilt anywhere, and is no trap for who reads it", arguments: [false, true])
  func spoilt(isWave64: Bool) throws {
    let chunks = Self.chunks.flatMap {
      isWave64
        ? WaveBytes.wave64Chunk($0.name, $0.body) : WaveBytes.chunk($0.name, $0.body)
    }
    let intact = isWave64 ? WaveBytes.wave64(before: chunks) : WaveBytes.riff(before: chunks)
    let head = intact.count - WaveBytes.samples.count
    for offset in stride(from: 0, to: head, by: 1) {
      var spoilt = intact
      spoilt[offset] = spoilt[offset] == 0xFF ? 0x7F : 0xFF
      _ = try notes(spoilt)
    }
    for count in stride(from: 0, to: head, by: 7) { _ = try notes(Array(intact.prefix(count))) }
  }

  @Test("has no labels of a kind whose name is no text, which would be written as longer ones")
  func foreignLabels() {
    let foreign = Array("labl".utf8.dropLast()) + [0xFF] + WaveBytes.number(4) + WaveBytes.number(1)
    let own = Array(WaveBytes.names([(1, "Bell")]).dropFirst(4))
    let cues = CuePoints(WaveBytes.cue([(1, 2000)]), lists: [foreign + own])
    #expect(cues.list == WaveBytes.names([(1, "Bell")]))
  }

  @Test(
    "has no chunks in the sound of a recorder that lost power, whatever length its header has",
    arguments: [0, 36, 0xffff_ffff])
  func unfinished(length: Int) throws {
    let head =
      Array("RIFF".utf8) + WaveBytes.number(length) + Array("WAVE".utf8)
      + WaveBytes.chunk(
        "fmt ",
        WaveBytes.number(1, 2) + WaveBytes.number(1, 2) + WaveBytes.number(48000)
          + WaveBytes.number(96000) + WaveBytes.number(2, 2) + WaveBytes.number(16, 2))
    let sound = (0..<100).flatMap { _ in WaveBytes.chunk("qqq ", [1, 2, 3, 4]) }
    #expect(try notes(head + Array("data".utf8) + WaveBytes.number(0) + sound).otherChunks == [])
    // Of sound that is empty, chunks follow.
    let whole = head.count + 8 + sound.count - 8
    let empty = Array("RIFF".utf8) + WaveBytes.number(whole) + head.dropFirst(8)
    #expect(
      try notes(empty + Array("data".utf8) + WaveBytes.number(0) + sound).otherChunks == ["qqq"])
  }

  @Test("has names and notes in UTF-8 whatever they were written in, as all texts of the file")
  func olderEncoding() {
    func list(_ umlaut: [UInt8], file: [UInt8]) -> [UInt8] {
      let name = Array("K".utf8) + umlaut + Array("ln".utf8) + [0]
      let stretch = WaveBytes.number(1) + WaveBytes.number(480) + Array("rgn ".utf8)
      return WaveBytes.chunk("labl", WaveBytes.number(1) + name)
        + WaveBytes.chunk("note", WaveBytes.number(1) + name)
        + WaveBytes.chunk("ltxt", stretch + [UInt8](repeating: 0xFF, count: 8) + name)
        + WaveBytes.chunk("file", WaveBytes.number(1) + file)
    }
    let cue = WaveBytes.cue([(1, 2000)])
    for file in [[0xF6], Array("ö".utf8)] {
      let written = Array("adtl".utf8) + list(Array("ö".utf8), file: file)
      #expect(CuePoints(cue, lists: [list([0xF6], file: file)]).list == written)
      #expect(CuePoints(cue, lists: [Array(written.dropFirst(4))]).list == written)
    }
  }

  @Test("has places that move with the sound, and take their names along")
  func movedCues() throws {
    let note = WaveBytes.chunk(
      "ltxt", WaveBytes.number(1) + WaveBytes.number(480) + Array("rgn ".utf8))
    let cues = CuePoints(
      WaveBytes.cue([(1, 2000), (2, 500), (3, 9000)]),
      lists: [Array(WaveBytes.names([(2, "Gone"), (1, "Bell")]).dropFirst(4)) + note])
    let moved = cues.moved { frame in
      frame < Frames(1000) ? nil : Frames((frame.count - 1000) / 2)
    } length: {
      Frames($0.count / 2)
    }
    #expect(moved.cue == WaveBytes.cue([(1, 500), (3, 4000)]))
    #expect(
      moved.list
        == WaveBytes.names([(1, "Bell")])
        + WaveBytes.chunk(
          "ltxt", WaveBytes.number(1) + WaveBytes.number(240) + Array("rgn ".utf8)))
    #expect(cues.moved { _ in nil }.isEmpty)
  }
}
