import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct RunLogTests {
  private let scratch: ScratchFolder
  private let store: DiskStore

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
  }

  private func record(_ name: String, startedAt: Double = 1_764_000_000) -> RunRecord {
    RunRecord(
      id: RunID(name), pipeline: "voice-note", pipelinePath: "/p/voice-note.yaml",
      inputs: ["note": "/in/note.m4a"], overrides: ["room": "large"], startedAt: startedAt)
  }

  @Test("a run comes back whole, and in its last state")
  func roundTrip() throws {
    var run = record("20261121-142205-3f9a")
    try store.runs.save(run)
    #expect(try store.runs.run(named: run.id.name) == run)
    run.state = .failed
    run.finishedAt = 1_764_000_012.25
    run.failure = "eq: no sound"
    run.mediaSeconds = 30.5
    run.steps = [
      StepRecord(
        id: StepID("eq"), kind: "eq", outcome: .made, key: KeyComponents.sample("eq", "1").key,
        outputs: [.sound: StepOutput(kind: .sound, identity: SHA256.digest(of: "s"))],
        findings: #"{"peak":-1}"#)
    ]
    run.published = [
      PublishedFile(path: "/out/a.wav", byteCount: 44, step: StepID("export"), wasThere: false)
    ]
    try store.runs.save(run)
    #expect(try store.runs.run(named: run.id.name) == run)
    #expect(try DiskStore(at: store.path).runs.newest(limit: 10) == [run])
  }

  @Test("the runs recorded last come first, whatever the clock said, and no more than asked for")
  func newest() throws {
    for (name, time) in [("b", 2.0), ("a", 1), ("d", 3), ("c", 3)] {
      try store.runs.save(record(name, startedAt: time))
    }
    #expect(try store.runs.newest(limit: 10).map(\.id.name) == ["c", "d", "a", "b"])
    #expect(try store.runs.newest(limit: 2).map(\.id.name) == ["c", "d"])
    #expect(try store.runs.newest(limit: 0) == [])
    #expect(try store.runs.newest(limit: -1) == [])
  }

  @Test(
    "a run that was cut off holds nothing once a later one has done its work with other settings")
  func doneDifferently() throws {
    var cut = record("20261121-150000-aaaa", startedAt: 3600)
    cut.state = .interrupted
    cut.request = RunRequest(
      pipelineText: "one", folder: "/out", isReplacing: false, keepsEverything: false)
    try store.runs.save(cut)
    #expect(UnfinishedRuns(try store.runs.newest(limit: 9)).names == [cut.id.name])
    var next = RunRecord(
      id: RunID("20261121-160000-bbbb"), pipeline: cut.pipeline, pipelinePath: cut.pipelinePath,
      inputs: cut.inputs, overrides: cut.overrides, startedAt: 7200,
      request: RunRequest(
        pipelineText: "two", folder: "/out", isReplacing: false, keepsEverything: false))
    next.state = .done
    try store.runs.save(next)
    #expect(UnfinishedRuns(try store.runs.newest(limit: 9)).names == [])
  }

  @Test("a run that is done settles the one it goes on with though the clock was set back")
  func setBack() throws {
    var cut = record("20261121-150000-aaaa", startedAt: 7200)
    cut.state = .interrupted
    try store.runs.save(cut)
    var next = RunRecord(
      id: RunID("20261121-140000-bbbb"), pipeline: cut.pipeline, pipelinePath: cut.pipelinePath,
      inputs: cut.inputs, overrides: cut.overrides, startedAt: 3600, resumes: cut.id)
    try store.runs.save(next)
    next.state = .done
    try store.runs.save(next)
    #expect(try store.runs.newest(limit: 1) == [next])
    #expect(RunRecord.unsettled(in: try store.runs.newest(limit: 9)) == [])
    #expect(UnfinishedRuns(try store.runs.newest(limit: 9)).names == [])
    // Also where the order itself is not known, as in records without numbers.
    #expect(RunRecord.unsettled(in: [cut, next]) == [])
  }

  /// Saves a run that has ended.
  private func end(
    _ name: String, _ state: RunRecord.State, of path: String = "/in/ä note.wav",
    digest: String? = "note", folder: String = "/out", fileName: String? = nil,
    at time: Double = 1000
  ) throws {
    var run = RunRecord(
      id: RunID(name), pipeline: "clean", pipelinePath: "/p/clean.yaml", inputs: ["note": path],
      overrides: ["name": name], startedAt: time,
      request: RunRequest(
        pipelineText: "", folder: folder, isReplacing: false, keepsEverything: false,
        fileName: fileName))
    run.recordings = digest.map { ["note": SHA256.digest(of: $0)] }
    run.state = state
    run.finishedAt = time + 1
    try store.runs.save(run)
  }

  @Test("what was cut off is settled by a batch that makes the same exports of the same file")
  func doneInBatch() throws {
    func save(
      _ name: String, _ state: RunRecord.State, names: [String: String]? = nil,
      folder: String = "/out"
    ) throws {
      var run = RunRecord(
        id: RunID(name), pipeline: "clean", pipelinePath: "/p/clean.yaml",
        inputs: ["note": "/in/talk.wav"], overrides: [:], startedAt: 1,
        request: RunRequest(
          pipelineText: "text", folder: folder, isReplacing: false, keepsEverything: false,
          names: names))
      run.state = state
      try store.runs.save(run)
    }
    try save("cut", .cutOff)
    try save("elsewhere", .done, names: ["note": "talk.recording"], folder: "/other")
    try save("renamed", .done, names: ["note": "talk-2.recording"])
    try save("failed", .failed, names: ["note": "talk.recording"])
    #expect(RunRecord.unsettled(in: try store.runs.newest(limit: 9)).map(\.id.name).contains("cut"))
    try save("batch", .done, names: ["note": "talk.recording"])
    #expect(RunRecord.unsettled(in: try store.runs.newest(limit: 9)) == [])
  }

  @Test(
    "a failure with a wrong text is resolved by a success without it, and not by another recording")
  func resolvedWithoutText() throws {
    func save(_ name: String, _ state: RunRecord.State, _ inputs: [String: String]) throws {
      var run = RunRecord(
        id: RunID(name), pipeline: "words", pipelinePath: "/p/words.yaml", inputs: inputs,
        overrides: [:], startedAt: 1,
        request: RunRequest(
          pipelineText: "text", folder: "/out", isReplacing: false, keepsEverything: false))
      run.soundInputs = ["note"]
      run.state = state
      try store.runs.save(run)
    }
    try save("failed", .failed, ["note": "/in/a.wav", "text": "/in/a.txt"])
    try save("other", .done, ["note": "/in/b.wav"])
    #expect(try store.runs.open().map(\.id.name) == ["failed"])
    try save("done", .done, ["note": "/in/a.wav"])
    #expect(try store.runs.open().isEmpty)
  }

  @Test("a failure is resolved by a later success with its recording, pipeline and folder alone")
  func resolved() throws {
    try end("before", .done)
    try end("failed", .failed)
    try end("unread", .failed, digest: nil)
    try end("typo", .refused)
    try end("cut", .interrupted)
    #expect(try store.runs.open().map(\.id.name) == ["cut", "unread", "failed"])
    try end("elsewhere", .done, folder: "/other")
    try end("another", .done, of: "/in/b.wav", digest: "b")
    try end("again", .failed)
    #expect(try store.runs.open().map(\.id.name) == ["again", "cut", "unread", "failed"])
    try end("moved", .done, of: "/in/moved.wav")
    #expect(try store.runs.open().map(\.id.name) == ["cut", "unread"])
    try end("repaired", .done, digest: "repaired")
    #expect(try store.runs.open().isEmpty)
  }

  @Test(
    "what was stopped is out of date once a later run has done the same into the same files with other settings"
  )
  func outdated() throws {
    try end("cut", .interrupted)
    let cut = try #require(try store.runs.run(named: "cut"))
    try end("elsewhere", .done, folder: "/other")
    try end("moved", .done, of: "/in/moved.wav")
    try end("named", .done, fileName: "other")
    #expect(try store.runs.successor(of: cut) == nil, "its exports have other places")
    #expect(try store.runs.open() == [cut])
    try end("later", .done)
    #expect(try store.runs.successor(of: cut)?.id.name == "later")
    #expect(try store.runs.open().isEmpty)
    // The same request again, whose exports are those of the stopped run.
    var again = RunRecord(
      id: RunID("again"), pipeline: cut.pipeline, pipelinePath: cut.pipelinePath,
      inputs: cut.inputs, overrides: cut.overrides, startedAt: 2000, request: cut.request)
    again.state = .done
    try store.runs.save(again)
    #expect(try store.runs.successor(of: cut) == nil)
    #expect(try store.runs.open().isEmpty)
  }

  @Test("what was stopped is out of date where another recording was put beside its first one")
  func besides() throws {
    func run(_ name: String, _ inputs: [String: String], files: [String]) throws -> RunRecord {
      var run = RunRecord(
        id: RunID(name), pipeline: "show", pipelinePath: "/p/show.yaml", inputs: inputs,
        overrides: [:], startedAt: 1000,
        request: RunRequest(
          pipelineText: "pipeline: show", folder: "/out", isReplacing: false,
          keepsEverything: false))
      (run.soundInputs, run.inputNames) = (["intro", "talk"], ["talk", "intro"])
      run.state = files.isEmpty ? .interrupted : .done
      run.published = files.map {
        PublishedFile(path: $0, byteCount: 44, step: StepID("export"), wasThere: false)
      }
      try store.runs.save(run)
      return run
    }
    let cut = try run("cut", ["talk": "/in/talk.wav", "intro": "/in/a.wav"], files: [])
    for (name, inputs, file) in [
      ("other", ["talk": "/in/other.wav", "intro": "/in/a.wav"], "/out/other.mp3"),
      ("named", ["talk": "/in/talk.wav", "intro": "/in/b.wav"], "/out/b.mp3"),
    ] {
      _ = try run(name, inputs, files: [file])
      #expect(try store.runs.open() == [cut], "\(name)")
    }
    _ = try run(
      "later", ["talk": "/in/talk.wav", "intro": "/in/b.wav"], files: ["/out/talk.mp3"])
    #expect(try store.runs.open().isEmpty)
  }

  @Test("failures can be forgotten, and are not told after an age; what was stopped stays")
  func forgotten() throws {
    try end("old", .failed, at: 1000)
    try end("new", .failed, of: "/in/b.wav", digest: "b", at: 2000)
    try end("cut", .interrupted, of: "/in/c.wav", digest: "c", at: 1000)
    #expect(try store.runs.open(failedSince: 1500).map(\.id.name) == ["cut", "new"])
    #expect(try store.runs.forgetFailures(before: 1500).map(\.id.name) == ["old"])
    #expect(try store.runs.open().map(\.id.name) == ["cut", "new"])
    #expect(try store.runs.run(named: "old")?.state == .dropped)
  }

  @Test("failures that a later run resolved are forgotten with the others")
  func superseded() throws {
    try end("first", .failed, at: 1000)
    try end("second", .failed, at: 1100)
    try end("again", .done, at: 1200)
    #expect(try store.runs.open().isEmpty)
    #expect(try store.runs.forgetFailures(before: 1500).map(\.id.name) == ["second", "first"])
    #expect(try store.runs.newest(limit: 9).allSatisfy { $0.state != .failed })
  }

  @Test("no run is named by nothing, also where it is the only one")
  func namedByNothing() throws {
    try end("only", .failed)
    #expect(try store.runs.run(named: "") == nil)
    #expect(try store.runs.run(named: "o")?.id.name == "only")
  }

  @Test("the order of runs outlives the database, and runs without a number come before all")
  func orderOfRecords() throws {
    for (name, time) in [("b", 2.0), ("a", 1), ("old", 9)] {
      var run = record(name, startedAt: time)
      run.state = .done
      try store.runs.save(run)
    }
    try store.withDatabase { (database) throws(SpoolError) in
      _ = try database.transaction(to: "test") { (database) throws(SpoolError) in
        try database.run("UPDATE runs SET number = 0 WHERE id = 'old'", to: "test")
      }
    }
    let copy = scratch.file("copy")
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: store.path + "/changes-1", toPath: copy + "/changes-1")
    let again = try DiskStore(at: copy)
    #expect(again.recovery != nil)
    #expect(try again.runs.newest(limit: 9).map(\.id.name) == ["a", "b", "old"])
    try again.runs.save(record("c", startedAt: 0))
    #expect(try again.runs.newest(limit: 9).map(\.id.name) == ["c", "a", "b", "old"])
  }

  @Test(
    "a run whose row has another name by a flipped bit is not taken for one that never was",
    arguments: [false, true])
  func flippedName(inIndex: Bool) throws {
    // Not a whole number, which would be stored in fewer bytes.
    let start = 1_764_000_000.5
    let run = record("20261121-142205-3f9a", startedAt: start)
    var ended = run
    ended.state = .done
    try store.runs.save(ended)
    try store.runs.save(record("20261121-142206-aaaa", startedAt: start + 1))
    _ = try store.withDatabase { (database) throws(SpoolError) in
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "test")
    }
    let file = URL(fileURLWithPath: store.path + "/spool.sqlite")
    var bytes = try Data(contentsOf: file)
    // The name behind which the time follows is the table's; the one behind the time is the index's.
    let time = Data((0..<8).map { UInt8(truncatingIfNeeded: start.bitPattern >> (56 - 8 * $0)) })
    let name = Data(run.id.name.utf8)
    let found = try #require(
      bytes.range(of: inIndex ? time.suffix(4) + name : name + time.prefix(4)))
    bytes[found.lowerBound + (inIndex ? 4 : 0) + 3] ^= 1
    try bytes.write(to: file)

    let copy = try ScratchFolder()
    try FileManager.default.copyItem(atPath: store.path, toPath: copy.file("store"))
    let report = try Inspection(of: copy.file("store")).run()
    #expect(report.findings.contains { $0.kind == .database })
    let damaged = try DiskStore(at: copy.file("store"))
    #expect(damaged.recovery != nil)
    let runs = try damaged.runs.newest(limit: 10)
    #expect(runs.contains(ended) && runs.count == 2, "\(runs)")
  }

  @Test("the beginning of a name is enough where it tells runs apart")
  func prefixes() throws {
    for name in ["2026-a", "2026-ab", "2026-b", "x%_"] { try store.runs.save(record(name)) }
    #expect(try store.runs.run(named: "2026-b")?.id.name == "2026-b")
    #expect(try store.runs.run(named: "x")?.id.name == "x%_")
    #expect(try store.runs.run(named: "2026-a")?.id.name == "2026-a", "a whole name wins")
    #expect(try store.runs.run(named: "%") == nil, "nothing in it is a pattern")
    #expect(try store.runs.run(named: "2027") == nil)
    let error = try #require(throws: SpoolError.self) { try store.runs.run(named: "2026") }
    #expect(error.why.contains("2026-b, 2026-ab, 2026-a"))
    #expect(error.advice == "type more of the name")
  }

  @Test("a run whose process died while it was under way is cut off; one of this process is not")
  func cutOff() async throws {
    let path = store.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try DiskStore(at: path)
      for name in ["killed", "ended"] {
        var run = RunRecord(
          id: RunID(name), pipeline: "p", pipelinePath: "/p", inputs: [:], overrides: [:],
          startedAt: 2)
        try store.runs.save(run)
        guard name == "ended" else { continue }
        run.state = .done
        try store.runs.save(run)
      }
      kill(getpid(), SIGKILL)
    }
    try store.runs.save(record("own", startedAt: 1))
    #expect(
      try store.runs.newest(limit: 9).map { "\($0.id.name) \($0.state.rawValue)" }
        == ["own running", "ended done", "killed cut-off"])
    #expect(try store.runs.run(named: "killed")?.state == .cutOff)
  }

  @Test("nothing is said of the process of a run that an older Spool recorded")
  func unknownOwner() throws {
    try store.runs.save(record("old"))
    try store.withDatabase { (database) throws(SpoolError) in
      _ = try database.run("UPDATE runs SET owner = NULL", to: "test")
    }
    #expect(try store.runs.run(named: "old")?.state == .running)
  }
}
