import Glibc
import Platform
import TestSupport
import Testing

@Suite("A system error")
struct SystemErrorTests {
  @Test("of a full disk and of a spent quota means the same", arguments: [ENOSPC, EDQUOT])
  func fullDisk(code: CInt) {
    let error = SystemError(code)
    #expect(error.isFullDisk)
    #expect(error.advice == SystemError(ENOSPC).advice)
    let worded = SpoolError("write", "/out/a.wav", error, advice: "own", cause: .blocked)
    #expect(worded.cause == .fullDisk && worded.isFullDisk && worded.path == "/out/a.wav")
    #expect(worded.message == "the disk of /out is full" && worded.advice == error.advice)
    #expect(worded.reason == "cannot write /out/a.wav: \(error.words)")
  }

  @Test("of a full disk names the disk that is mounted at a folder")
  func fullFolder() throws {
    let folder = try ScratchFolder()
    let error = SpoolError("write in", folder.path, .fullDisk)
    #expect(error.message == "the disk of \(folder.path) is full")
  }

  @Test("of SQLite's tables says the same of a full disk")
  func fullDatabase() throws {
    let folder = try ScratchFolder()
    var database = try Database(
      at: folder.file("a.sqlite"), for: .writing, advice: Database.Advice())
    try database.script("PRAGMA max_page_count = 4; CREATE TABLE t (a TEXT) STRICT", to: "write")
    let error = try #require(throws: SpoolError.self) {
      try database.run(
        "INSERT INTO t VALUES (?)", [.text(String(repeating: "x", count: 100_000))], to: "write")
    }
    #expect(error.message == "the disk of \(folder.path) is full")
    #expect(error.advice == SystemError(ENOSPC).advice)
  }

  @Test(
    "has the kind that callers decide by",
    arguments: [
      (ENOENT, .missing), (ELOOP, .link), (EXDEV, .link), (ENOTDIR, .wrongKind),
      (EISDIR, .wrongKind), (ENXIO, .special), (ENODEV, .special), (EACCES, .denied),
      (EPERM, .denied), (EROFS, .system), (EIO, .system), (ENOSPC, .system),
    ] as [(CInt, SpoolError.Kind)])
  func kinds(code: CInt, kind: SpoolError.Kind) {
    #expect(SystemError(code).kind == kind)
    #expect(SpoolError("read", "/a", SystemError(code)).kind == kind)
  }

  @Test("other than of a full disk is the surroundings' fault", arguments: [EACCES, ENOENT, EROFS])
  func surroundings(code: CInt) {
    #expect(!SystemError(code).isFullDisk)
    #expect(SpoolError("write", "/a", SystemError(code)).cause == .environment)
  }

  @Test(
    "advises what the user can change",
    arguments: [
      (EACCES, "permissions"), (EPERM, "permissions"), (EROFS, "read-only"), (ENOENT, "path"),
      (ENOTDIR, "path"), (EDQUOT, "free some space"), (EMFILE, "ulimit"), (EIO, "dmesg"),
      (ENAMETOOLONG, "shorter"),
    ])
  func advice(code: CInt, word: String) {
    #expect(SystemError(code).advice?.contains(word) == true)
    let own = SpoolError("read", "/a", SystemError(code), advice: "own").advice
    #expect(own == (SystemError(code).isFullDisk ? SystemError(code).advice : "own"))
  }

  @Test("says of a link what the system's words do not")
  func links() {
    let error = SpoolError("open", "/a", SystemError(ELOOP))
    #expect(error.reason == "it is a symbolic link that is not followed, or a loop of links")
    #expect(SpoolError("open", "/a", SystemError(EACCES)).reason == "Permission denied")
  }

  @Test("ends a call, but for an interruption, after which the call is repeated")
  func interruptions() throws {
    var codes = [EINTR, EINTR, 0]
    let result = try SystemError.check {
      errno = codes.removeFirst()
      return errno == 0 ? 7 : -1
    }
    #expect(result == 7 && codes.isEmpty)
    #expect(throws: SystemError(EIO)) {
      try SystemError.check {
        errno = EIO
        return -1
      }
    }
  }

  @Test("is named after the action and the file it ends")
  func doingNames() {
    let error = #expect(throws: SpoolError.self) {
      try doing("read", "/a", advice: "wait") { () throws(SystemError) in throw SystemError(EIO) }
    }
    #expect(error?.message == "cannot read /a" && error?.advice == "wait")
  }
}
