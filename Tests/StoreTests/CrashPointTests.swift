import Foundation
import TestSupport
import Testing

@testable import Store

@Suite struct CrashPointTests {
  @Test("the chosen operation is the n-th, and no other")
  func counting() {
    let point = CrashPoint(before: 3)
    #expect((0..<5).map { _ in point.isNext() } == [false, false, true, false, false])
  }

  @Test("what only reads is not counted, and whatever may leave a trace is")
  func counted() {
    #expect(!FileOperation.read("a").changesDisk)
    #expect(!FileOperation.startWriteback("a").changesDisk)
    for operation: FileOperation in [
      .makeFolder("a"), .open("a"), .write("a", byteCount: 1), .truncate("a"), .setMode("a"),
      .flush("a"), .rename(from: "a", to: "b"), .link(from: "a", to: "b"), .unlink("a"),
      .flushFolder("a"), .clone(from: "a", to: "b"), .copyRange(from: "a", to: "b"),
    ] {
      #expect(operation.changesDisk, "\(operation)")
    }
  }

  @Test("a process is killed before its first operation, and before a commit")
  func death() async throws {
    // Nothing is made before the first operation, which makes the store's folder.
    await #expect(processExitsWith: .signal(SIGKILL)) {
      setenv(CrashPoint.variable, "1", 1)
      let scratch = try ScratchFolder()
      defer { _ = scratch }
      _ = try DiskStore(at: scratch.file("store"))
    }
    // Folders: the store and two in it, each made and its name flushed. Then come the tables.
    await #expect(processExitsWith: .signal(SIGKILL)) {
      setenv(CrashPoint.variable, "2", 1)
      let scratch = try ScratchFolder()
      var database = try Database(at: scratch.file("test.sqlite"))
      try database.run("CREATE TABLE things (name TEXT) STRICT", to: "test")
      // A statement that changes nothing commits nothing.
      try database.run("SELECT * FROM things", to: "test")
      try database.run("INSERT INTO things VALUES ('a')", to: "test")
      exit(0)
    }
    await #expect(processExitsWith: .exitCode(0)) {
      setenv(CrashPoint.variable, "3", 1)
      let scratch = try ScratchFolder()
      var database = try Database(at: scratch.file("test.sqlite"))
      try database.run("CREATE TABLE things (name TEXT) STRICT", to: "test")
      try database.run("SELECT * FROM things", to: "test")
      try database.run("INSERT INTO things VALUES ('a')", to: "test")
      exit(0)
    }
  }
}
