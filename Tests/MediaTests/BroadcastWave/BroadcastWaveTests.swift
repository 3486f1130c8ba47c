import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("A Broadcast Wave file", .enabled(if: FFmpeg.isInstalled, "ffmpeg is not installed"))
struct BroadcastWaveTests {
  private let scratch: ScratchFolder
  private let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  private static let notes: BroadcastMetadata = {
    var notes = BroadcastMetadata()
    var bext = BroadcastExtension()
    bext.description = "An evening by the sea"
    bext.originator = "Spool 0.1.0"
    bext.originatorReference = "0123456789abcdef"
    bext.originationDate = "2026-03-14"
    bext.originationTime = "15:09:26"
    bext.timeReference = 5_000_000_000
    bext.loudness.integrated = -23.1
    bext.codingHistory = "A=PCM,F=48000,W=24,M=mono,T=odd\r\n"
    notes.bext = bext
    notes.iXML = Array("<BWFXML><SCENE>4</SCENE></BWFXML>".utf8)
    notes.cues = CuePoints(
      WaveBytes.cue([(1, 1000), (2, 40_000)]),
      lists: [Array(WaveBytes.names([(2, "Door")]).dropFirst(4))])
    return notes
  }()

  private func bytes(of path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
  }

  /// A WAV file as the encoder leaves it, of an odd number of bytes where a frame has one.
  private func plain(_ samples: ExportSpec.WaveSamples) throws -> String {
    let path = scratch.file("plain.wav")
    try Sound(channels: 1, frames: 50_001).encode(as: .wav(samples), to: path, pool: pool)
    return path
  }

  private func probe(_ path: String) throws -> [String: String] {
    let text = try Reference.output(
      "ffprobe", ["-v", "error", "-of", "default=nw=1", "-show_entries", "format_tags", path])
    var tags: [String: String] = [:]
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1)
      if parts.count == 2, parts[0].hasPrefix("TAG:") {
        tags[String(parts[0].dropFirst(4))] = parts[1].trimmingCharacters(in: .newlines)
      }
    }
    return tags
  }

  @Test(
    "has the samples of the file that it was made of, and other programs read what it tells",
    arguments: [.integer(.bits16), .integer(.bits24), .float32] as [ExportSpec.WaveSamples],
    [WaveHeader.greatestLength, 1000])
  func copied(samples: ExportSpec.WaveSamples, limit: Int) throws {
    let plain = try plain(samples)
    let path = scratch.file("broadcast.wav")
    try BroadcastWave.copy(
      from: plain, to: path, notes: Self.notes, tags: ["title": "Sea", "date": "2026-03-14"],
      limit: limit)
    #expect(try FFmpeg.decode(path) == FFmpeg.decode(plain))
    let whole = try bytes(of: path)
    #expect(whole.count % 2 == 0)
    #expect(whole.starts(with: Array((limit == 1000 ? "RF64" : "RIFF").utf8)))
    if limit > 1000 {
      #expect(Array(whole[4..<8]) == WaveBytes.number(whole.count - 8))
    } else {
      #expect(Array(whole[20..<28]) == WaveBytes.number(whole.count - 8, 8))
    }
    let tags = try probe(path)
    #expect(tags["comment"] == "An evening by the sea" || tags["description"] != nil)
    #expect(tags["encoded_by"] == "Spool 0.1.0")
    #expect(tags["originator_reference"] == "0123456789abcdef")
    #expect(tags["date"] == "2026-03-14")
    #expect(tags["creation_time"] == "15:09:26")
    #expect(tags["time_reference"] == "5000000000")
    #expect(tags["coding_history"] == "A=PCM,F=48000,W=24,M=mono,T=odd")
    #expect(tags["title"] == "Sea")
    #expect(
      try MediaProbe.markers(of: SourceFile(path)) == [
        MediaProbe.Marker(time: Seconds(1000.0 / 48_000)),
        MediaProbe.Marker(time: Seconds(40_000.0 / 48_000), title: "Door"),
      ])
    #expect(try BroadcastMetadata(of: path) == Self.notes)
    let extent = try #require(try BroadcastWave.extent(of: path))
    #expect(extent.frames == Frames(50_001))
    #expect(extent.format == AudioFormat(sampleRate: Hertz(48_000), channelCount: 1))
  }

  @Test("depends on what it is made of alone, and takes the place of what was there")
  func again() throws {
    let plain = try plain(.integer(.bits24))
    let (one, other) = (scratch.file("one.wav"), try scratch.write("much\n", to: "other.wav"))
    try Data(count: 500_000).write(to: URL(fileURLWithPath: other))
    try BroadcastWave.copy(from: plain, to: one, notes: Self.notes, tags: ["title": "Sea"])
    let digest = try BroadcastWave.copy(
      from: one, to: other, notes: Self.notes, tags: ["title": "Sea"], isDigestWanted: true)
    #expect(try bytes(of: one) == bytes(of: other))
    #expect(try digest == SHA256.digest(of: Array(bytes(of: other))))
  }

  @Test("is told by mediainfo", .enabled(if: Program(named: "mediainfo") != nil, "no mediainfo"))
  func mediaInfo() throws {
    let path = scratch.file("broadcast.wav")
    try BroadcastWave.copy(from: try plain(.integer(.bits24)), to: path, notes: Self.notes)
    let text = String(
      decoding: try Reference.output("mediainfo", ["--Full", path]), as: UTF8.self)
    #expect(text.contains("An evening by the sea"))
    #expect(text.contains("2026-03-14 15:09:26"))
    #expect(text.contains("Spool 0.1.0"))
    #expect(text.contains("bext"))
  }

  @Test(
    "is found valid by bwfmetaedit",
    .enabled(if: Program(named: "bwfmetaedit") != nil, "no bwfmetaedit"))
  func broadcastEditor() throws {
    let path = scratch.file("broadcast.wav")
    try BroadcastWave.copy(from: try plain(.integer(.bits24)), to: path, notes: Self.notes)
    let text = String(
      decoding: try Reference.output("bwfmetaedit", ["--out-core", path]), as: UTF8.self)
    #expect(text.contains("An evening by the sea"))
    #expect(text.contains("0123456789abcdef"))
  }

  @Test("is read by sox", .enabled(if: Program(named: "sox") != nil, "sox is not installed"))
  func sox() throws {
    let path = scratch.file("broadcast.wav")
    let plain = try plain(.integer(.bits16))
    try BroadcastWave.copy(from: plain, to: path, notes: Self.notes)
    let raw = ["-t", "raw", "-e", "signed", "-b", "16", "-"]
    #expect(
      try Reference.output("sox", [path] + raw) == Reference.output("sox", [plain] + raw))
  }

  @Test("is made of nothing but a WAV file")
  func noWave() throws {
    let text = try scratch.write("no sound at all", to: "a.wav")
    #expect(throws: SpoolError.self) {
      try BroadcastWave.copy(from: text, to: scratch.file("b.wav"), notes: Self.notes)
    }
    #expect(throws: SpoolError.self) {
      try BroadcastWave.copy(
        from: scratch.file("absent"), to: scratch.file("b.wav"), notes: Self.notes)
    }
  }
}
