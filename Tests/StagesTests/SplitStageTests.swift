import Audio
import Foundation
import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import Store
import TestSupport
import Testing

/// Pieces of a recording, sample by sample.
@Suite struct SplitStageTests {
  private static let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  /// What a run gave, and the place that it lies in.
  private struct Made {
    let outputs: [PortName: StepOutput]
    let store: DiskStore
    let workshop: Workshop
  }

  /// Sound of 24 bits, so that nothing is lost on the way: noise with silence between.
  private static func sound(_ lengths: [Int]) -> TestSound {
    var channels: [[Float]] = [[], []]
    for (index, length) in lengths.enumerated() {
      for channel in 0...1 {
        let place = channels[channel].count
        channels[channel] += (place..<place + length).map { frame in
          guard index % 2 == 0 else { return 0 }
          let number = UInt64(frame * 2 + channel + 1) &* 0x9e37_79b9_7f4a_7c15
          return Float(Int(number >> 41) - (1 << 22)) / Float(1 << 23)
        }
      }
    }
    return TestSound(sampleRate: format.sampleRate, channels: channels)
  }

  private func pipeline(_ split: String, above: String = "") -> String {
    """
    pipeline: pieces
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
    \(above)
      - split: \(split)
    """
  }

  private func run(
    _ text: String, on sound: TestSound, watching events: EventCount = EventCount()
  ) throws -> Made {
    let workshop = try Workshop(sound)
    let store = try workshop.store("store")
    let record = try workshop.run(text, in: store, watching: events)
    return Made(outputs: record.steps.last?.outputs ?? [:], store: store, workshop: workshop)
  }

  /// The pieces of one format, in order, as ffmpeg reads them.
  private func pieces(
    _ result: Made, _ format: String = "wav",
    channels: Int = 2
  ) throws -> [TestSound] {
    let ports = result.outputs.keys.filter { $0.name.hasPrefix(format + ".") }.sorted()
    return try ports.map { port in
      let artifact = try #require(result.outputs[port]?.artifact)
      return TestSound(
        rawFloats: try Reference.samples(of: result.store.path(of: artifact), as: "f32le"),
        sampleRate: Hertz(48_000), channelCount: channels)
    }
  }

  private func report(
    _ result: Made
  ) throws -> SplitStage.Report {
    let artifact = try #require(result.outputs[.measurement]?.artifact)
    return try Findings.decode(SplitStage.Report.self, from: try result.store.text(of: artifact))
  }

  @Test func `pieces at times are the sound, cut to the frame`() throws {
    let sound = Self.sound([200_000])
    let result = try run(
      pipeline("{ at: [0:01, 2.5 s, 2501 ms], formats: [wav, flac] }"), on: sound)
    let bounds = [0, 48_000, 120_000, 120_048, 200_000]
    for format in ["wav", "flac"] {
      let pieces = try pieces(result, format)
      #expect(pieces.count == 4)
      for (piece, (from, to)) in zip(pieces, zip(bounds, bounds.dropFirst())) {
        #expect(piece.firstDifference(from: sound[from..<to]) == nil, "\(format) \(from)")
      }
    }
    let report = try report(result)
    #expect(report.pieces.map(\.piece) == ["01", "02", "03", "04"])
    #expect(report.pieces.map(\.from.value) == bounds.dropLast().map { Double($0) / 48_000 })
    #expect(report.pieces.last?.to == Frames(200_000).duration(at: Hertz(48_000)))
  }

  @Test func `pauses part pieces, wherever blocks end`() throws {
    // Blocks are of 16384 frames: pauses begin, end and are padded across their limits.
    let lengths = [16_000, 60_000, 22_304, 48_000, 1000, 47_999, 1000, 70_000, 500, 90_000]
    let sound = Self.sound(lengths)
    let result = try run(
      pipeline("{ by: silence, minimum: 1 s, padding: 250 ms }"), on: sound)
    let pieces = try pieces(result)
    let bounds = [0, 76_000 - 12_000, 146_304 - 12_000, 266_303 - 12_000, 356_803]
    #expect(pieces.count == 4)
    for (piece, (from, to)) in zip(pieces, zip(bounds, bounds.dropFirst())) {
      #expect(piece.firstDifference(from: sound[from..<to]) == nil)
    }
  }

