import Foundation
import TestSupport
import Testing

@Suite("A batch that is cut off goes on, and one that is done takes no time")
struct BatchInterruptionTests {
  private let folder: BatchFolder

  init() throws { folder = try BatchFolder() }

  private func start(_ pipeline: String) throws -> RunningSpool {
    try RunningSpool(
      try SpoolProgram.program,
      ["batch", pipeline, folder.path, "--out", folder.place.out, "--json"],
      environment: ["SPOOL_STORE": folder.place.store], folder: folder.place.folder.path)
  }

  @Test("killed in the middle, the same command does the rest", arguments: [SIGKILL, SIGINT])
  func cutOff(signal: Int32) throws {
    let pipeline = try folder.pipeline()
    for number in 0..<40 { try folder.putTiny(number, "\(number % 5)/note-\(number).wav") }
    let running = try start(pipeline)
    try #require(try running.waits(for: "\"event\":\"file\"", times: 6))
    running.send(signal)
    let (cut, seconds) = try running.end()
    #expect(cut.exitCode == 128 + signal, "\(cut.errorOutput)")
    #expect(seconds < 5)
    let again = try folder.batch(pipeline)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    let report = try #require(again.report)
    #expect(report.files.count == 40)
    #expect(report.done + report.reused == 40 && report.done < 40)

    // The exports are those of a batch that nobody cut off.
    let other = try BatchFolder()
    for number in 0..<40 { try other.putTiny(number, "\(number % 5)/note-\(number).wav") }
    #expect(try other.batch(try other.pipeline()).exitCode == 0)
    for file in report.files {
      for export in file.exports ?? [] {
        #expect(
          try folder.place.export(export.path) == other.place.export(export.path), "\(export.path)")
      }
    }
    let hidden = FileManager.default.enumerator(atPath: folder.place.out)?.compactMap {
      ($0 as? String).flatMap { $0.contains(".spool-") ? $0 : nil }
    }
    #expect(hidden == [], "temporary files stay")
  }

  @Test("status offers the one command that goes on with the whole batch")
  func status() throws {
    let pipeline = try folder.pipeline()
    for name in ["a", "b"] {
      try Reference.record(folder.path + "/\(name).wav", seconds: 120, rate: 48000)
    }
    let running = try RunningSpool(
      try SpoolProgram.program,
      ["batch", pipeline, folder.path, "--out", folder.place.out, "--jobs", "2", "--json"],
      environment: ["SPOOL_STORE": folder.place.store], folder: folder.place.folder.path)
    try #require(try running.waits(for: "\"event\":\"progress\""))
    running.send(SIGINT)
    _ = try running.end()
    let status = try folder.place.spool(["status", "--store", folder.place.store])
    let next = status.text.split(separator: "\n").filter { $0.hasPrefix("next:") }
    #expect(next.filter { $0.contains("spool batch ") }.count == 1, "\(status.text)")
    #expect(next.first?.hasSuffix("--store \(folder.place.store)") == true, "\(status.text)")
    #expect(!next.contains { $0.contains("spool resume") }, "\(status.text)")
    // It is typed in any folder.
    let relative = try folder.place.spool(
      [
        "status", "--store",
        String(folder.place.store.dropFirst(folder.place.folder.path.count + 1)),
      ])
    #expect(relative.text == status.text)
  }

  @Test("what was stopped with other settings is out of date once a batch finds its recording done")
  func outOfDate() throws {
    let pipeline = try folder.pipeline()
    let long = folder.path + "/long.wav"
    try Reference.record(long, seconds: 120, rate: 48000)
    // What changed less than two seconds ago is always examined again.
    Thread.sleep(forTimeInterval: 2.5)
    #expect(try folder.batch(pipeline).exitCode == 0)
    let before = try folder.place.export("long.wav")
    let running = try RunningSpool(
      try SpoolProgram.program,
      [
        "batch", pipeline, folder.path, "--out", folder.place.out, "--set", "peak=-9 dB",
        "--json",
      ], environment: ["SPOOL_STORE": folder.place.store], folder: folder.place.folder.path)
    try #require(try running.waits(for: "\"event\":\"progress\""))
    running.send(SIGTERM)
    _ = try running.end()
    let store = ["--store", folder.place.store]
    #expect(try folder.place.spool(["status", "--check"] + store).exitCode == 1)
    let again = try folder.batch(pipeline)
    #expect(again.report?.reused == 1, "\(again.errorOutput)")
    let status = try folder.place.spool(["status", "--check"] + store)
    #expect(status.exitCode == 0, "\(status.text)")
    #expect(try folder.place.export("long.wav") == before)
  }

  @Test("one file of a batch that was cut off goes on where the batch would have put it")
  func resumed() throws {
    let pipeline = try folder.pipeline()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/day", withIntermediateDirectories: true)
    try Reference.record(folder.path + "/day/long.wav", seconds: 120, rate: 48000)
    let running = try RunningSpool(
      try SpoolProgram.program,
      [
        "batch", pipeline, folder.path, "--out", folder.place.out, "--name", "{stem}-clean",
        "--json",
      ], environment: ["SPOOL_STORE": folder.place.store], folder: folder.place.folder.path)
    try #require(try running.waits(for: "\"event\":\"progress\""))
    running.send(SIGKILL)
    _ = try running.end()
    let elsewhere = try ScratchFolder()
    let resumed = try SpoolProgram.program.run(
      ["resume"], environment: ["SPOOL_STORE": folder.place.store], folder: elsewhere.path)
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(Workspace.names(in: elsewhere.path) == [], "exports lie where the command was typed")
    #expect(
      folder.place.exports.contains { $0.hasPrefix("long-clean.") }, "\(folder.place.exports)")
    #expect(resumed.errorOutput.contains("of the batch"), "\(resumed.errorOutput)")
    #expect(
      resumed.errorOutput.contains("--name '{stem}-clean'")
        && resumed.errorOutput.contains("goes on with all of it"), "\(resumed.errorOutput)")
    // The batch finds that it is done.
    let again = try folder.batch(pipeline, ["--name", "{stem}-clean"])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(again.report?.reused == 1)
  }

  @Test("a batch keeps its sidecars for their receipts while the store is cleared")
  func sidecarInUse() throws {
    let pipeline = try folder.place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, { export: flac }, proof]\n")
    try Reference.record(folder.path + "/long.wav", seconds: 120, rate: 48000)
    try folder.put(Data(#"{"title":"Hello"}"#.utf8), "long.json")
    let running = try folder.place.start(
      ["batch", pipeline, folder.path, "--out", folder.place.out, "--json"])
    try #require(try running.waits(for: "\"event\":\"progress\""))
    // It rests until the store is cleared.
    running.send(SIGSTOP)
    let cleared = try folder.place.spool(
      ["store", "gc", "--older-than", "0s", "--grace", "0s", "--verbose"])
    running.send(SIGCONT)
    #expect(cleared.exitCode == 0, "\(cleared.errorOutput)")
    let batch = try running.end().run
    #expect(batch.exitCode == 0, "\(cleared.text)\n\(batch.errorOutput)")
    #expect(folder.place.exports.contains("long.receipt.json"), "\(folder.place.exports)")
  }

  @Test("a file of a batch whose unfinished work was damaged says so, and is made all the same")
  func damaged() throws {
    let pipeline = try folder.pipeline()
    try Reference.record(folder.path + "/long.wav", seconds: 240, rate: 48000)
    let store = folder.place.store
    let running = try RunningSpool(
      try SpoolProgram.program,
      ["batch", pipeline, folder.path, "--out", folder.place.out, "--json"],
      environment: ["SPOOL_STORE": store], folder: folder.place.folder.path)
    try #require(try running.waits(for: "\"event\":\"progress\"", times: 4))
    // Unlike a kill, this always leaves a note.
    running.send(SIGINT)
    _ = try running.end()
    // No file of it had ended, so that none had failed.
    let failed = try folder.place.spool([
      "batch", pipeline, folder.path, "--out", folder.place.out, "--failed",
    ])
    #expect(failed.exitCode == 0, "\(failed.text)\(failed.errorOutput)")
    let work = store + "/work"
    var count = 0
    for name in FileManager.default.enumerator(atPath: work)?.compactMap({ $0 as? String }) ?? [] {
      let file = "\(work)/\(name)"
      guard var bytes = try? Data(contentsOf: URL(fileURLWithPath: file)), bytes.count > 1000
      else { continue }
      bytes[bytes.count / 3] ^= 1
      try bytes.write(to: URL(fileURLWithPath: file))
      count += 1
    }
    try #require(count > 0, "the batch was stopped before it had kept anything")
    let again = try folder.place.spool([
      "batch", pipeline, folder.path, "--out", folder.place.out, "--json",
    ])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(again.text.contains(" was damaged"), "\(again.text)")
    #expect(folder.place.exports.contains { $0.hasPrefix("long.") })
  }

  @Test("300 tiny files: the second time they are left alone, and nothing is read")
  func reused() throws {
    let pipeline = try folder.pipeline()
    for number in 0..<300 { try folder.putTiny(number, "note-\(number).wav") }
    let first = try folder.batch(pipeline)
    #expect(first.exitCode == 0, "\(first.errorOutput)")
    #expect(first.report?.done == 300)
    // Files younger than two seconds are looked at once more.
    _ = try folder.batch(pipeline)
    let clock = ContinuousClock()
    let start = clock.now
    let again = try folder.batch(pipeline)
    let seconds = start.duration(to: clock.now) / .seconds(1)
    #expect(again.exitCode == 0)
    #expect(again.report?.reused == 300)
    #expect(seconds < 3, "300 files that were done took \(seconds) s")

    // A lost export is made again, and nothing else; other sound under a recording's name needs to
    // be asked for.
    try folder.putTiny(1000, "note-7.wav")
    try FileManager.default.removeItem(atPath: folder.place.out + "/note-8.wav")
    let third = try folder.batch(pipeline)
    #expect(third.exitCode == 3, "\(third.errorOutput)")
    #expect(third.report?.done == 1 && third.report?.reused == 298)
    #expect(third.outcomes["note-7.wav"] == "failed" && third.outcomes["note-8.wav"] == "done")
    let fourth = try folder.batch(pipeline, ["--replace"])
    #expect(fourth.exitCode == 0, "\(fourth.errorOutput)")
    #expect(fourth.report?.done == 1 && fourth.outcomes["note-7.wav"] == "done")
  }
}
