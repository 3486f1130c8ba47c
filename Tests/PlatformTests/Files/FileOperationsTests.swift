import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@Suite("The calls on files")
struct FileOperationsTests {
  private let scratch: ScratchFolder
  private let files = FileOperations.system

  init() throws { scratch = try ScratchFolder() }

  private func text(_ name: String) -> String? { SmallFile.text(at: scratch.file(name)) }

  /// Calls that note their order; the n-th, counted from 1, fails.
  private func probed(
    failing number: Int? = nil, with code: CInt = EIO
  ) -> (files: FileOperations, log: Shared<[FileOperation]>) {
    let log = Shared<[FileOperation]>([])
    return (
      FileOperations { (operation) throws(SystemError) in
        log.update { $0.append(operation) }
        if log.value.count == number { throw SystemError(code) }
      }, log
    )
  }

  @Test("read a pipe to its end, and refuse one that no program writes into")
  func pipes() throws {
    let path = scratch.file("pipe")
    #expect(unsafe mkfifo(path, 0o600) == 0)
    let error = #expect(throws: SystemError.self) {
      try files.bytes(following: path, patience: 10)
    }
    #expect(error?.code == ENXIO && error?.kind == .special)
    let shell = try #require(Program(named: "sh"))
    let writer = BackgroundThread(name: "writer") { [path] in
      _ = try? shell.run(["-c", "exec > \"$0\"; printf one; sleep 0.3; printf two", path])
    }
    defer { writer.join() }
    #expect(try files.bytes(following: path, patience: 60_000) == Array("onetwo".utf8))
  }

  @Test("replace a file by way of another name, whose bytes are flushed before it is renamed")
  func replacing() throws {
    let (path, draft) = (try scratch.write("old", to: "a"), scratch.file("a.new"))
    let (files, log) = probed()
    try files.replace(path, with: Array("new".utf8), draft: draft, mode: 0o640)
    #expect(
      log.value == [
        .open(draft), .write(draft, byteCount: 3), .flush(draft), .rename(from: draft, to: path),
      ])
    #expect(text("a") == "new" && FilePath.names(in: scratch.path) == ["a"])
    #expect(try FileStamp(at: path).permissions & 0o600 == 0o600)
  }

  @Test("leave the old file whole where replacing fails at any step", arguments: 1...4)
  func failedReplacing(number: Int) throws {
    let path = try scratch.write("old", to: "a")
    #expect(throws: SystemError(ENOSPC)) {
      try probed(failing: number, with: ENOSPC).files.replace(
        path, with: Array("new".utf8), draft: scratch.file("a.new"), mode: 0o600)
    }
    #expect(text("a") == "old" && FilePath.names(in: scratch.path) == ["a"])
  }

  @Test("replace no file through a link in the draft's place")
  func replacingThroughLink() throws {
    let (path, other) = (try scratch.write("old", to: "a"), try scratch.write("other", to: "b"))
    try files.link(to: other, symbolicallyAt: scratch.file("a.new"))
    #expect(throws: SystemError(ELOOP)) {
      try files.replace(
        path, with: Array("new".utf8), draft: scratch.file("a.new"), mode: 0o600)
    }
    #expect(text("a") == "old" && text("b") == "other")
  }

  @Test("read whole files and beginnings")
  func reading() throws {
    let path = try scratch.write("0123456789", to: "a")
    #expect(try files.bytes(of: path) == Array("0123456789".utf8))
    #expect(try files.bytes(of: path, limit: 4) == Array("0123".utf8))
    #expect(try files.beginning(of: path, byteCount: 3) == Array("012".utf8))
    #expect(try files.beginning(of: path, byteCount: 99) == Array("0123456789".utf8))
    #expect(try files.bytes(of: scratch.write("", to: "empty")) == [])
    #expect(throws: SystemError(ENOENT)) { try files.bytes(of: scratch.file("none")) }
  }

  @Test("follow a link only where that is said")
  func links() throws {
    try scratch.write("target", to: "a")
    let link = scratch.file("link")
    try files.link(to: "a", symbolicallyAt: link)
    #expect(throws: SystemError(ELOOP)) { try files.bytes(of: link) }
    #expect(try files.beginning(of: link, byteCount: 9) == Array("target".utf8))
    #expect(try files.bytes(following: link) == Array("target".utf8))
    #expect(throws: SystemError(EEXIST)) { try files.link(to: "b", symbolicallyAt: link) }
  }

  @Test("read no more of an endless file than its limit needs, and nothing of what is no file")
  func limits() throws {
    let count = try files.bytes(following: "/dev/zero", limit: 100_000).count
    #expect(count > 100_000 && count < 1 << 20)
    #expect(try files.bytes(of: "/dev/zero") == [])
    #expect(SmallFile.text(at: "/proc/self/comm")?.isEmpty == false)
    #expect(SmallFile.text(at: scratch.file("none")) == nil)
  }

  @Test("digest a file, to its end or as far as asked")
  func digests() throws {
    let bytes = [UInt8](repeating: 5, count: (2 << 20) + 3)
    try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("a")))
    let file = try OpenFile(scratch.file("a"), O_RDONLY)
    #expect(try files.digest(of: file) == (SHA256.digest(of: bytes), Int64(bytes.count)))
    var counts: [Int] = []
    let part = try files.digest(of: file) { count in
      counts.append(count)
      return counts.count < 2
    }
    #expect(counts == [1 << 20, 1 << 20] && part.byteCount == 2 << 20)
    #expect(part.digest == SHA256.digest(of: Array(bytes[..<(2 << 20)])))
    #expect(try files.hash(of: file, upTo: 10).finalize() == SHA256.digest(of: Array(bytes[..<10])))
  }

  @Test("make folders, new ones only where that is said, and unique ones for their owner alone")
  func folders() throws {
    let path = scratch.file("folder")
    try files.makeFolder(path, mode: 0o755)
    try files.makeFolder(path, mode: 0o755)
    #expect(throws: SystemError(EEXIST)) { try files.makeNewFolder(path, mode: 0o755) }
    #expect(throws: SystemError(ENOENT)) { try files.makeFolder(path + "/a/b", mode: 0o755) }
    let unique = try (0..<2).map { _ in try files.makeUniqueFolder("\(path)/trial-") }
    #expect(unique[0] != unique[1] && unique.allSatisfy { $0.hasPrefix("\(path)/trial-") })
    #expect(try FileStamp(at: unique[0]).permissions == 0o700)
    #expect(throws: SystemError(ENOTEMPTY)) { try files.removeFolder(path) }
    for folder in unique { try files.removeFolder(folder) }
    try files.removeFolder(path)
    #expect(!FilePath.exists(path))
  }

  @Test("make missing folders down to a path, and refuse one with a file in its place")
  func missingFolders() throws {
    try files.makeFolders(scratch.file("a/b/c"))
    try files.makeFolders(scratch.file("a/b/c"))
    #expect(try FileStamp(at: scratch.file("a/b/c")).isFolder)
    try scratch.write("", to: "file")
    let error = #expect(throws: SpoolError.self) {
      try files.makeFolders(scratch.file("file/b"))
    }
    #expect(error?.path == scratch.file("file/b") && error?.kind == .wrongKind)
    let place = #expect(throws: SpoolError.self) {
      try files.makeFolders(scratch.file("file"), advice: "move it")
    }
    #expect(place?.reason == "it is a file" && place?.advice == "move it")
  }

  @Test("rename onto a new name only, unless replacing was asked for")
  func renaming() throws {
    let (a, b) = (try scratch.write("a", to: "a"), try scratch.write("b", to: "b"))
    #expect(throws: SystemError(EEXIST)) { try files.rename(a, toNew: b) }
    #expect(throws: SystemError(EEXIST)) { try files.link(a, to: b) }
    #expect(text("a") == "a" && text("b") == "b")
    try files.rename(a, toNew: scratch.file("c"))
    try files.rename(scratch.file("c"), to: b)
    #expect(FilePath.names(in: scratch.path) == ["b"] && text("b") == "a")
    #expect(throws: SystemError(ENOENT)) { try files.unlink(a) }
    try files.unlinkIfThere(a)
  }

  @Test("rename onto a new name where the file system knows hard links only")
  func renamingByLink() throws {
    let a = try scratch.write("a", to: "a")
    let (files, log) = probed(failing: 1, with: EINVAL)
    try files.rename(a, toNew: scratch.file("b"))
    #expect(FilePath.names(in: scratch.path) == ["b"])
    #expect(log.value.dropFirst() == [.link(from: a, to: scratch.file("b")), .unlink(a)])
  }

  @Test("set permissions of an open file and of a path")
  func permissions() throws {
    let path = try scratch.write("", to: "a")
    try files.setMode(0o604, at: path)
    #expect(try FileStamp(at: path).permissions == 0o604)
    try files.setMode(0o400, of: try OpenFile(path, O_RDONLY))
    #expect(try FileStamp(at: path).permissions == 0o400 && FileStamp(at: path).isReadOnly)
  }

  @Test("find a folder that can be written, and the error of one that cannot")
  func writability() throws {
    try files.checkWritable(folder: scratch.path)
    let path = try scratch.write("", to: "a")
    #expect(throws: SystemError(ENOTDIR)) { try files.checkWritable(folder: path) }
    #expect(throws: SystemError(ENOENT)) {
      try files.checkWritable(folder: scratch.file("none"))
    }
  }
}
