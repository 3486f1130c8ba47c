import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite("No damage to the change log costs what the database or a backup has")
struct ChangeLogDamageTests {
  private let scratch: ScratchFolder
  private var path: String { scratch.file("store") }
  init() throws { scratch = try ScratchFolder() }

  private func cp(_ number: Int) -> Checkpoint {
    Checkpoint(components: .sample("eq", "\(number)"), outputs: [:], memo: "{}")
  }
  private func count(_ store: DiskStore) throws -> Int {
    try store.withDatabase { (database) throws(SpoolError) in
      try CheckpointTable.keys(in: &database).count
    }
  }

  @Test("a log that is shorter than the database knows")
  func shorter() throws {
    do {
      let store = try DiskStore(at: path)
      for number in 0..<20 { try store.commit(cp(number)) }
    }
    let log = path + "/changes-1"
    let half = off_t(try FileStamp(at: log).byteCount / 2)
    #expect(unsafe truncate(log, half) == 0)
    let store = try DiskStore(at: path)
    #expect(try count(store) == 20)
  }

  @Test("a damaged log, a lost database and a good backup")
  func damagedNewer() throws {
    do {
      let store = try DiskStore(at: path)
      for number in 0..<400 { try store.commit(cp(number)) }
      _ = try store.backUp()
      try store.withDatabase { (database) throws(SpoolError) in
        try store.changeLog.renew(in: &database)
      }
      try store.commit(cp(401))
    }
    try flipBit(2, ofByte: 300, in: path + "/changes-2")
    try FileManager.default.removeItem(atPath: path + "/spool.sqlite")
    let store = try DiskStore(at: path)
    #expect(store.recovery?.slot == 1)
    #expect(try count(store) >= 400)
  }

