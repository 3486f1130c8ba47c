import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// What becomes of a store whose database was lost or damaged, when it is opened next.
@Suite struct RebuildTests {
  private let sample: StoreSample
  private var slot: String { sample.path + "/backups/spool-1.sqlite" }
  private var log: String { sample.database + "-wal" }

  init() throws { sample = try StoreSample() }

  enum Loss: CaseIterable {
    case text, empty, deleted, cut, header
  }

  private func lose(_ loss: Loss) throws {
    switch loss {
    case .text: try put("this is not a database at all, but a text", at: sample.database)
    case .empty: try put("", at: sample.database)
    case .deleted: try FileManager.default.removeItem(atPath: sample.database)
    case .cut: #expect(unsafe truncate(sample.database, 5000) == 0)
    case .header: for offset in 0..<16 { try flipBit(3, ofByte: offset, in: sample.database) }
    }
  }

  @Test(
    "a lost database comes back from the newest backup and the log", arguments: Loss.allCases)
  func fromBackup(loss: Loss) throws {
    // Later than the backup, so that only the log knows it.
    let late = Checkpoint(components: .sample("late", "1"), outputs: [:], memo: "{}")
    do { try DiskStore(at: sample.path).commit(late) }
    try lose(loss)
    let recovery = try #require(try DiskStore(at: sample.path).recovery)
    #expect(recovery.slot == 1)
    #expect(recovery.checkpoints == 1 && recovery.runs == 0)
    #expect((recovery.keptAside == nil) == (loss == .empty || loss == .deleted))
    #expect(try sample.remembersEverything())
    #expect(try DiskStore(at: sample.path).checkpoint(for: late.key) == late)
    #expect(try DiskStore(at: sample.path).recovery == nil)
    let store = try DiskStore(at: sample.path)
    #expect(try store.isPublished(published, at: sample.export))
  }

  private var published: Digest {
    get throws {
      try #require(sample.checkpoints[2].outputs.values.first?.artifact).digest
    }
  }

  @Test("with its backups lost too, it comes back from the log", arguments: Loss.allCases)
  func fromLog(loss: Loss) throws {
    try put("no backup", at: slot)
    try lose(loss)
    let recovery = try #require(try DiskStore(at: sample.path).recovery)
    #expect(recovery.slot == nil && recovery.checkpoints == 3 && recovery.runs == 1)
    #expect(try sample.remembersEverything())
    #expect(recovery.line.contains("change log beside it: 3 checkpoints and 1 run"))
  }

  @Test("a damaged newest backup is passed over for the one before it")
  func secondSlot() throws {
    do { _ = try DiskStore(at: sample.path).backUp() }
    try put("no backup", at: slot)
    try lose(.text)
    #expect(try DiskStore(at: sample.path).recovery?.slot == 2)
    #expect(try sample.remembersEverything())
  }

  @Test("what the backup names and is gone since is struck")
  func agedBackup() throws {
    try FileManager.default.removeItem(atPath: sample.artifact(0))
    try FileManager.default.removeItem(atPath: sample.artifact(2))
    try lose(.text)
    do { _ = try DiskStore(at: sample.path) }
    #expect(try sample.damage() == [])
  }

  @Test("the damaged file is kept whole, under a name that tells when")
  func keptAside() throws {
    try lose(.text)
    let aside = try #require(try DiskStore(at: sample.path).recovery?.keptAside)
    #expect(aside.hasPrefix(sample.database + ".damaged-2"))
    #expect(text(at: aside)?.hasPrefix("this is not a database") == true)
  }

