import Glibc
import Platform
import TestSupport
import Testing

@Suite("Paths, stamps and locks of folders")
struct FilePathTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  @Test("a short name has the folder where two files have the same name, and else only that")
  func shortNames() {
    let paths = [
      "/a/intro.wav", "/a/1/anna.wav", "/a/2/anna.wav", "/b/2/anna.wav", "/a/1/anna.wav",
    ]
    #expect(
      FilePath.shortNames(of: paths) == [
        "/a/intro.wav": "intro.wav", "/a/1/anna.wav": "1/anna.wav",
        "/a/2/anna.wav": "/a/2/anna.wav", "/b/2/anna.wav": "/b/2/anna.wav",
      ])
  }

  @Test("a folder's names are sorted, and each entry has its kind")
  func names() throws {
    try scratch.write("", to: "b")
    try scratch.write("", to: ".hidden")
    try FileOperations.system.makeFolder(scratch.file("a"), mode: 0o700)
    try FileOperations.system.link(to: "b", symbolicallyAt: scratch.file("c"))
    #expect(FilePath.names(in: scratch.path) == [".hidden", "a", "b", "c"])
    let kinds = Dictionary(
      uniqueKeysWithValues: FilePath.entries(in: scratch.path).map { ($0.name, $0.kind) })
    // Some file systems do not give the kind.
    #expect(
      [DT_DIR, DT_UNKNOWN].contains(kinds["a"]) && [DT_REG, DT_UNKNOWN].contains(kinds["b"]))
    #expect([DT_LNK, DT_UNKNOWN].contains(kinds["c"]) && kinds.count == 4)
    #expect(FilePath.names(in: scratch.file("none")) == [])
    #expect(FilePath.names(in: scratch.file("b")) == [])
  }

  @Test("an obstacle says why a path cannot be used")
  func obstacles() throws {
    let path = try scratch.write("", to: "a")
    #expect(FilePath.exists(path) && FilePath.isWritable(path))
    #expect(FilePath.obstacle(to: path, R_OK | W_OK) == nil)
    #expect(FilePath.obstacle(to: scratch.file("none")) == SystemError(ENOENT))
    #expect(FilePath.obstacle(to: path + "/b") == SystemError(ENOTDIR))
    #expect(FilePath.obstacle(to: path, X_OK) == SystemError(EACCES))
  }

  @Test("links are resolved, and read as they are written")
  func links() throws {
    let path = try scratch.write("", to: "a")
    let link = scratch.file("link")
    try FileOperations.system.link(to: "./a", symbolicallyAt: link)
    #expect(FilePath.target(ofLink: link) == "./a" && FilePath.target(ofLink: path) == nil)
    #expect(try FilePath.resolved(link) == FilePath.resolved(path))
    #expect(throws: SystemError(ENOENT)) { try FilePath.resolved(scratch.file("none")) }
    #expect(try FileStamp(at: link).isLink && !FileStamp(following: link).isLink)
    #expect(try FileStamp(following: link).isSameFile(as: FileStamp(at: path)))
    #expect(throws: SystemError(ENOENT)) { try FileStamp(at: scratch.file("none")) }
  }

  @Test("paths become absolute, and keep `..`, which may lie behind a link")
  func absolute() {
    #expect(FilePath.absolute("/a/./b//c/") == "/a/b/c")
    #expect(FilePath.absolute("/a/../b") == "/a/../b")
    #expect(FilePath.absolute("a").hasPrefix("/") && FilePath.absolute("a").hasSuffix("/a"))
    #expect(FilePath.folder(of: "/a/b") == "/a" && FilePath.folder(of: "/a") == "/")
  }

  @Test("free room is that of a folder's disk")
  func room() throws {
    #expect(try FilePath.freeByteCount(inFolder: scratch.path) > 0)
    #expect(try FilePath.freeByteCount(inFolder: "/proc") == 0)
    #expect(throws: SystemError(ENOENT)) {
      try FilePath.freeByteCount(inFolder: scratch.file("none"))
    }
  }

  @Test("a stamp says what is no regular file")
  func complaints() throws {
    let pipe = scratch.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    #expect(try FileStamp(at: pipe).complaint == "it is a pipe" && FileStamp(at: pipe).isPipe)
    #expect(try FileStamp(at: scratch.path).complaint == "it is a folder")
    #expect(try FileStamp(at: "/dev/null").complaint == "it is a device")
    let path = try scratch.write("abc", to: "a")
    #expect(try FileStamp(at: path).complaint == nil && FileStamp(at: path).byteCount == 3)
  }

  @Test("a stamp tells versions and names of a file apart")
  func versions() throws {
    let path = try scratch.write("abc", to: "a")
    let before = try FileStamp(at: path)
    #expect(!before.hasSeveralNames)
    try FileOperations.system.link(path, to: scratch.file("b"))
    let linked = try FileStamp(at: scratch.file("b"))
    #expect(
      linked.hasSeveralNames && linked.isSameFile(as: before) && linked.hasSameBytes(as: before))
    try FileOperations.system.write(
      Array("d".utf8), to: try OpenFile(path, O_WRONLY | O_APPEND))
    let longer = try FileStamp(at: path)
    #expect(longer.isSameFile(as: before) && !longer.hasSameBytes(as: before))
    #expect(try !FileStamp(at: scratch.write("abc", to: "c")).isSameFile(as: before))
  }

  @Test("a folder's lock is shared by many or held alone, and names its holders")
  func folderLocks() throws {
    let first = try FolderLock(scratch.path)
    do {
      let second = try FolderLock(scratch.path)
      #expect([first.tryShared(), second.tryShared()] == [true, true])
      #expect([second.tryAlone()] == [false], "another descriptor shares it")
      #expect([second.tryShared()] == [true])
      let isAlone = second.wait(patience: 0) { $0.tryAlone() }
      #expect(!isAlone)
    }
    let isAlone = first.wait(patience: 10_000) { $0.tryAlone() }
    #expect(isAlone)
    let other = try FolderLock(scratch.path)
    #expect([other.tryShared()] == [false])
    #expect(first.holdersInWords.contains("process \(getpid())") && first.otherHolders == [])
    let error = #expect(throws: SpoolError.self) { _ = try FolderLock(scratch.file("none")) }
    #expect(error?.kind == .missing && error?.message.hasPrefix("cannot use the folder") == true)
  }
}