  @Test("a database that is behind, and has a row of its own")
  func behind() throws {
    let original = scratch.file("original")
    do {
      let store = try DiskStore(at: original)
      for number in 0..<10 { try store.commit(cp(number)) }
      try store.withDatabase { (database) throws(SpoolError) in
        database.recorder = nil
        try database.run(
          "UPDATE checkpoints SET memo = 'x' WHERE key = ?",
          [.text(KeyComponents.sample("eq", "3").key.digest.hex)], to: "test")
        database.recorder = store.changeLog.recorder(knowing: .current)
        _ = try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "test")
      }
      for number in 10..<20 { try store.commit(cp(number)) }
      try FileManager.default.copyItem(atPath: original, toPath: path)
      withExtendedLifetime(store) {}
    }
    #expect(unsafe truncate(path + "/spool.sqlite-wal", 0) == 0)
    _ = unsafe unlink(path + "/spool.sqlite-shm")
    #expect(try Inspection(of: path).run().findings.contains { $0.kind == .databaseBehind })
    _ = try Repair(of: path).run()
    #expect(try count(DiskStore(at: path)) == 20)
  }

  @Test("another store's backup with the same recording")
  func foreign() throws {
    func admit(_ folder: String, _ inbox: String) throws {
      let store = try DiskStore(at: folder)
      _ = try store.recordings.admit(
        RecordingArrival(
          pipeline: "voice", inbox: inbox, path: "a.m4a",
          stamp: RecordingFileStamp(inode: 1, byteCount: 5, modified: 7, changed: 8),
          fileName: "a.m4a", recording: try store.makeArtifact("sound", kind: .sound)),
        conflicts: .quarantine)
    }
    let other = scratch.file("other")
    try admit(path, "/inbox")
    try admit(other, "/elsewhere")
    let copy = scratch.file("copy.sqlite")
    try DiskStore(at: other).backUp(to: copy, isReplacing: false)
    _ = try DiskStore.restore(path, from: copy, acceptsOtherStore: true)
    let store = try DiskStore(at: path)
    let notes = try store.recordings.matching(RecordingQuery())
    #expect(notes.count == 1)
    #expect(try store.recordings.files(of: notes[0].key).count >= 1)
  }

  @Test("an old backup that takes another file for its log")
  func sameNumber() throws {
    let copy = scratch.file("copy.sqlite")
    do {
      let store = try DiskStore(at: path)
      for number in 0..<20 { try store.commit(cp(number)) }
      try store.backUp(to: copy, isReplacing: false)
      var database = try Database(at: copy)
      try database.run(
        "UPDATE ledger SET generation = 1, byte_count = 1000, number = 1", to: "test")
      try database.run("DELETE FROM checkpoints", to: "test")
    }
    _ = try DiskStore.restore(path, from: copy)
    let store = try DiskStore(at: path)
    #expect(try count(store) == 20)
  }

  @Test("a log whose last bytes a power cut made zeros")
  func zeros() throws {
    let original = scratch.file("original")
    do {
      let store = try DiskStore(at: original)
      for number in 0..<10 { try store.commit(cp(number)) }
      // As the cut leaves it: the database's own log is still there.
      try FileManager.default.copyItem(atPath: original, toPath: path)
      withExtendedLifetime(store) {}
    }
    let log = path + "/changes-1"
    let length = try FileStamp(at: log).byteCount
    let file = try #require(FileHandle(forWritingAtPath: log))
    try file.seek(toOffset: UInt64(length - 50))
    try file.write(contentsOf: Data(count: 50))
    try file.close()
    do {
      let store = try DiskStore(at: path)
      for number in 10..<20 { try store.commit(cp(number)) }
    }
    for name in names(in: path) where name.hasPrefix("spool.sqlite") || name == "backups" {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
    #expect(try count(DiskStore(at: path)) == 20)
  }

  /// Damages the record of a checkpoint, and loses the database and its backups.
  private func loseAll(andDamage number: Int) throws {
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "/changes-1"))
    let place = try #require(log.range(of: Data(cp(number).key.digest.hex.utf8)))
    try flipBit(2, ofByte: place.lowerBound, in: path + "/changes-1")
    for name in names(in: path) where name.hasPrefix("spool.sqlite") || name == "backups" {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
  }

  @Test("a damaged record costs its rows, and none behind it; the recovery says so")
  func resumption() throws {
    do {
      let store = try DiskStore(at: path)
      for number in 0..<20 { try store.commit(cp(number)) }
    }
    try loseAll(andDamage: 7)
    let store = try DiskStore(at: path)
    #expect(try count(store) == 19)
    let recovery = try #require(store.recovery)
    #expect(recovery.unreadBytes > 50)
    #expect(recovery.line.contains("bytes of the log are damaged and could not be read"))
    try store.commit(cp(7))
    #expect(store.changeLog.generations == [2])
    #expect(store.changeLog.isIntact(2))
  }

  @Test("what belonged to a row in a damaged record is left out")
  func orphans() throws {
    do {
      let store = try DiskStore(at: path)
      try store.commit(cp(1))
      let key = try store.recordings.admit(
        RecordingArrival(
          pipeline: "voice", inbox: "/inbox", path: "a.m4a",
          stamp: RecordingFileStamp(inode: 1, byteCount: 5, modified: 7, changed: 8),
          fileName: "a.m4a", recording: try store.makeArtifact("sound", kind: .sound)),
        conflicts: .quarantine
      ).recording.key
      let place = try FileStamp(at: path + "/changes-1").byteCount - 20
      _ = try store.recordings.change(key, .begin)
      try store.commit(cp(2))
      try flipBit(2, ofByte: Int(place), in: path + "/changes-1")
    }
    for name in names(in: path) where name.hasPrefix("spool.sqlite") || name == "backups" {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
    do {
      let store = try DiskStore(at: path)
      #expect(try count(store) == 2)
      #expect(try store.recordings.matching(RecordingQuery()) == [])
    }
    // The loss is reported until a repair accepts it.
    let damage = try Inspection(of: path).run().findings.filter(\.isDamage)
    #expect(damage.map(\.kind) == [.lostRecords])
    _ = try Repair(of: path).run()
    #expect(try Inspection(of: path).run().isSound)
  }

  @Test("a damaged log is found once a day, with the backup, and written again")
  func daily() throws {
    do {
      let store = try DiskStore(at: path)
      for number in 0..<20 { try store.commit(cp(number)) }
      try flipBit(2, ofByte: 400, in: path + "/changes-1")
      try? FileManager.default.removeItem(atPath: path + "/backups")
      store.backUpIfDue()
      #expect(store.changeLog.generations == [2])
      try store.commit(cp(20))
    }
    for name in names(in: path) where name.hasPrefix("spool.sqlite") || name == "backups" {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
    let store = try DiskStore(at: path)
    #expect(store.recovery?.unreadBytes == 0)
    #expect(try count(store) == 21)
  }

  @Test("a rebuild counts what the backup did not have")
  func counts() throws {
    do {
      let store = try DiskStore(at: path)
      for number in 0..<3 { try store.commit(cp(number)) }
      _ = try store.backUp()
      try store.commit(cp(3))
      try store.withDatabase { (database) throws(SpoolError) in
        try store.changeLog.renew(in: &database)
      }
    }
    try FileManager.default.removeItem(atPath: path + "/spool.sqlite")
    #expect(try DiskStore(at: path).recovery?.checkpoints == 1)
  }

  @Test("a replaced file goes with the next change, and not only when the store is opened again")
  func replaced() throws {
    let store = try DiskStore(at: path)
    try store.commit(cp(1))
    try store.withDatabase { (database) throws(SpoolError) in
      try database.transaction(to: "test", isRecorded: false) { (database) throws(SpoolError) in
        var state = try ChangeLog.state(in: &database)
        try store.changeLog.begin(&state, in: &database)
        try ChangeLog.record(state, in: &database)
      }
    }
    #expect(store.changeLog.generations == [1, 2])
    try store.commit(cp(2))
    #expect(store.changeLog.generations == [2])
  }

  @Test("a new file belongs to the database's owner, whoever begins it")
  func owner() throws {
    let isRoot = getuid() == 0
    do {
      let store = try DiskStore(at: path)
      let database = path + "/spool.sqlite"
      #expect(unsafe chmod(database, 0o664) == 0)
      if isRoot { #expect(unsafe chown(database, 65534, 65533) == 0) }
      try store.commit(cp(1))
    }
    var status = stat()
    #expect(unsafe stat(path + "/changes-1", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o664)
    if isRoot { #expect(status.st_uid == 65534 && status.st_gid == 65533) }
  }
}
