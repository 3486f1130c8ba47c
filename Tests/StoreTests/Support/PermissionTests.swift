import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// Each runs in a process of its own, which gives up root's right to do everything.
@Suite struct PermissionTests {
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
    #expect(unsafe chmod(scratch.path, 0o755) == 0)
  }

  private static func giveUpRoot() {
    if getuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
  }

  @Test("a folder that may not be written is refused with advice")
  func closedFolder() async {
    let folder = scratch.file("closed")
    #expect(unsafe mkdir(folder, 0o555) == 0)
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      Self.giveUpRoot()
      let error = try #require(throws: SpoolError.self) { try DiskStore(at: folder + "/store") }
      #expect(error.reason == "Permission denied" && error.path == folder + "/store")
      #expect(error.advice?.contains("permissions") == true)
    }
  }

  @Test(
    "root writes nothing into another user's store, who could not read it",
    .enabled(if: geteuid() == 0, "only root can try"))
  func foreignStore() throws {
    let path = scratch.file("store")
    do { _ = try DiskStore(at: path) }
    #expect(unsafe chown(path + "/" + DiskStore.databaseName, 65534, 65534) == 0)
    let error = try #require(throws: SpoolError.self) { try DiskStore(at: path) }
    #expect(error.action == "write in the store" && error.path == path)
    #expect(error.reason?.contains("it belongs to the user nobody") == true, "\(error)")
    #expect(error.advice?.contains("sudo -u 'nobody'") == true, "\(error)")
    #expect(unsafe chown(path + "/" + DiskStore.databaseName, 0, 0) == 0)
    _ = try DiskStore(at: path)
  }

  @Test("a check says which folder it may not read, and calls nothing damaged")
  func closedShard() async throws {
    let path = scratch.file("store")
    do {
      let store = try DiskStore(at: path)
      try store.commit(
        Checkpoint(
          components: .sample("eq", "1"),
          outputs: [.sound: StepOutput(try store.keep("sound", as: .sound))]))
    }
    let shards = path + "/artifacts"
    let shard = try #require(FileManager.default.contentsOfDirectory(atPath: shards).first)
    for folder in FileManager.default.enumerator(atPath: scratch.path) ?? .init() {
      _ = unsafe chown(scratch.file("\(folder)"), 65534, 65534)
    }
    #expect(unsafe chmod("\(shards)/\(shard)", 0) == 0)
    await #expect(processExitsWith: .success) { [path = path as String] in
      Self.giveUpRoot()
      let error = try #require(throws: SpoolError.self) { try Inspection(of: path).run() }
      #expect(error.reason == "Permission denied" && error.path.contains("/artifacts/"))
      #expect(error.advice?.contains("chown -R \(getuid()) ") == true, "\(error)")
    }
  }

  @Test("a store that may only be read is refused with advice")
  func readOnlyStore() async throws {
    let path = scratch.file("store")
    do { _ = try DiskStore(at: path) }
    #expect(unsafe chmod(path, 0o555) == 0 && chmod(path + "/spool.sqlite", 0o444) == 0)
    await #expect(processExitsWith: .success) { [path = path as String] in
      Self.giveUpRoot()
      let error = try #require(throws: SpoolError.self) { try DiskStore(at: path) }
      #expect(error.action == "write in the store" && error.path == path)
      #expect(error.reason == "Permission denied")
      #expect(error.advice?.contains("permissions") == true, "\(error)")
      #expect(error.advice?.contains("why read this one") == true, "\(error)")
      let repair = try #require(throws: SpoolError.self) { try Repair(of: path).run() }
      #expect(repair.action == "write in the store")
      let restore = try #require(throws: SpoolError.self) {
        try DiskStore.restore(path, from: nil)
      }
      #expect(restore.action == "write in the store")
      #expect(try DiskStore(reading: path).runs.newest(limit: 1) == [])
    }
    #expect(unsafe chmod(path, 0o755) == 0)
  }

  @Test("a file of somebody else's is refused with advice")
  func unreadableFile() async throws {
    let file = try scratch.write("secret", to: "secret")
    #expect(unsafe chmod(file, 0) == 0)
    await #expect(processExitsWith: .success) { [file = file as String] in
      Self.giveUpRoot()
      let own = try ScratchFolder()
      let store = try DiskStore(at: own.file("store"))
      let error = try #require(throws: SpoolError.self) { try store.digest(ofFile: file) }
      #expect(error.reason == "Permission denied" && error.advice != nil)
    }
  }

  @Test("a user's folder that may not be written is refused with advice, and nothing is left")
  func closedOutput() async throws {
    let out = scratch.file("out")
    #expect(unsafe mkdir(out, 0o555) == 0)
    await #expect(processExitsWith: .success) { [out = out as String] in
      Self.giveUpRoot()
      let own = try ScratchFolder()
      let store = try DiskStore(at: own.file("store"))
      let error = try #require(throws: SpoolError.self) {
        try store.publish("sound", at: out + "/note.wav")
      }
      #expect(error.reason == "Permission denied" && error.message == "cannot write in \(out)")
      let left = try store.withDatabase { (database) throws(SpoolError) in
        try database.run("SELECT * FROM unfinished", to: "test")
      }
      #expect(left == [])
    }
  }
}
