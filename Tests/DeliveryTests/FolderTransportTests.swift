@testable import Delivery
import Foundation
import Platform
import TestSupport
import Testing

@Suite("A folder on another disk has the whole file or none")
struct FolderTransportTests {
  private let scratch: ScratchFolder
  private let root: String

  init() throws {
    scratch = try ScratchFolder()
    root = scratch.file("disk")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
  }

  private func transport(_ files: FileOperations = .uncounted) -> FolderTransport {
    FolderTransport(Destination.Folder(root), files: files)
  }

  @Test("it fulfils what every transport promises")
  func conformance() throws {
    var transport = transport()
    try TransportConformance(scratch).check(&transport)
    #expect(try #require(try transport.freeByteCount()) > 0)
  }

  @Test("a missing folder is not made, as its disk may not be mounted")
  func unmounted() throws {
    try FileManager.default.removeItem(atPath: root)
    let (path, bytes) = try sample(byteCount: 10)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    var transport = transport()
    let error = try #require(throws: SpoolError.self) {
      try transport.send(file, to: RemotePath("a/b.wav"), from: nil, note: { _ in }) { _ in true }
    }
    #expect(error.remedy == .hold)
    #expect(error.advice == "mount its disk; if it is on no other disk, make the folder")
    #expect(!FileManager.default.fileExists(atPath: root))
  }

  @Test("an upload that stops anywhere goes on where the disk has the same bytes")
  func resumes() throws {
    let (path, bytes) = try sample(byteCount: 20 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let target = try RemotePath("note.wav")
    var states: [UploadState] = []
    var first = transport()
    #expect(throws: SpoolError.cancelled) {
      try first.send(file, to: target, from: nil, note: { states.append($0) }) {
        $0.sentByteCount < 18 << 20
      }
    }
    #expect(states.map(\.byteCount) == [0, 8 << 20, 16 << 20])
    #expect(try first.find(target) == nil)
    let state = try #require(states.last)
    let part = "\(root)/\(target.part(state.token))"
    #expect(try FileStamp(at: part).byteCount == 18 << 20)
    try flipBit(3, ofByte: 9 << 20, in: part)
    var starts: [Int] = []
    var second = transport()
    let found = try second.send(file, to: target, from: state, note: { _ in }) {
      starts.append($0.sentByteCount)
      return true
    }
    #expect(starts.first == 9 << 20, "from the piece that differs")
    #expect(found.byteCount == bytes.count)
    #expect(FileManager.default.contents(atPath: "\(root)/note.wav") == Data(bytes))
    #expect(FilePath.names(in: root) == ["note.wav"])
  }

  @Test("bytes that the disk does not give back never get the file's name")
  func corrupted() throws {
    let (path, bytes) = try sample(byteCount: 3 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    var state: UploadState?
    let root = root
    let files = FileOperations { (operation) throws(SystemError) in
      // After the last write, and before it is read back.
      guard case .flush(let part) = operation, part.hasPrefix(root) else { return }
      try? flipBit(0, ofByte: 1_000_000, in: part)
    }
    var transport = transport(files)
    let error = try #require(throws: SpoolError.self) {
      try transport.send(file, to: RemotePath("a.wav"), from: nil, note: { state = $0 }) { _ in
        true
      }
    }
    #expect(error.kind == .broken)
    #expect(error.remedy == .retry)
    let left = try #require(state)
    #expect(FilePath.names(in: root) == [try RemotePath("a.wav").part(left.token).description])
    try transport.discard(left, of: RemotePath("a.wav"))
    #expect(FilePath.names(in: root) == [])
  }

  @Test("everything is flushed before the name is given, and the name afterwards")
  func order() throws {
    let (path, bytes) = try sample(byteCount: 9 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let log = OperationLog()
    var transport = transport(FileOperations { (operation) in log.add(operation) })
    _ = try transport.send(file, to: RemotePath("x/a.wav"), from: nil, note: { _ in }) { _ in true }
    let words = log.words.filter { $0 != "read" && $0 != "write" }
    #expect(
      words == [
        "makeFolder", "flushFolder", "open", "truncate", "flush", "flush", "rename", "flushFolder",
      ])
  }

  @Test("what a full disk or a forbidden folder says decides what happens next")
  func refusals() throws {
    let (path, bytes) = try sample(byteCount: 10)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    for (code, remedy) in [(ENOSPC, Remedy.giveUp), (EACCES, .hold), (EIO, .retry)] {
      var transport = transport(
        FileOperations { (operation) throws(SystemError) in
          if case .write = operation { throw SystemError(code) }
        })
      let error = try #require(throws: SpoolError.self) {
        try transport.send(file, to: RemotePath("a.wav"), from: nil, note: { _ in }) { _ in true }
      }
      #expect(error.remedy == remedy, "\(error)")
    }
  }

  @Test("what is read back comes from the disk, though memory has it")
  func uncached() throws {
    let (path, bytes) = try sample(byteCount: 5 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    var transport = transport()
    let target = try RemotePath("a.wav")
    _ = try transport.send(file, to: target, from: nil, note: { _ in }) { _ in true }
    // A file system in memory has no disk.
    guard (try? OpenFile("\(root)/a.wav", O_RDONLY | __O_DIRECT)) != nil,
      let before = readFromDisk()
    else { return }
    _ = try transport.confirm(target, byteCount: bytes.count, digest: SHA256.digest(of: bytes))
    #expect(try #require(readFromDisk()) - before >= bytes.count)
  }

  /// The bytes that this thread has had read from disks.
  private func readFromDisk() -> Int? {
    let line = SmallFile.text(at: "/proc/thread-self/io")?.split(separator: "\n").first {
      $0.hasPrefix("read_bytes: ")
    }
    return line.flatMap { Int($0.dropFirst("read_bytes: ".count)) }
  }

  @Test("a rate is kept")
  func rate() throws {
    let (path, bytes) = try sample(byteCount: 3 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    var transport = FolderTransport(Destination.Folder(root), bytesPerSecond: 6 << 20)
    let start = ContinuousClock.now
    _ = try transport.send(file, to: RemotePath("a.wav"), from: nil, note: { _ in }) { _ in true }
    #expect(ContinuousClock.now - start >= .milliseconds(490))
  }

  private func sample(byteCount: Int) throws -> (path: String, bytes: [UInt8]) {
    try Sample.file(in: scratch, byteCount: byteCount)
  }

  /// The operations on files, by name.
  private final class OperationLog: @unchecked Sendable {
    // Used by one thread.
    private(set) var words: [String] = []

    func add(_ operation: FileOperation) {
      words.append(String("\(operation)".prefix { $0 != "(" }))
    }
  }
}
