import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct CollectionTests {
  private static let day = 86400.0
  private let sample: StoreSample

  /// A store whose one run is 40 days old.
  init() throws {
    sample = try StoreSample(runStart: Date().timeIntervalSince1970 - 40 * Self.day)
    try sample.age(by: 40 * Self.day)
  }

  private func collect(
    isDryRun: Bool = false, _ change: (inout CollectionPolicy) -> Void = { _ in }
  ) throws -> CollectionReport {
    var policy = CollectionPolicy()
    change(&policy)
    return try DiskStore(at: sample.path).collect(policy, isDryRun: isDryRun)
  }

  @Test("what no run of the last 30 days needs goes, and the list of runs stays")
  func old() throws {
    let plan = try collect(isDryRun: true)
    #expect(plan.files.map(\.byteCount) == [10_000, 4000, 11])
    #expect(plan.checkpoints == 3 && plan.runs == 1 && plan.isDryRun)
    #expect(sample.files(in: "artifacts").count == 3, "a dry run changed something")
    let report = try collect()
    #expect(report.freedBytes == 14_011 && report.keptBytes == 0)
    #expect(report.files == plan.files)
    #expect(sample.files(in: "artifacts") == [])
    #expect(try sample.inspect().findings == [])
    #expect(try DiskStore(at: sample.path).runs.run(named: sample.run.id.name) == sample.run)
    #expect(try collect().freedBytes == 0)
  }

  @Test("a younger run keeps all that it needs", arguments: [39.0, 41.0])
  func age(days: Double) throws {
    let report = try collect { $0.age = days * Self.day }
    #expect(report.files.count == (days < 40 ? 3 : 0))
    #expect(try sample.remembersEverything() == (days > 40))
  }

  @Test("a pinned run keeps what it needs until it is unpinned, even if the database is lost")
  func pins() throws {
    do { #expect(try DiskStore(at: sample.path).runs.pin("20261121")?.id == sample.run.id) }
    #expect(try collect().pinned == 1)
    for name in ["spool.sqlite", "backups/spool-1.sqlite"] {
      try FileManager.default.removeItem(atPath: sample.path + "/" + name)
    }
    #expect(try collect().files == [])
    #expect(try sample.remembersEverything())
    do {
      let store = try DiskStore(at: sample.path)
      #expect(try store.runs.pin("1999") == nil)
      #expect(try store.runs.unpin("20261121")?.id == sample.run.id)
    }
    try sample.age(by: 40 * Self.day)
    #expect(try collect().files.count == 3)
  }

  @Test("sound alone goes, its checkpoint stays, and nothing else does")
  func sound() throws {
    let report = try collect { $0.isSoundOnly = true }
    #expect(report.files.map(\.byteCount) == [10_000] && report.checkpoints == 0)
    let store = try DiskStore(at: sample.path)
    let decode = try #require(try store.checkpoint(for: sample.checkpoints[0].key))
    #expect(decode.outputs[.sound]?.artifact == nil)
    #expect(try store.checkpoint(for: sample.checkpoints[2].key) == sample.checkpoints[2])
    #expect(try sample.inspect().findings == [])
  }

  @Test("what was asked for within the hour stays")
  func wanted() throws {
    let store = try DiskStore(at: sample.path)
    #expect(try store.checkpoint(for: sample.checkpoints[2].key) != nil)
    let report = try store.collect(CollectionPolicy())
    #expect(report.files.map(\.byteCount) == [10_000, 11])
    #expect(report.recentBytes == 4000)
    #expect(try store.checkpoint(for: sample.checkpoints[2].key) == sample.checkpoints[2])
  }

  @Test("what unfinished work holds under another name stays")
  func linked() throws {
    let path = try sample.artifact(2)
    #expect(unsafe link(path, sample.scratch.file("held")) == 0)
    #expect(try collect().files.map(\.byteCount) == [10_000, 11])
    #expect(try DiskStore(at: sample.path).checkpoint(for: sample.checkpoints[2].key) != nil)
  }

  @Test("a checkpoint whose run could not say so any more is as old as its record")
  func cutOff() throws {
    do {
      let store = try DiskStore(at: sample.path)
      let artifact = try store.makeArtifact("of a run that was killed")
      try store.commit(
        Checkpoint(
          components: .sample("killed", "1"), outputs: [PortName("file"): StepOutput(artifact)]))
    }
    try sample.age(by: 20 * Self.day)
    let killed = KeyComponents.sample("killed", "1").key
    #expect(try collect().files.count == 3)
    #expect(try DiskStore(at: sample.path).checkpoint(for: killed) != nil)
  }

  @Test("unfinished work goes that nobody has gone on with, and only that")
  func unfinishedWork() throws {
    func store(after days: Double) throws -> DiskStore {
      let now = Clock.now() + Int64(days * Self.day * 1e9)
      return try DiskStore(at: sample.path, files: .system, clock: { now })
    }
    var policy = CollectionPolicy()
    policy.age = 2 * Self.day
    do {
      let claim = try store(after: 0).granted(SHA256.digest(of: "left"))
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append(Array("left behind".utf8))
      claim.release()
    }
    #expect(try store(after: 1).collect(policy).unfinished == [])
    let held = try store(after: 0).granted(SHA256.digest(of: "held"))
    let plan = try store(after: 3).collect(policy, isDryRun: true)
    #expect(plan.unfinished.map(\.byteCount) == [11])
    #expect(names(in: sample.path + "/work").count == 2, "a dry run changed something")
    let report = try store(after: 3).collect(policy)
    #expect(report.unfinished == plan.unfinished)
    #expect(names(in: sample.path + "/work").count == 1)
    try held.record("still there")
  }

  @Test("a run under way in another process keeps what was wanted since it began")
  func underWay() async throws {
    let (path, key) = (sample.path, sample.checkpoints[2].key.digest.hex)
    do {
      // It asked for this two hours ago, and has been at work since.
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -2 * 3600)],
        ofItemAtPath: sample.artifact(2))
      try sample.setRecorded(at: Date().timeIntervalSince1970 - 2 * 3600, key: key)
    }
    let ready = sample.scratch.file("ready")
    let end = sample.scratch.file("end")
    let meanwhile = Meanwhile { [self] in
      defer { #expect(FileManager.default.createFile(atPath: end, contents: nil)) }
      #expect(eventually { FileManager.default.fileExists(atPath: ready) })
      let report = try collect()
      #expect(report.files.map(\.byteCount) == [10_000, 11])
      // Older than the grace period, and kept for the run alone.
      #expect(report.recentBytes == 4000 && report.runningBytes == 4000)
    }
    await hold(path, ready, end)
    try meanwhile.end()
    #expect(try collect().files.map(\.byteCount) == [4000])
  }

  @Test("nor does what a run under way used just before it began, or wrote once more, go")
  func usedBefore() throws {
    let store = try DiskStore(at: sample.path)
    func age(_ file: Artifact, by seconds: Double) throws {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -seconds)],
        ofItemAtPath: try #require(store.file(of: file.digest)))
    }
    // A sidecar is stored before the run that needs it begins, and a use shows as up to ten minutes
    // earlier.
    let sidecar = try store.keep(#"{"title":"Hello"}"#, as: .file)
    try age(sidecar, by: 3 * 3600 + 300)
    let other = try store.keep("of long ago", as: .file)
    try age(other, by: 4 * 3600)
    var run = RunRecord(
      id: RunID("under-way"), pipeline: "p", pipelinePath: "/p", inputs: [:], overrides: [:],
      startedAt: Date().timeIntervalSince1970 - 3 * 3600)
    try store.runs.save(run)
    // The same bytes again.
    let again = try store.keep("said twice", as: .file)
    try age(again, by: 4 * 3600)
    #expect(try store.keep("said twice", as: .file) == again)
    let lengths = [10_000, 4000, 11]
    #expect(try collect { $0.grace = 1 }.files.map(\.byteCount) == lengths + [11])
    #expect(store.file(of: other.digest) == nil)
    #expect(try store.path(of: sidecar) != store.path(of: again))
    run.state = .done
    try store.runs.save(run)
    try age(sidecar, by: 3 * 3600)
    #expect(try collect().files.map(\.byteCount) == [sidecar.byteCount])
  }

  private func hold(_ path: String, _ ready: String, _ end: String) async {
    await #expect(processExitsWith: .success) {
      [path = path as String, ready = ready as String, end = end as String] in
      let store = try DiskStore(at: path)
      try store.runs.save(
        RunRecord(
          id: RunID("under-way"), pipeline: "p", pipelinePath: "/p", inputs: [:], overrides: [:],
          startedAt: Date().timeIntervalSince1970 - 3 * 3600))
      try put("", at: ready)
      awaitFile(end)
      _ = try store.runs.newest(limit: 1)
    }
  }

  @Test("cut off or failing anywhere, it leaves a whole store, and the next one finishes")
  func faults() throws {
    for number in 1... {
      let sample = try StoreSample(runStart: Date().timeIntervalSince1970 - 40 * Self.day)
      try sample.age(by: 40 * Self.day)
      let probe = FileProbe(
        number % 2 == 0 ? .deadFrom(number / 2) : .once(number / 2 + 1, code: EIO))
      do {
        let store = try DiskStore(at: sample.path, files: probe.files)
        _ = try? store.collect(CollectionPolicy())
      }
      if probe.failures.isEmpty {
        #expect(number > 10)
        break
      }
      let report = try sample.inspect()
      #expect(report.isSound, "\(probe.failures): \(report.findings)")
      try sample.age(by: 40 * Self.day)
      _ = try DiskStore(at: sample.path).collect(CollectionPolicy())
      #expect(sample.files(in: "artifacts") == [], "\(probe.failures)")
    }
  }
}

