import Foundation
import TestSupport
import Testing

@Suite(
  "A run trusts nothing in the store that was changed",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct DamagedArtifactTests {
  private let place: Workspace
  private let note: String
  private let pipeline: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 1)
    pipeline = try place.quickPipeline(formats: "wav, flac")
    try #require(try place.run(pipeline, [note]).exitCode == 0)
  }

  private var artifacts: [String] {
    let root = place.store + "/artifacts"
    let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.contains("/") }.map { "\(root)/\($0)" }.sorted()
  }

  /// Flips the lowest bit of a byte in place, as a program would.
  private func flip(_ path: String, at offset: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seek(toOffset: UInt64(offset))
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([byte ^ 1]))
    try file.close()
  }

  @Test("a flipped bit in any artifact is caught by the next run, which makes the same again")
  func everyArtifact() throws {
    let exports = try place.allExports()
    let all = artifacts
    #expect(all.count > 3)
    for path in all {
      let byteCount = try Data(contentsOf: URL(fileURLWithPath: path)).count
      try flip(path, at: byteCount / 2)
      let again = try place.run(pipeline, [note])
      #expect(again.exitCode == 0, "\(again.errorOutput)")
      let lines = again.errorOutput.split(separator: "\n")
      #expect(lines.count == 1 && lines.first?.hasPrefix("note: the ") == true, "\(lines)")
      #expect(lines.first?.contains(" in the store is damaged") == true)
      #expect(try place.allExports() == exports)
      #expect(try place.spool(["store", "check", "--json"]).exitCode == 0)
      #expect(try place.run(pipeline, [note]).errorOutput == "")
    }
    #expect(artifacts == all)
  }

  @Test("a flipped bit in any file of unfinished work is caught by whoever goes on with it")
  func unfinishedWork() throws {
    let long = place.file("long.wav")
    try Reference.record(long, seconds: 400, rate: 22050, channels: 1)
    let text = try place.pipeline(
      """
      pipeline: long
      inputs: { note: sound }
      stages:
        - decode
        - normalize: { peak: -3 dB }
        - export: [wav, flac]
      """)
    let running = try place.start(text, [long])
    try #require(try running.waits(for: "\"progress\"", times: 8))
    running.send(SIGINT)
    try #require(try running.end().run.exitCode == 130)
    let work = place.store + "/work"
    let files = (FileManager.default.enumerator(atPath: work)?.compactMap { $0 as? String } ?? [])
      .map { "\(work)/\($0)" }
      .filter { (try? Data(contentsOf: URL(fileURLWithPath: $0)).count) ?? 0 > 100 }
    #expect(!files.isEmpty, "the run was stopped before it had kept anything")
    #expect(try place.spool(["store", "check"]).exitCode == 0)
    let scratchPath = place.file("aside")
    for path in files {
      let place = try Data(contentsOf: URL(fileURLWithPath: path)).count / 3
      try flip(path, at: place)
      #expect(try self.place.spool(["store", "check"]).exitCode == 4, "\(path) is called sound")
      try flip(path, at: place)
      try FileManager.default.moveItem(atPath: path, toPath: scratchPath)
      #expect(try self.place.spool(["store", "check"]).exitCode == 4, "\(path) is not missed")
      try FileManager.default.moveItem(atPath: scratchPath, toPath: path)
    }
    for path in files {
      try flip(path, at: try Data(contentsOf: URL(fileURLWithPath: path)).count / 3)
    }
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let dropped = resumed.events.filter { $0.event == "dropped" }
    #expect(!dropped.isEmpty, "\(files)")
    #expect(dropped.allSatisfy { $0.cause == "damaged" && $0.step != nil && $0.part != nil })
    let why = try place.spool(["why", "last"])
    for part in dropped.compactMap(\.part) {
      #expect(why.text.contains(part), "why does not tell of the \(part): \(why.text)")
    }
    #expect(why.text.contains("damaged, and made again"), "\(why.text)")
    #expect(try place.spool(["store", "check", "--json"]).exitCode == 0)
    let fresh = try Workspace()
    let copy = fresh.file("long.wav")
    try FileManager.default.copyItem(atPath: long, toPath: copy)
    try #require(
      try fresh.run(try fresh.pipeline(String(contentsOfFile: text, encoding: .utf8)), [copy])
        .exitCode == 0)
    for (name, bytes) in try fresh.allExports() {
      #expect(try place.allExports()[name] == bytes, "\(name)")
    }
  }

  @Test("damaged sound between the stages reaches no export")
  func noWrongExport() throws {
    let sound = try #require(
      artifacts.first { path in
        (try? Data(contentsOf: URL(fileURLWithPath: path)).prefix(8)) == Data("SPOOLPCM".utf8)
      })
    // The exponent of a sample: infinity, which encoders refuse half-way.
    for offset in [24 + 4000 + 3, 24 + 4000 + 2] {
      let file = try #require(FileHandle(forUpdatingAtPath: sound))
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: Data([offset % 4 == 3 ? 0x7F : 0x80]))
      try file.close()
    }
    // Exports of other formats are made from the sound that is kept.
    let other = try place.quickPipeline(formats: "flac, alac, m4a")
    let result = try place.run(other, [note])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let fresh = try Workspace()
    let copy = fresh.file("note.wav")
    try FileManager.default.copyItem(atPath: note, toPath: copy)
    try #require(
      try fresh.run(try fresh.quickPipeline(formats: "flac, alac, m4a"), [copy]).exitCode == 0)
    for (name, bytes) in try fresh.allExports() {
      #expect(try place.allExports()[name] == bytes, "\(name)")
    }
  }
}