  @Test func `sound without a pause is one piece, and a note says so`() throws {
    let events = EventCount()
    let sound = Self.sound([100_000])
    let pieces = try pieces(
      run(pipeline("{ by: silence, threshold: -60 dB }"), on: sound, watching: events))
    #expect(pieces == [sound])
    #expect(
      events.warnings == ["no pause of 1 s below -60 dB was found: the whole sound is one piece"])
  }

  @Test func `every channel is a file of its own`() throws {
    let sound = Self.sound([70_000])
    let result = try run(pipeline("{ by: channel, formats: [wav, flac] }"), on: sound)
    for format in ["wav", "flac"] {
      #expect(
        try pieces(result, format, channels: 1).map(\.channels) == sound.channels.map { [$0] })
    }
    #expect(try report(result).pieces.map(\.channel) == [1, 2])
  }

  @Test(arguments: [
    ("{ at: [1 s, 5 s] }", "split cannot begin a piece at 5 s", "the sound ends at 2 s"),
    ("{ at: 2 s }", "split cannot begin a piece at 2 s", "the sound ends at 2 s"),
  ])
  func `times beyond the end are refused before anything is done`(
    split: String, message: String, reason: String
  ) throws {
    let workshop = try Workshop(Self.sound([96_000]))
    let store = try workshop.store("store")
    let events = EventCount()
    let error = #expect(throws: RunError.self) {
      try workshop.run(pipeline(split), in: store, watching: events)
    }
    #expect(error?.error.message == message && error?.error.reason == reason)
    #expect(error?.step == StepID("split") && events.count == 0)
  }

  @Test func `times beyond an end that nobody knew are refused too`() throws {
    let workshop = try Workshop(Self.sound([30_000, 96_000, 30_000]))
    let store = try workshop.store("store")
    let above = "  - silence: { maximum: 100 ms, crossfade: 0 }"
    let error = #expect(throws: RunError.self) {
      try workshop.run(pipeline("{ at: 2 s }", above: above), in: store)
    }
    #expect(error?.error.message == "split cannot begin a piece at 2 s")
    #expect(error?.error.reason == "the sound ends at 1.35 s")
    _ = try workshop.run(pipeline("{ at: 1.3 s }", above: above), in: store)
  }

  @Test(arguments: [
    ("[2 s, 1 s]", "split's times do not ascend: 1 s follows 2 s"),
    ("[1 s, 1 s]", "split's times do not ascend: 1 s follows 1 s"),
    ("0", "split would make an empty piece: its first time is the beginning of the sound"),
    ("-1 s", "at of split is out of range at -1 s"), ("[1:75]", "at of split is a number"),
  ])
  func `times that make no sense are problems of the pipeline`(at: String, message: String) throws {
    let workshop = try Workshop(Self.sound([96_000]))
    let error = #expect(throws: PlanError.self) {
      try workshop.run(pipeline("{ at: \(at) }"), in: workshop.store("store"))
    }
    #expect(error?.problems.count == 1)
    #expect(error?.problems.first?.message.hasPrefix(message) == true, "\(error?.problems ?? [])")
  }

  @Test func `times that are one frame are refused`() throws {
    let workshop = try Workshop(Self.sound([96_000]))
    let error = #expect(throws: RunError.self) {
      try workshop.run(pipeline("{ at: [1 s, 1.000001 s] }"), in: workshop.store("store"))
    }
    #expect(error?.error.message.hasPrefix("split would make an empty piece at 1") == true)
  }

  @Test func `markers need a recording that has some`() throws {
    let workshop = try Workshop(Self.sound([96_000]))
    let store = try workshop.store("store")
    let unnamed = #expect(throws: RunError.self) {
      try workshop.run(pipeline("marker"), in: store)
    }
    #expect(unnamed?.error.message == "split does not know whose markers to go by")
    let bare = #expect(throws: RunError.self) {
      try workshop.run(pipeline("{ by: marker, recording: $note }"), in: store)
    }
    #expect(bare?.error.message == "\(workshop.recording) has no markers")
    let needless = #expect(throws: RunError.self) {
      try workshop.run(pipeline("{ by: silence, recording: $note }"), in: store)
    }
    #expect(needless?.error.message == "split reads the recording only for its markers")
  }

  @Test func `pieces are named by number, with as many digits as the last needs`() throws {
    #expect(SplitName.number(7, of: 9) == "07")
    #expect(SplitName.number(7, of: 120) == "007")
    let name = try SplitName("{piece} of {stem}")
    #expect(name.file("03", of: "/in/a/b {piece}.wav", ".flac") == "03 of b {piece}.flac")
    #expect(throws: SpoolError.self) { try SplitName("{stem}") }
  }

  @Test(arguments: ["a", "録", "é", "e\u{301}"], [180, 199, 200, 225, 255])
  func `every piece of a recording with a long name has a name of its own`(
    letter: String, byteCount: Int
  ) throws {
    let long = String(repeating: letter, count: byteCount / letter.utf8.count)
    for template in ["{stem}-{piece}", "{piece} of {stem}", "{stem} {stem}.{piece}"] {
      let name = try SplitName(template)
      let files = (1...120).map {
        name.file(SplitName.number($0, of: 120), of: "/tapes/\(long).wav", ".flac")
      }
      #expect(Set(files.map { Array($0.utf8) }).count == 120, "\(files[0])")
      for file in files { #expect(file.utf8.count <= 255) }
    }
    let pieces = (1...120).flatMap {
      [SplitName.port(PortName("wav"), SplitName.number($0, of: 120))]
    }
    #expect(pieces.sorted() == pieces)
    #expect(SplitName.piece(PortName("wav.007"))?.number == "007")
    #expect(SplitName.piece(.measurement) == nil)
  }

  /// Adds cue points, by frame, to a WAV file.
  private func mark(_ path: String, _ frames: [Int]) throws {
    func number(_ value: Int) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var points = number(frames.count)
    for (index, frame) in frames.enumerated() {
      points += number(index + 1) + number(frame) + Array("data".utf8)
      points += number(0) + number(0) + number(frame)
    }
    let name = Array("adtllabl".utf8) + number(8) + number(2) + Array("Rain".utf8)
    var chunks = Array("cue ".utf8) + number(points.count) + points
    chunks += Array("LIST".utf8) + number(name.count) + name
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(chunks))
    try file.close()
  }

  @Test func `cue points part pieces and name them, and those beyond the end are told of`() throws {
    let sound = Self.sound([100_000])
    let workshop = try Workshop(sound)
    // One at the beginning, two at one place, and one beyond the end.
    try mark(workshop.recording, [0, 30_000, 30_000, 70_001, 100_000])
    let store = try workshop.store("store")
    let events = EventCount()
    let record = try workshop.run(
      pipeline("{ by: marker, recording: $note }"), in: store, watching: events)
    let result = Made(
      outputs: record.steps.last?.outputs ?? [:], store: store, workshop: workshop)
    #expect(
      try pieces(result) == [
        sound[0..<30_000], sound[30_000..<70_001], sound[70_001..<100_000],
      ])
    #expect(try report(result).pieces.map(\.title) == [nil, "Rain", nil])
    #expect(events.warnings == ["1 marker lies beyond the end of the sound"])
  }

  @Test func `markers of sound that is shorter by now are warned of`() throws {
    let workshop = try Workshop(Self.sound([100_000]))
    try mark(workshop.recording, [30_000])
    let events = EventCount()
    _ = try workshop.run(
      pipeline("{ by: marker, recording: $note }", above: "  - trim: { start: 1 s }"),
      in: workshop.store("store"), watching: events)
    #expect(events.warnings.count == 1)
    #expect(events.warnings.first?.hasSuffix("its markers may lie elsewhere by now") == true)
  }

  @Test func `a thousand pieces are a mistake`() throws {
    let workshop = try Workshop(Self.sound([100_000]))
    try mark(workshop.recording, (1...999).map { $0 * 90 })
    let error = #expect(throws: RunError.self) {
      try workshop.run(
        pipeline("{ by: marker, recording: $note }"), in: workshop.store("store"))
    }
    #expect(error?.error.message == "split would write more than 999 pieces")
  }
}