/// Runs that did not come to their end are gone on with, however long that takes.
@Suite struct UnfinishedCollectionTests {
  private static let day = 86400.0
  private let sample: StoreSample
  private let work = SHA256.digest(of: "work")

  /// A store where all is 40 days old, and the run was stopped.
  init() throws {
    let start = Date().timeIntervalSince1970 - 40 * Self.day
    sample = try StoreSample(runStart: start)
    var run = sample.run
    run.state = .interrupted
    // Killed right after it had made the last checkpoint, it could not say so.
    run.steps.removeLast()
    let past = Int64((start + 1) * 1e9)
    let store = try DiskStore(at: sample.path, files: .system, clock: { past })
    try store.runs.save(run)
    guard case .granted(let claim) = try store.claim(work, summary: "eq") else {
      throw CocoaError(.fileLocking)
    }
    _ = try claim.makeDraft("sound", .sound)
    claim.release()
    // Made after the run had begun, and long ago.
    for file in sample.files(in: "artifacts") {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: start + 10)], ofItemAtPath: file)
    }
    try sample.setRecorded(at: start + 10)
  }

  private func collect() throws -> CollectionReport {
    var policy = CollectionPolicy()
    (policy.age, policy.grace) = (0, 0)
    return try DiskStore(at: sample.path).collect(policy)
  }

  @Test("nothing that an unfinished run needs is freed, until it is dropped or done")
  func held() throws {
    let report = try collect()
    #expect(report.files == [] && report.unfinished == [] && report.held == 1)
    #expect(try sample.inspect().artifacts == 3)
    #expect(try DiskStore(at: sample.path).runs.drop(sample.run.id.name)?.state == .dropped)
    let freed = try collect()
    #expect(freed.files.count == 3 && freed.held == 0)
    #expect(throws: SpoolError.self) {
      var running = sample.run
      running.state = .running
      let store = try DiskStore(at: sample.path)
      try store.runs.save(running)
      _ = try store.runs.drop(running.id.name)
    }
  }

  @Test("a run that was given up frees its attempts' work at once, and each byte counts once")
  func givenUp() throws {
    let sample = try StoreSample()
    let store = try DiskStore(at: sample.path)
    var first = sample.run
    first.state = .interrupted
    try store.runs.save(first)
    var artifact: Artifact?
    do {
      let claim = try store.granted(work)
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append([UInt8](repeating: 7, count: 5000))
      artifact = try draft.seal()
      let rest = try claim.makeDraft("rest", .file)
      try rest.append([UInt8](repeating: 8, count: 300))
      try rest.flush()
    }
    let path = try store.path(of: try #require(artifact))
    let now = Date().timeIntervalSince1970
    var again = RunRecord(
      id: RunID("20261122-000000-bbbb"), pipeline: "note", pipelinePath: "/p/note.yaml",
      inputs: ["note": "/in/note.m4a"], overrides: [:], startedAt: now, resumes: first.id)
    (again.state, again.finishedAt) = (.interrupted, now)
    try store.runs.save(again)
    var policy = CollectionPolicy()
    policy.grace = 0
    let kinds = try store.contents(policy).kinds.filter { $0.name == "unfinished" }
    #expect(kinds.map(\.byteCount) == [300], "an artifact's file counts as its own")
    let kept = try store.collect(policy)
    #expect(kept.files == [] && kept.unfinished == [] && kept.held == 1)
    #expect(kept.keptBytes >= 5300)

    _ = try store.runs.drop(again.id.name)
    #expect(try store.runs.run(named: first.id.name)?.state == .dropped)
    let lately = try store.collect(CollectionPolicy())
    #expect(lately.unfinished == [] && lately.recentBytes == lately.keptBytes)
    let promised = try store.contents(policy).collectableByteCount
    let plan = try store.collect(policy, isDryRun: true)
    let freed = try store.collect(policy)
    #expect(freed.unfinished.map(\.byteCount) == [300])
    #expect(freed.files.map(\.byteCount).contains(5000))
    #expect(freed.freedBytes == plan.freedBytes && freed.freedBytes == promised)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(names(in: sample.path + "/work") == [])
    #expect(freed.keptBytes == 0)
  }

  @Test("nor is anything that a run under way reuses, however old that is")
  func underWay() throws {
    var running = RunRecord(
      id: RunID("20261122-000000-dddd"), pipeline: "note", pipelinePath: "/p/other.yaml",
      inputs: ["note": "/in/note.m4a"], overrides: [:], startedAt: Date().timeIntervalSince1970)
    running.steps = sample.run.steps
    let store = try DiskStore(at: sample.path)
    _ = try store.runs.drop(sample.run.id.name)
    try store.runs.save(running)
    #expect(try collect().files == [])
    running.state = .done
    running.finishedAt = running.startedAt
    try store.runs.save(running)
    #expect(try collect().files.count == 3)
  }

  @Test("one that was run again holds nothing by itself")
  func settled() throws {
    var again = RunRecord(
      id: RunID("20261122-000000-bbbb"), pipeline: "note", pipelinePath: "/p/note.yaml",
      inputs: ["note": "/in/note.m4a"], overrides: [:], startedAt: sample.run.startedAt + 60,
      resumes: sample.run.id)
    again.state = .done
    again.finishedAt = again.startedAt + 1
    try DiskStore(at: sample.path).runs.save(again)
    let report = try collect()
    #expect(report.held == 0 && report.files.count == 3)
  }

  @Test("while a run is under way, room is kept for its last word")
  func reserve() throws {
    let store = try DiskStore(at: sample.path)
    let id = RunID("20261122-000000-cccc")
    var other = RunRecord(
      id: id, pipeline: "note", pipelinePath: "/p", inputs: [:], overrides: [:], startedAt: 1)
    try store.runs.save(other)
    let reserved = sample.files(in: "drafts")
    #expect(try reserved.map { try FileStamp(at: $0).byteCount } == [Int64(DiskReserve.byteCount)])
    other.state = .paused
    try store.runs.save(other)
    #expect(sample.files(in: "drafts") == [])
  }
}
