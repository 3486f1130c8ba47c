import Foundation
import Platform
@testable import Store
import TestSupport
import Testing

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
      .setOwner("a"), .flush("a"), .rename(from: "a", to: "b"), .link(from: "a", to: "b"),
      .unlink("a"),
      .flushFolder("a"), .clone(from: "a", to: "b"), .copyRange(from: "a", to: "b"),
    ] {
      #expect(operation.changesDisk, "\(operation)")
    }
  }

  @Test("a process dies right before its operation")
  func death() async throws {
    let scratch = try ScratchFolder()
    let path = scratch.file("store")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      unsafe setenv(CrashPoint.variable, "1", 1)
      _ = try DiskStore(at: path)
    }
    #expect(names(in: scratch.path) == [], "the first operation makes the store's folder")
  }

  @Test("commits count as operations, and statements that change nothing do not", arguments: 1...3)
  func commits(number: Int) async throws {
    let scratch = try ScratchFolder()
    let path = scratch.file("test.sqlite")
    let life: ExitTest.Condition = number < 3 ? .signal(SIGKILL) : .exitCode(0)
    await #expect(processExitsWith: life) { [path = path as String, number = number as Int] in
      unsafe setenv(CrashPoint.variable, "\(number)", 1)
      var database = try Database(at: path)
      try database.run("CREATE TABLE things (name TEXT) STRICT", to: "test")
      try database.run("SELECT * FROM things", to: "test")
      try database.run("INSERT INTO things VALUES ('a')", to: "test")
      exit(0)
    }
    var database = try Database(at: path)
    let tables = try database.run("SELECT name FROM sqlite_schema", to: "test").count
    #expect(tables == (number > 1 ? 1 : 0))
    guard tables == 1 else { return }
    #expect(try database.run("SELECT name FROM things", to: "test").count == (number > 2 ? 1 : 0))
  }
}
