import Foundation
import PipelineModel
import Platform
@testable import Store
import Synchronization
import TestSupport
import Testing

@Suite struct FileCustodyTests {
  private let scratch: ScratchFolder
  private let probe = FileProbe()

  init() throws { scratch = try ScratchFolder() }

  /// A store that believes it is `seconds` later than it is.
  private func makeStore(later seconds: Int64 = 60) throws -> DiskStore {
    try DiskStore(at: scratch.file("store"), files: probe.files) {
      Clock.now() + seconds * 1_000_000_000
    }
  }

  private var readCount: Int {
    probe.operations.filter { if case .read = $0 { true } else { false } }.count
  }

  @Test("is the digest that sha256sum gives")
  func program() throws {
    let store = try makeStore()
    let path = scratch.file("large.m4a")
    let bytes = (0..<(3 << 20) + 17).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let sha256sum = try #require(Program(named: "sha256sum"))
    let expected = try sha256sum.run([path]).text.prefix(64)
    #expect(try store.digest(ofFile: path).hex == expected)
  }

  @Test("a file that was left alone is read once, also by later stores")
  func remembered() throws {
    let path = try scratch.write("settled", to: "note.m4a")
    let digest = try makeStore().digest(ofFile: path)
    let count = readCount
    #expect(count > 0)
    #expect(try makeStore().digest(ofFile: path) == digest)
    #expect(readCount == count)
  }

  @Test("a file that was just written is read again each time")
  func racy() throws {
    let store = try makeStore(later: 0)
    let path = try scratch.write("one", to: "note.m4a")
    #expect(try store.digest(ofFile: path) == SHA256.digest(of: "one"))
    let count = readCount
    #expect(try store.digest(ofFile: path) == SHA256.digest(of: "one"))
    #expect(readCount == 2 * count)
  }

  @Test("a change is seen though length and time of writing are put back")
  func forgedTime() throws {
    let store = try makeStore()
    let path = try scratch.write("old words", to: "note.m4a")
    let before = try FileStamp(at: path)
    #expect(try store.digest(ofFile: path) == SHA256.digest(of: "old words"))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: Data("new words".utf8))
    try file.close()
    setModified(path, before.modified)
    let after = try FileStamp(at: path)
    #expect(after.hasSameBytes(as: before), "the forgery is complete")
    #expect(try store.digest(ofFile: path) == SHA256.digest(of: "new words"))
  }

  @Test("a time of writing in the future does not stop a file from being remembered")
  func future() throws {
    let store = try makeStore()
    let path = try scratch.write("early", to: "note.m4a")
    setModified(path, Clock.now() + 3600 * 1_000_000_000)
    _ = try store.digest(ofFile: path)
    let count = readCount
    #expect(try store.digest(ofFile: path) == SHA256.digest(of: "early"))
    #expect(count > 0 && readCount == count)
  }

  /// Sets a file's time of writing, in nanoseconds since 1970, as a program can.
  private func setModified(_ path: String, _ time: Int64) {
    let time = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    #expect(unsafe utimensat(AT_FDCWD, path, [time, time], 0) == 0)
  }

  @Test("another file under the same name is seen")
  func replaced() throws {
    let store = try makeStore()
    let path = try scratch.write("aaaa", to: "note.m4a")
    #expect(try store.digest(ofFile: path) == SHA256.digest(of: "aaaa"))
    let other = try scratch.write("bbbb", to: "other")
    #expect(unsafe rename(other, path) == 0)
    #expect(try store.digest(ofFile: path) == SHA256.digest(of: "bbbb"))
  }

  @Test("a file that grows while it is read is refused")
  func growing() throws {
    let path = try scratch.write("growing", to: "note.m4a")
    let isGrown = Mutex(false)
    let files = FileOperations { (operation) throws(SystemError) in
      guard operation == .read(path), !isGrown.withLock({ $0 }) else { return }
      isGrown.withLock { $0 = true }
      let file = FileHandle(forWritingAtPath: path)
      _ = try? file?.seekToEnd()
      try? file?.write(contentsOf: Data("more".utf8))
    }
    let store = try DiskStore(at: scratch.file("store"), files: files)
    let error = try #require(throws: SpoolError.self) { try store.digest(ofFile: path) }
    #expect(error.reason == "it changed while it was being read")
    #expect(try store.digest(ofFile: path) == SHA256.digest(of: "growingmore"))
  }

  @Test("what is no readable file is refused in the system's words")
  func refused() throws {
    let store = try makeStore()
    func reason(_ path: String) throws -> String {
      try #require(throws: SpoolError.self) { try store.digest(ofFile: path) }.why
    }
    #expect(try reason(scratch.file("absent")) == "No such file or directory")
    #expect(try reason(scratch.path) == "it is a folder")
    #expect(unsafe mkfifo(scratch.file("fifo"), 0o600) == 0)
    #expect(try reason(scratch.file("fifo")) == "it is a pipe")
    #expect(try reason("/dev/null") == "it is a device")
    let loop = scratch.file("loop")
    #expect(unsafe symlink(loop, loop) == 0)
    #expect(try reason(loop) == "it is a symbolic link that is not followed, or a loop of links")
  }
}
