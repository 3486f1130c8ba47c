import Foundation
import TestSupport
import Testing

/// A recording that is damaged and kept says so wherever a user looks.
@Suite(
  "Damage that decode keeps is told",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct DamageReportTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private static let stages = """
    pipeline: kept
    inputs: { take: sound }
    stages:
      - decode: { damaged: keep }
      - export: [wav]
      - proof

    """

  /// A FLAC file of six seconds with frames of 4096 samples, of which some bytes at two places are
  /// inverted.
  private func damaged(_ name: String) throws {
    let path = place.file(name)
    try Reference.record(path, seconds: 6, coding: ["-sample_fmt", "s16", "-frame_size", "4096"])
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    for part in [3, 7] {
      for index in data.count * part / 10..<data.count * part / 10 + 40 { data[index] ^= 0x5a }
    }
    try data.write(to: URL(fileURLWithPath: path))
  }

  private struct Damage: Decodable, Equatable {
    struct Place: Decodable, Equatable {
      let frame: Int
      let filledFrames: Int
      let reason: String
    }
    let count: Int
    let filledFrames: Int
    let sampleRate: Int
    let places: [Place]
    let shortfall: Shortfall?

    struct Shortfall: Decodable, Equatable {
      let decodedFrames: Int
      let declaredFrames: Int
    }
  }

  private func expectBoth(_ damage: Damage?) throws {
    let damage = try #require(damage)
    #expect(damage.count == 2 && damage.places.count == 2)
    #expect(damage.filledFrames == 2 * 4096 && damage.sampleRate == 44100)
    #expect(damage.places.allSatisfy { $0.filledFrames == 4096 && $0.frame % 4096 == 0 })
  }

  @Test("a recording that may have been longer is processed, with one warning")
  func doubt() throws {
    let path = place.file("live.ogg")
    let coding = ["-c:a", "libopus", "-page_duration", "200000"]
    try Reference.record(path, seconds: 3, rate: 48000, coding: coding)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let lastPage = try #require(whole.range(of: Data("OggS".utf8), options: .backwards)).lowerBound
    try whole.prefix(lastPage).write(to: URL(fileURLWithPath: path))
    let pipeline = try place.quickPipeline()
    let run = try place.spool(["run", pipeline, path, "--out", place.out])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let words = "it may have been longer: no page says that it is the last"
    #expect((run.text + run.errorOutput).components(separatedBy: words).count == 2)
  }

  private struct Event: Decodable {
    struct Report: Decodable {
      struct Finding: Decodable { let damage: Damage? }
      let findings: [String: Finding]?
    }
    let event: String
    let run: Report?
    let damage: [String: Damage]?

    enum Key: CodingKey { case event, run, damage }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      event = try container.decode(String.self, forKey: .event)
      // A file of a batch has the run's name alone.
      run =
        event == "file" ? nil : try container.decodeIfPresent(Report.self, forKey: .run)
      damage = try container.decodeIfPresent([String: Damage].self, forKey: .damage)
    }
  }

  private func events(_ text: String) throws -> [Event] {
    try text.split(separator: "\n").map {
      try JSONDecoder().decode(Event.self, from: Data($0.utf8))
    }
  }

  private func receiptDamage(_ name: String) throws -> Damage? {
    struct Envelope: Decodable { let payload: Data }
    struct Statement: Decodable {
      struct Predicate: Decodable {
        struct Stage: Decodable { let damage: Damage? }
        let stages: [Stage]
      }
      let predicate: Predicate
    }
    let envelope = try JSONDecoder().decode(Envelope.self, from: place.export(name))
    let statement = try JSONDecoder().decode(Statement.self, from: envelope.payload)
    #expect(statement.predicate.stages.dropFirst().allSatisfy { $0.damage == nil })
    return statement.predicate.stages.first?.damage
  }

  @Test("in one warning, in the summary of every run, and in the signed receipt")
  func run() throws {
    try damaged("take.flac")
    let arguments = [
      "run", try place.pipeline(Self.stages), place.file("take.flac"), "--out", place.out,
    ]
    let line = "the recording is damaged at 2 places, 0.186 s of silence in place of what is lost"
    for _ in 1...2 {
      let run = try place.spool(arguments)
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      #expect(run.text.contains(line), "\(run.text)")
    }
    let shown = try place.spool(["runs", "show", "last"])
    #expect(shown.text.contains(line))
    let ended = try events(place.spool(arguments + ["--json"]).text).last { $0.event == "ended" }
    try expectBoth(ended?.run?.findings?["decode"]?.damage)
    try expectBoth(receiptDamage("take.receipt.json"))
    let verified = try place.spool(["verify", place.out])
    #expect(verified.exitCode == 0, "\(verified.text)")
  }

  @Test(
    "with what the file promises and what is missing, where it is cut off",
    arguments: ["flac", "wav"])
  func shortfall(ending: String) throws {
    let path = place.file("take.\(ending)")
    let coding = ending == "wav" ? ["-c:a", "pcm_s24le"] : []
    try Reference.record(path, seconds: 6, coding: coding)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    // Inside a sample.
    try whole.prefix(whole.count / 2 | 1).write(to: URL(fileURLWithPath: path))
    let run = try place.spool([
      "run", try place.pipeline(Self.stages), path, "--out", place.out,
    ])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let told = try #require(
      run.text.firstMatch(
        of: /([0-9.]+) s of the 6.0 s that the file promises were decoded, ([0-9.]+) s are missing/),
      "\(run.text)")
    let decoded = try #require(Double(told.1))
    let missing = try #require(Double(told.2))
    #expect(abs(decoded + missing - 6) < 0.002 && missing > 2)
    let damage = try #require(try receiptDamage("take.receipt.json"))
    let shortfall = try #require(damage.shortfall)
    // A WAV file declares bytes, with those of the chunks behind the sound.
    #expect((0...100).contains(shortfall.declaredFrames - 6 * damage.sampleRate))
    #expect(abs(Double(shortfall.decodedFrames) / Double(damage.sampleRate) - decoded) < 0.001)
    let verified = try place.spool(["verify", place.out])
    #expect(verified.exitCode == 0, "\(verified.text)")
  }

  @Test("once, although every packet may be bad")
  func warnings() throws {
    try damaged("take.flac")
    let run = try place.run(place.pipeline(Self.stages), [place.file("take.flac")])
    #expect(run.warnings.count == 1)
    #expect(run.warnings.first?.hasPrefix("damaged at 2 places") == true, "\(run.warnings)")
  }

  @Test("in the summary of a batch and in batch.json, also where the file was done before")
  func batch() throws {
    try FileManager.default.createDirectory(
      atPath: place.file("trip"), withIntermediateDirectories: true)
    try damaged("trip/a.flac")
    try Reference.record(place.file("trip/b.flac"), seconds: 1)
    let arguments = [
      "batch", try place.pipeline(Self.stages), place.file("trip"), "--out", place.out,
    ]
    struct Report: Decodable {
      struct File: Decodable {
        let path: String
        let damage: [String: Damage]?
      }
      let damaged: Int
      let files: [File]
    }
    for _ in 1...2 {
      let batch = try place.spool(arguments)
      try #require(batch.exitCode == 0, "\(batch.errorOutput)")
      #expect(batch.text.contains("damaged, and done as far as they can be decoded: 1\n"))
      #expect(
        batch.text.contains("  a.flac: the recording is damaged at 2 places"), "\(batch.text)")
      let report = try JSONDecoder().decode(Report.self, from: place.export("batch.json"))
      #expect(report.damaged == 1)
      try expectBoth(report.files.first { $0.path == "a.flac" }?.damage?["decode"])
      #expect(report.files.first { $0.path == "b.flac" }?.damage == nil)
    }
    let anew = Array(arguments.dropLast()) + [place.file("anew"), "--json"]
    let files = try events(place.spool(anew).text).filter { $0.event == "file" }
    #expect(files.compactMap(\.damage).count == 1)
  }

  @Test("in the log of a watch, and in the acknowledgement for the device")
  func watch() throws {
    let inbox = try WatchedPlace()
    let text = try String(contentsOfFile: inbox.pipeline, encoding: .utf8)
    try text.replacing("{ from: $note }", with: "{ from: $note, damaged: keep }")
      .write(toFile: inbox.pipeline, atomically: true, encoding: .utf8)
    try damaged("take.flac")
    let watch = try inbox.watch()
    try inbox.shell("cp '\(place.file("take.flac"))' inbox/take.flac")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } })
    #expect(inbox.wait { Workspace.names(in: inbox.outbox).contains { $0.hasSuffix(".ack.json") } })
    struct Acknowledgement: Decodable {
      let status: String
      let damage: [String: Damage]?
    }
    func acknowledgement() throws -> Acknowledgement? {
      try Workspace.names(in: inbox.outbox).first { $0.hasSuffix(".ack.json") }.map {
        try JSONDecoder().decode(
          Acknowledgement.self,
          from: Data(contentsOf: URL(fileURLWithPath: inbox.outbox + "/" + $0)))
      }
    }
    #expect(try inbox.wait { try acknowledgement()?.status == "uploaded" })
    try expectBoth(acknowledgement()?.damage?["decode"])
  }
}
