import Audio
import Foundation
import Media
import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import Store
import TestSupport
import Testing

/// Finished files are decoded again before they count.
@Suite struct ExportCheckTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func claim(in store: DiskStore) throws -> any WorkClaim {
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "test"), summary: "test")
    else { throw SpoolError("somebody else has the work") }
    return claim
  }

  private func sink(
    _ target: ExportTarget, for sound: TestSound, in store: DiskStore, _ claim: any WorkClaim,
    resuming: ListenerProgress? = nil
  ) throws -> ExportSink {
    try ExportSink(
      [target], SoundOutline(format: sound.format, frames: sound.frameCount),
      SinkContext(
        store: store, work: ListenerWork(claim: claim, name: "export", resuming: resuming),
        pool: WorkerPool(threadCount: 2), buffers: BufferPool()
      ) { _, _ in })
  }

  private func give(_ sound: TestSound, to sink: ExportSink) throws {
    let end = sound.frameCount.count
    for first in stride(from: 0, to: end, by: 16384) {
      try sink.take(SharedBuffer(sound.buffer(first..<min(first + 16384, end))))
    }
  }

  @Test(
    "sound of any length and rate is as long in the file", arguments: ExportSinkTests.targets,
    [8000, 22050, 37_800, 48000, 96000])
  func lengths(target: ExportTarget, rate: Int) throws {
    let format = AudioFormat(sampleRate: Hertz(Double(rate)), channelCount: 1)
    for frames in [512, 1153, rate / 2 - 1, rate / 2, rate / 1152 * 1152 + 23, rate + 17] {
      let store = try DiskStore(at: scratch.file("store-\(frames)"))
      let claim = try claim(in: store)
      defer { claim.end() }
      let sound = TestSound.noise(amplitude: 0.3, format, frames: frames)
      let sink = try sink(target, for: sound, in: store, claim)
      try give(sound, to: sink)
      let result = try sink.finish()
      let check = try #require(sink.checks.first)
      let ratio = check.sampleRate.value / Double(rate)
      #expect(check.areSamplesEqual == (target.format.isLossless ? true : nil))
      if frames >= rate / 2 || target.format.isLossless {
        let surplus = target.format == .mp3 ? 47.0 : 1
        #expect(
          (-1...surplus).contains(Double(check.frames) - Double(frames) * ratio), "of \(frames)")
      }
      #expect(result.artifacts[.measurement] != nil)
      #expect(result.warnings == [])
    }
  }

  @Test("sound of which no resampler leaves anything is refused")
  func tooShort() throws {
    let store = try DiskStore(at: scratch.file("store"))
    let claim = try claim(in: store)
    defer { claim.end() }
    let format = AudioFormat(sampleRate: Hertz(44100), channelCount: 1)
    let sound = TestSound.noise(format, frames: 1)
    let opus = try #require(ExportSinkTests.targets.first { $0.format == .opus })
    let sink = try sink(opus, for: sound, in: store, claim)
    try give(sound, to: sink)
    let error = try #require(throws: SpoolError.self) { try sink.finish() }
    #expect(error.message == "the sound is too short for opus")
    #expect(error.cause == .input)
  }

  static let lossless = ExportSinkTests.targets.filter(\.format.isLossless)

  @Test("a file without loss that holds other samples is refused", arguments: lossless)
  func changedFile(target: ExportTarget) throws {
    let store = try DiskStore(at: scratch.file("store"))
    let claim = try claim(in: store)
    defer { claim.end() }
    let format = AudioFormat(sampleRate: Hertz(48000), channelCount: 1)
    let sound = TestSound.noise(amplitude: 0.5, format, frames: 16384)
    let port = target.format.port.name
    let path = claim.folder + "/export." + port
    let first = try sink(target, for: sound, in: store, claim)
    // The encoder writes on threads of its own, as it comes further.
    var blockCount = 0
    var progress: ListenerProgress?
    while (try? FileStamp(following: path))?.byteCount ?? 0 < 100_000 {
      try give(sound, to: first)
      blockCount += 1
      progress = first.progress()
    }
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seek(toOffset: 60_000)
    var bytes = try #require(try file.read(upToCount: 16))
    for index in bytes.indices { bytes[index] ^= 0x55 }
    try file.seek(toOffset: 60_000)
    try file.write(contentsOf: bytes)
    try file.close()

    let error = try #require(throws: SpoolError.self) { try first.finish() }
    #expect(error.kind == .broken)
    #expect(error.message.contains("the \(port) file"))
    #expect(error.reason?.contains("second") == true)
    #expect(error.advice?.contains("run it again") == true)
    #expect(!FileManager.default.fileExists(atPath: path))

    // Nothing of it is resumed: the file is the one that is made where nothing went wrong.
    let second = try sink(target, for: sound, in: store, claim, resuming: progress)
    #expect(second.firstFrame == .zero)
    for _ in 0..<blockCount { try give(sound, to: second) }
    let mended = try second.finish().artifacts[target.format.port]
    let other = try DiskStore(at: scratch.file("other"))
    let otherClaim = try self.claim(in: other)
    defer { otherClaim.end() }
    let undisturbed = try sink(target, for: sound, in: other, otherClaim)
    for _ in 0..<blockCount { try give(sound, to: undisturbed) }
    #expect(try undisturbed.finish().artifacts[target.format.port] == mended)
  }

  // At this bit rate AAC gives these edges ringing far above the limiter's ceiling.
  private static let loud = TestSound.square(
    half: 53, AudioFormat(sampleRate: Hertz(48000), channelCount: 2), frames: 3 * 48000)

  private static func pipeline(_ last: String, limit: String = "limit: -1 dBTP") -> String {
    """
    pipeline: loud
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - \(limit)
      - \(last)
    """
  }

  private struct Report: Codable { let files: [ExportCheck]? }

  /// What the decoded files peak at, by port, what was written down of them, and the warnings.
  private func run(
    _ pipeline: String
  ) throws -> (peaks: [String: Double], report: [ExportCheck], warnings: [String]) {
    let workshop = try Workshop(Self.loud)
    let store = try workshop.store("store")
    let events = EventCount()
    let outputs = try workshop.run(pipeline, in: store, watching: events).steps.last?.outputs ?? [:]
    var peaks: [String: Double] = [:]
    for (port, output) in outputs where output.kind == .file && !port.name.contains("samples") {
      let artifact = try #require(output.artifact)
      let found = try ExportedSound.measure(try store.path(of: artifact)) { _ in }
      peaks[port.name] = found.levels?.truePeak?.value
    }
    let report = try outputs[.measurement]?.artifact.map {
      try Findings.decode(Report.self, from: try store.text(of: $0)).files
    }
    return (peaks, (report ?? nil) ?? [], events.warnings)
  }

  @Test("a lossy file that decodes above the ceiling is limited lower and encoded again")
  func ceiling() throws {
    let export = "export: { formats: [wav, m4a], m4a: { bit-rate: 64 kbit/s }, verify: "
    let unverified = try run(Self.pipeline(export + "false }"))
    #expect(try #require(unverified.peaks["m4a"]) > -0.5)
    #expect(unverified.report.isEmpty)

    let verified = try run(Self.pipeline(export + "true }"))
    #expect(try #require(verified.peaks["m4a"]) < -0.95)
    #expect(verified.warnings == [])
    #expect(verified.peaks["wav"] == unverified.peaks["wav"])
    let wav = try #require(verified.report.first { $0.format == "wav" })
    #expect(wav.areSamplesEqual == true && wav.encodings == 1 && wav.limit == nil)
    let m4a = try #require(verified.report.first { $0.format == "m4a" })
    #expect(m4a.encodings > 1)
    #expect(try #require(m4a.limit) < Decibels(-1))
    #expect(m4a.ceiling == Decibels(-1))
    #expect(m4a.frames == 3 * 48000)
  }

  @Test("the pieces of a split are encoded again as well")
  func pieces() throws {
    let split = "split: { at: [1 s], formats: [m4a], m4a: { bit-rate: 64 kbit/s }, verify: "
    let unverified = try run(Self.pipeline(split + "false }"))
    #expect(unverified.peaks.count == 2)
    #expect(unverified.peaks.values.allSatisfy { $0 > -0.5 })
    let verified = try run(Self.pipeline(split + "true }"))
    #expect(verified.peaks.count == 2)
    #expect(verified.peaks.values.allSatisfy { $0 < -0.95 })
    #expect(verified.report.map(\.files) == [2])
    #expect(verified.report.map(\.frames) == [3 * 48000])
  }

  @Test("nothing is limited where no stage promises a ceiling")
  func noCeiling() throws {
    let export = "export: { formats: [m4a], m4a: { bit-rate: 64 kbit/s } }"
    let made = try run(Self.pipeline(export, limit: "gain: -1 dB"))
    #expect(try #require(made.peaks["m4a"]) > -0.5)
    #expect(made.report.map(\.encodings) == [1])
    #expect(made.report.map(\.ceiling) == [nil])
  }

  @Test(
    "a ceiling holds for what is below it until a stage may raise levels",
    arguments: [
      ("limit: -2 dBTP", -2.0, nil),
      ("normalize: { loudness: -16 LUFS, true-peak: -1.5 dBTP }", -1.5, -16.0),
      ("normalize: { peak: -1 dB }", nil, nil),
      ("limit: -2 dBTP\n  - gain: -3 dB", -5, nil),
      ("limit: -2 dBTP\n  - gain: 3 dB", nil, nil),
      (
        "normalize: -16 LUFS\n  - measure: {}\n  - fade: { out: 1 s }\n  - resample: 44.1 kHz", -1,
        nil
      ),
      ("limit: -2 dBTP\n  - compress: {}", nil, nil),
    ] as [(String, Double?, Double?)])
  func promise(stages: String, truePeak: Double?, loudness: Double?) throws {
    let text = Self.pipeline("export: [m4a]", limit: stages)
    let definition = try #require(
      ParsedPipeline(text, knownKinds: StageCatalog.builtIn.kinds).definition)
    let recording = try Workshop(Self.loud).recording
    let plan = try Plan(definition, catalog: .builtIn, inputs: ["note": recording])
    let last = try #require(plan.steps.last)
    let promise = LevelPromise(of: UpstreamOutputs(plan, finished: [:]).chain(to: last.id))
    #expect(promise?.truePeak.value == truePeak)
    #expect(promise?.loudness?.value == loudness)
  }

  @Test("what is still above the ceiling, and what has lost loudness to it, is warned of")
  func warnings() {
    var check = ExportCheck(format: "mp3", sampleRate: Hertz(48000), channels: 2, frames: 48000)
    check.truePeak = Decibels(-0.96)
    check.ceiling = Decibels(-1)
    check.integratedLoudness = LUFS(-16.5)
    check.target = LUFS(-16)
    #expect(check.excess == nil)
    #expect(check.warnings == [])
    check.truePeak = Decibels(-0.6)
    check.encodings = 3
    check.limit = Decibels(-4.2)
    #expect(
      check.warnings == [
        "the mp3 file decodes at -0.6 dBTP, above the ceiling of -1 dBTP, although it was encoded 3 "
          + "times and limited to -4.2 dBTP: a higher bit rate, or a lower ceiling above, leaves more "
          + "room",
        "the mp3 file is at -16.5 LUFS in place of -16 LUFS: it was limited to -4.2 dBTP to decode "
          + "below -1 dBTP, which comes first; sound with lower peaks, compressed more, loses less",
      ])
  }
}
