import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct PublishingTests {
  private let scratch: ScratchFolder
  private let store: DiskStore
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: true)
    path = scratch.file("out/note.wav")
  }

  @Test("puts a file there, remembers it, and leaves nothing beside it")
  func new() throws {
    #expect(try store.publish("sound", at: path) == 5)
    #expect(text(at: path) == "sound")
    #expect(names(in: scratch.file("out")) == ["note.wav"])
    #expect(try store.isPublished(SHA256.digest(of: "sound"), at: path))
    #expect(try DiskStore(at: store.path).isPublished(SHA256.digest(of: "sound"), at: path))
    #expect(try !store.isPublished(SHA256.digest(of: "other"), at: path))
    #expect(try !store.isPublished(SHA256.digest(of: "sound"), at: scratch.file("out/b.wav")))
  }

  @Test("gives the file the permissions of any new file")
  func permissions() throws {
    _ = try store.publish("sound", at: path)
    let plain = scratch.file("out/plain")
    #expect(FileManager.default.createFile(atPath: plain, contents: nil))
    let manager = FileManager.default
    let modes = try [path, plain].map {
      try manager.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
    }
    #expect(modes[0] == modes[1])
  }

  @Test("puts nothing into the place of a folder whose disk is away")
  func away() throws {
    store.expect(mountPoint: scratch.file("out"), above: scratch.file("out"))
    let error = try #require(throws: SpoolError.self) { try store.publish("sound", at: path) }
    #expect(error.message == "the output folder \(scratch.file("out")) cannot be used")
    #expect(error.reason?.contains("nothing is mounted on \(scratch.file("out"))") == true)
    #expect(error.cause == .environment && error.advice?.contains("--ignore-mounts") == true)
    #expect(throws: SpoolError.self) { try store.makeFolder(scratch.file("out/deeper")) }
    #expect(names(in: scratch.file("out")) == [])
    // A folder beside it is on another disk.
    #expect(try store.publish("sound", at: scratch.file("outside.wav")) == 5)
    store.expect(mountPoint: nil, above: scratch.file("out"))
    #expect(try store.publish("sound", at: path) == 5)
  }

  @Test("replaces what it published itself")
  func own() throws {
    _ = try store.publish("first", at: path)
    _ = try store.publish("second", at: path)
    #expect(text(at: path) == "second")
    #expect(try !store.isPublished(SHA256.digest(of: "first"), at: path))
    #expect(try store.isPublished(SHA256.digest(of: "second"), at: path))
  }

  @Test("knows its file by the bytes where the times differ, and reads no other length for that")
  func touched() throws {
    let probe = FileProbe()
    let store = try DiskStore(at: store.path, files: probe.files)
    _ = try store.publish("sound", at: path)
    let own = SHA256.digest(of: "sound")
    for text in ["sound", "bound", "another"] {
      try FileManager.default.removeItem(atPath: path)
      try scratch.write(text, to: "out/note.wav")
      let count = probe.operations.count
      #expect(try store.isPublished(own, at: path) == (text == "sound"))
      #expect((store.byteCount(ofPublished: path) != nil) == (text == "sound"))
      let reads = probe.operations.dropFirst(count).count {
        if case .read = $0 { true } else { false }
      }
      #expect((reads > 0) == (text != "another"), "\(text)")
    }
  }

  @Test("never replaces a file that somebody else wrote")
  func foreign() throws {
    try scratch.write("mine", to: "out/note.wav")
    let error = try #require(throws: SpoolError.self) { try store.publish("sound", at: path) }
    #expect(error.message == "cannot write \(path)")
    #expect(error.advice?.contains("--replace") == true && error.cause == .input)
    #expect(text(at: path) == "mine")
    #expect(names(in: scratch.file("out")) == ["note.wav"])
  }

  @Test("never replaces a published file that was changed since")
  func changed() throws {
    _ = try store.publish("sound", at: path)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: Data("SOUND".utf8))
    try file.close()
    #expect(try !store.isPublished(SHA256.digest(of: "sound"), at: path))
    #expect(throws: SpoolError.self) { try store.publish("newer", at: path) }
    #expect(text(at: path) == "SOUND")
  }

  @Test("replaces anything where it is told to")
  func replacing() throws {
    try scratch.write("mine", to: "out/note.wav")
    _ = try store.publish("sound", at: path, isReplacing: true)
    #expect(text(at: path) == "sound")
    #expect(try store.isPublished(SHA256.digest(of: "sound"), at: path))
  }

  @Test("takes a file with the very same bytes as published")
  func identical() throws {
    try scratch.write("sound", to: "out/note.wav")
    let before = try FileStamp(at: path)
    #expect(try store.publish("sound", at: path) == 5)
    #expect(try FileStamp(at: path) == before)
    #expect(names(in: scratch.file("out")) == ["note.wav"])
    #expect(try store.isPublished(SHA256.digest(of: "sound"), at: path))
  }

  @Test("a writer that fails leaves nothing, and its error passes through")
  func failingWriter() throws {
    _ = try store.publish("first", at: path)
    let failure = SpoolError("no codec", cause: .input)
    let error = try #require(throws: SpoolError.self) {
      try store.publish(SHA256.digest(of: "x"), at: path, isReplacing: true) {
        (temporary) throws(SpoolError) in
        try put("half", at: temporary)
        throw failure
      }
    }
    #expect(error == failure)
    #expect(text(at: path) == "first")
    #expect(names(in: scratch.file("out")) == ["note.wav"])
  }

  @Test("a missing folder is refused with advice, and the writer is not asked")
  func missingFolder() throws {
    let error = try #require(throws: SpoolError.self) {
      try store.publish(SHA256.digest(of: "x"), at: scratch.file("no/n.wav"), isReplacing: false) {
        (_) throws(SpoolError) in
        Issue.record("the writer was asked")
      }
    }
    #expect(error.reason == "No such file or directory")
    #expect(error.advice?.contains("--out") == true)
  }

  @Test("a folder or a link in the place is never replaced unasked")
  func odd() throws {
    #expect(unsafe mkdir(path, 0o700) == 0)
    #expect(throws: SpoolError.self) { try store.publish("sound", at: path) }
    let link = scratch.file("out/link.wav")
    #expect(unsafe symlink(scratch.file("nowhere"), link) == 0)
    #expect(throws: SpoolError.self) { try store.publish("sound", at: link) }
    #expect(names(in: scratch.file("out")) == ["link.wav", "note.wav"])
  }

  @Test("of two that publish under one name at once, one wins and nothing is mixed")
  func race() throws {
    let path = path
    let store = store
    DispatchQueue.concurrentPerform(iterations: 8) { number in
      _ = try? store.publish(String(repeating: "\(number)", count: 1000), at: path)
    }
    let found = try #require(text(at: path))
    #expect(found.count == 1000 && Set(found).count == 1)
    #expect(names(in: scratch.file("out")) == ["note.wav"])
  }

  @Test("replaces nothing unasked where the file system cannot promise that by itself")
  func oldFileSystem() throws {
    let out = scratch.file("out")
    let files = FileOperations { (operation) throws(SystemError) in
      if case .rename(_, let target) = operation, target.hasPrefix(out) {
        throw SystemError(EINVAL)
      }
    }
    let store = try DiskStore(at: store.path, files: files)
    _ = try store.publish("sound", at: path)
    #expect(text(at: path) == "sound")
    try scratch.write("mine", to: "out/other.wav")
    #expect(throws: SpoolError.self) {
      try store.publish("sound", at: scratch.file("out/other.wav"))
    }
    #expect(text(at: scratch.file("out/other.wav")) == "mine")
    #expect(names(in: scratch.file("out")) == ["note.wav", "other.wav"])
  }
}
