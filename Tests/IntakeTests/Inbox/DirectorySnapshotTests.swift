@testable import Intake
import Platform
import Testing

@Suite("What was there at the last look")
struct KnownFilesTests {
  private static func stamp(_ inode: UInt64) -> FileStamp {
    FileStamp(byteCount: 1, modified: 1, changed: 1, inode: inode)
  }

  private static func names(_ texts: [String: UInt64]) -> [FileName: FileStamp] {
    var files: [FileName: FileStamp] = [:]
    for (text, inode) in texts {
      if let name = FileName(text) { files[name] = stamp(inode) }
    }
    return files
  }

  private func path(_ text: String) throws -> InboxPath { try #require(InboxPath(text)) }

  @Test("tells what came, what changed and what left, and nothing of the rest")
  func differences() throws {
    var known = DirectorySnapshot()
    let folder = try path("sub")
    let first = known.update(folder, to: Self.names(["a": 1, "b": 2, "c": 3]))
    #expect(
      first == [
        .found(try path("sub/a"), Self.stamp(1)), .found(try path("sub/b"), Self.stamp(2)),
        .found(try path("sub/c"), Self.stamp(3)),
      ])
    #expect(known.update(folder, to: Self.names(["a": 1, "b": 2, "c": 3])) == [])
    let second = known.update(folder, to: Self.names(["a": 1, "b": 9, "d": 4]))
    #expect(
      second == [
        .found(try path("sub/b"), Self.stamp(9)), .found(try path("sub/d"), Self.stamp(4)),
        .gone(try path("sub/c")),
      ])
    #expect(known.count == 3 && known.count(in: folder) == 3)
  }

  @Test("one look tells only what differs")
  func single() throws {
    var known = DirectorySnapshot()
    let file = try path("sub/a")
    #expect(known.record(Self.stamp(1), at: file) == .found(file, Self.stamp(1)))
    #expect(known.record(Self.stamp(1), at: file) == nil)
    #expect(known.stamp(of: file) == Self.stamp(1))
    #expect(known.record(nil, at: file) == .gone(file))
    #expect(known.record(nil, at: file) == nil && known.count == 0)
  }

  @Test("a folder leaves with all that is beneath it, and not with its neighbours")
  func folders() throws {
    var known = DirectorySnapshot()
    for folder in ["x", "x/y", "xy", ""] {
      _ = known.update(try path(folder), to: Self.names(["a": 1]))
    }
    let gone = Set(known.remove(within: try path("x")))
    #expect(gone == [.gone(try path("x/a")), .gone(try path("x/y/a"))])
    #expect(known.count == 2)
  }
}