  /// A store whose process was killed, with all of its last commits in the log.
  private func killed() async throws {
    let path = sample.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try DiskStore(at: path)
      for number in 0..<5 {
        try store.commit(
          Checkpoint(components: .sample("logged", "\(number)"), outputs: [:], memo: "{}"))
      }
      kill(getpid(), SIGKILL)
    }
    #expect((try? FileStamp(at: log).byteCount) ?? 0 > 0)
  }

  private func loggedCount() throws -> Int {
    let store = try DiskStore(at: sample.path)
    return try (0..<5).filter {
      try store.checkpoint(for: KeyComponents.sample("logged", "\($0)").key) != nil
    }.count
  }

  @Test(
    "a database that was cut costs commits, which the change log gives back",
    arguments: [0, 100, 5000])
  func cutLog(byteCount: Int) async throws {
    try await killed()
    #expect(unsafe truncate(log, byteCount) == 0)
    let found = try sample.inspect()
    #expect(found.findings.map(\.kind) == [.databaseBehind])
    #expect(try loggedCount() == 5, "the next opening takes them in")
    #expect(try sample.remembersEverything())
  }

  @Test("a flipped bit in the log never makes a wrong row", arguments: [0.05, 0.3, 0.6, 0.95])
  func flippedLog(place: Double) async throws {
    try await killed()
    let count = try Data(contentsOf: URL(fileURLWithPath: log)).count
    try flipBit(5, ofByte: Int(Double(count) * place), in: log)
    #expect(try sample.damage().map(\.kind).allSatisfy { $0 == .databaseBehind })
    _ = try Repair(of: sample.path).run()
    #expect(try loggedCount() == 5)
    #expect(try sample.inspect().findings == [])
  }

  @Test("an older database is backed up before it is brought up to date")
  func older() throws {
    let scratch = try ScratchFolder()
    let path = scratch.file("store")
    let older = Schema(steps: Array(Schema.current.steps.dropLast()))
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    do {
      var database = try Database(at: path + "/spool.sqlite")
      try older.migrate(&database, at: path)
    }
    let store = try DiskStore(at: path)
    #expect(store.recovery == nil)
    #expect(names(in: path + "/backups") == ["spool-1.sqlite"])
    var backup = try Database(at: path + "/backups/spool-1.sqlite", for: .frozen)
    #expect(
      try backup.run("PRAGMA user_version", to: "test")
        == [[.integer(Int64(Schema.current.steps.count - 1))]])
  }

  @Test("a newer database is refused, and neither repaired nor backed up")
  func newer() throws {
    do {
      let database = try Database(at: sample.database)
      // Far from this format: one flipped bit would be taken for damage.
      let version = Schema.current.steps.count ^ 0x7FF0
      try database.script("PRAGMA user_version = \(version)", to: "test")
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: sample.database))
    let error = try #require(throws: SpoolError.self) { try DiskStore(at: sample.path) }
    #expect(error.kind == .newer && error.message.contains("a newer Spool has upgraded"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: sample.database)) == before)
    #expect(names(in: sample.path + "/backups") == ["spool-1.sqlite"])
  }

  @Test("two processes that find it damaged make it again once, and both go on")
  func twoAtOnce() async throws {
    try put("text", at: sample.database)
    let path = sample.path
    async let first: Void = open(path)
    async let second: Void = open(path)
    _ = await (first, second)
    #expect(names(in: path).filter { $0.contains("damaged") }.count == 1)
    #expect(try sample.remembersEverything())
  }

  private func open(_ path: String) async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try DiskStore(at: path)
      try #require(try store.runs.newest(limit: 5).count == 1)
      usleep(100_000)
    }
  }

  @Test("while somebody still works on the damaged one, it is not taken from under him")
  func inUse() throws {
    let store = try DiskStore(at: sample.path)
    let lock = try FolderLock(sample.path)
    let isAlone = lock.tryAlone()
    #expect(!isAlone)
    #expect(lock.holdersInWords.contains("process \(getpid())"))
    #expect(store.othersInStore == [])
    let refusal = #expect(throws: SpoolError.self) {
      try DiskStore.restore(sample.path, from: slot, files: .system)
    }
    #expect(refusal?.action == "restore")
  }

  @Test(
    "a rebuild that fails at any call is done again by the next opening",
    arguments: [ENOSPC, EIO])
  func faults(code: CInt) throws {
    for number in 1... {
      let sample = try StoreSample()
      if number % 2 == 0 { try put("no backup", at: sample.path + "/backups/spool-1.sqlite") }
      try put("no database", at: sample.database)
      let probe = FileProbe(.once(number, code: code))
      _ = try? DiskStore(at: sample.path, files: probe.files)
      if probe.failures.isEmpty {
        #expect(number > 8)
        break
      }
      if probe.failures.contains(where: { "\($0)".contains("/changes-") }), code == EIO {
        // A log that the disk did not give was done without, and is taken in when it does.
        do { _ = try DiskStore(at: sample.path) }
        _ = try Repair(of: sample.path).run()
      }
      #expect(try sample.remembersEverything(), "\(probe.failures)")
      #expect(try sample.damage().filter { $0.kind != .damagedBackup } == [], "\(probe.failures)")
    }
  }

  @Test("a process that dies at any call of a rebuild leaves what the next opening mends")
  func death() throws {
    for number in 1... {
      let sample = try StoreSample()
      try put("no database", at: sample.database)
      let probe = FileProbe(.deadFrom(number))
      _ = try? DiskStore(at: sample.path, files: probe.files)
      if probe.failures.isEmpty { break }
      #expect(try sample.remembersEverything(), "\(probe.failures)")
    }
  }
}
