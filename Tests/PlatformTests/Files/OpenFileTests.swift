import Glibc
import Platform
import TestSupport
import Testing

@Suite("An open file")
struct OpenFileTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func opened(_ name: String, _ flags: CInt = O_RDWR | O_CREAT) throws -> OpenFile {
    try OpenFile(scratch.file(name), flags, mode: 0o600)
  }

  @Test("keeps what is put at offsets, with zeros between")
  func offsets() throws {
    let file = try opened("a")
    try file.put(Array("end".utf8), at: 5)
    try file.put(Array("be".utf8), at: 0)
    #expect(try file.bytes(100, at: 0) == Array("be\0\0\0end".utf8))
    #expect(try file.bytes(2, at: 6) == Array("nd".utf8))
    #expect(try file.bytes(2, at: 8) == [])
    #expect(try file.stamp.byteCount == 8)
  }

  @Test("reads and writes on from its own position, which offsets leave alone")
  func position() throws {
    let file = try opened("a")
    try file.put(Array("abc".utf8))
    try file.put(Array("X".utf8), at: 0)
    try file.put(Array("def".utf8))
    try file.seek(to: 2)
    #expect(try file.bytes(2) == Array("cd".utf8))
    #expect(try file.bytes(1, at: 0) == Array("X".utf8))
    #expect(try file.bytes(9) == Array("ef".utf8))
    #expect(throws: SystemError(EINVAL)) { try file.seek(to: -1) }
  }

  @Test("that is made anew is not opened if it is there, and gets the permissions asked for")
  func new() throws {
    let flags = O_WRONLY | O_CREAT | O_EXCL
    let file = try opened("a", flags)
    #expect(try file.stamp.permissions == 0o600 && file.stamp.owner == geteuid())
    #expect(throws: SystemError(EEXIST)) { _ = try opened("a", flags) }
    #expect(throws: SystemError(ENOENT)) { _ = try opened("b", O_RDONLY) }
  }

  @Test("is not inherited by programs that are started")
  func inheritance() throws {
    let file = try opened("a")
    let memory = try OpenFile(inMemory: "m")
    let folder = try OpenFile(scratch.path, O_RDONLY | O_DIRECTORY)
    let inner = try OpenFile("a", in: folder, O_RDONLY)
    for number in [file.descriptor, memory.descriptor, folder.descriptor, inner.descriptor] {
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
    }
  }

  @Test("is not reached through a link if none may be followed")
  func links() throws {
    try scratch.write("secret", to: "target")
    try FileOperations.system.link(to: "target", symbolicallyAt: scratch.file("link"))
    let folder = try OpenFile(scratch.path, O_RDONLY | O_DIRECTORY)
    #expect(throws: SystemError(ELOOP)) { _ = try opened("link", O_RDONLY | O_NOFOLLOW) }
    #expect(throws: SystemError(ELOOP)) {
      _ = try OpenFile("link", in: folder, O_RDONLY | O_NOFOLLOW)
    }
    #expect(try OpenFile("link", in: folder, O_RDONLY).bytes(9) == Array("secret".utf8))
  }

  @Test("of an open folder stays in it, whatever becomes of the folder's name")
  func folders() throws {
    let (old, new) = (scratch.file("old"), scratch.file("new"))
    try FileOperations.system.makeFolder(old, mode: 0o700)
    try scratch.write("here", to: "old/a")
    let folder = try OpenFile(old, O_RDONLY | O_DIRECTORY)
    try FileOperations.system.rename(old, to: new)
    let file = try OpenFile("a", in: folder, O_RDONLY)
    #expect(try file.bytes(9) == Array("here".utf8))
    #expect(file.path == "\(old)/a")
  }

  @Test("in memory begins with its bytes, and is written on behind them")
  func memory() throws {
    let file = try OpenFile(inMemory: "note", holding: Array("ab".utf8))
    try file.put(Array("c".utf8))
    #expect(try file.bytes(9, at: 0) == Array("abc".utf8))
    #expect(file.path == "note")
  }

  @Test("without a name is named in errors, and leaves nothing behind")
  func nameless() throws {
    let flags = O_RDWR | __O_TMPFILE | O_DIRECTORY
    let file = try OpenFile(scratch.path, flags, mode: 0o600, named: "/out/a.wav")
    #expect(try !file.stamp.hasName && file.path == "/out/a.wav")
    #expect(FilePath.names(in: scratch.path) == [])
  }

  @Test("locks out another descriptor until it unlocks or closes")
  func locks() throws {
    let first = try opened("a")
    let second = try opened("a")
    #expect(try first.lock())
    #expect(try !second.lock() && !second.tryLock() && !second.tryLock(LOCK_SH))
    #expect(try !FileOperations.system.lock(second))
    first.unlock()
    #expect(try second.lock() && !first.lock())
    do {
      let third = try opened("b")
      #expect(try third.lock())
    }
    #expect(try opened("b").lock())
  }

  @Test("shares a lock with others that only share it")
  func sharedLocks() throws {
    let first = try opened("a")
    let second = try opened("a")
    #expect(try first.lock(LOCK_SH) && second.lock(LOCK_SH))
    #expect(try !first.lock())
  }

  @Test("frees the room of a range, which reads as zeros")
  func holes() throws {
    let file = try OpenFile(inMemory: "sparse")
    let (page, length) = (64 << 10, 4 << 20)
    try FileOperations.system.truncate(file, to: length)
    #expect(file.heldByteCount(upTo: Int64(length)) == 0)
    try file.put([UInt8](repeating: 7, count: 2 * page), at: length / 2)
    #expect(file.heldByteCount(upTo: Int64(length)) == Int64(2 * page))
    file.punchHole(at: length / 2, byteCount: page)
    #expect(file.heldByteCount(upTo: Int64(length)) == Int64(page))
    #expect(try file.bytes(page, at: length / 2).allSatisfy { $0 == 0 })
    #expect(try file.bytes(page, at: length / 2 + page).allSatisfy { $0 == 7 })
    #expect(try file.stamp.byteCount == Int64(length))
  }

  @Test("counts no further than asked, and holds all of its bytes without holes")
  func held() throws {
    let file = try OpenFile(inMemory: "full", holding: [UInt8](repeating: 1, count: 256 << 10))
    #expect(file.heldByteCount(upTo: 1000) == 1000)
    #expect(file.heldByteCount(upTo: 256 << 10) == 256 << 10)
  }

  @Test("keeps the modification time that is set")
  func times() throws {
    let file = try opened("a")
    file.setModified(1_600_000_000_000_000_000)
    #expect(try file.stamp.modified == 1_600_000_000_000_000_000)
    try FilePath.touch(scratch.file("a"))
    #expect(try file.stamp.modified > 1_600_000_000_000_000_000)
    #expect(throws: SystemError(ENOENT)) { try FilePath.touch(scratch.file("b")) }
  }
}
