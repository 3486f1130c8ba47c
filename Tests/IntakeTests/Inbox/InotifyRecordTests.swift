import Glibc
@testable import Intake
import Testing

@Suite("The kernel's events")
struct InotifyRecordTests {
  /// An event as the kernel lays it out: the name is filled up with zeros.
  private static func bytes(_ watch: Int32, _ mask: UInt32, _ name: [UInt8]) -> [UInt8] {
    let padded = name.isEmpty ? 0 : (name.count / 16 + 1) * 16
    let words = [UInt32(bitPattern: watch), mask, 0, UInt32(padded)]
    let head = words.flatMap { word in unsafe withUnsafeBytes(of: word) { unsafe Array($0) } }
    return head + name + [UInt8](repeating: 0, count: padded - name.count)
  }

  @Test("are read one after the other, with names of any bytes and any length")
  func several() {
    let long = [UInt8](repeating: 0xe4, count: 255)
    let bytes =
      Self.bytes(1, UInt32(IN_CLOSE_WRITE), Array("a.wav".utf8)) + Self.bytes(2, 0x400, [])
      + Self.bytes(3, UInt32(IN_MOVED_TO), long) + Self.bytes(-1, UInt32(IN_Q_OVERFLOW), [])
    let records = Inotify.Record.records(in: bytes[...])
    #expect(records.map(\.watch) == [1, 2, 3, -1])
    #expect(records.map { $0.name?.bytes } == [Array("a.wav".utf8), nil, long, nil])
    #expect(records[0].has(IN_CLOSE_WRITE) && !records[0].has(IN_MOVED_TO))
    #expect(records[3].has(IN_Q_OVERFLOW))
  }

  @Test("that are cut off are not read, wherever the cut is")
  func cut() {
    let whole = Self.bytes(1, 8, Array("a.wav".utf8))
    for count in 0..<whole.count {
      #expect(Inotify.Record.records(in: (whole + whole).prefix(whole.count + count)).count == 1)
      #expect(Inotify.Record.records(in: whole.prefix(count)) == [])
    }
  }

  @Test("mean something for the inbox only in folders that are watched")
  func notices() throws {
    var folders = WatchedFolders()
    let sub = try #require(InboxPath("sub"))
    let file = try #require(FileName("a.wav"))
    folders.insert(1, .inbox)
    folders.insert(2, sub)
    func notice(_ watch: CInt, _ mask: some BinaryInteger, _ name: FileName?)
      -> InboxEvent?
    {
      folders.event(
        of: Inotify.Record(watch: watch, mask: UInt32(truncatingIfNeeded: mask), name: name))
    }
    let isFolder = UInt32(IN_ISDIR)
    #expect(notice(2, IN_MOVED_TO, file) == .touched(sub.appending(file)))
    #expect(notice(2, IN_MODIFY, file) == .written(sub.appending(file)))
    #expect(notice(2, IN_CLOSE_WRITE, file) == .closed(sub.appending(file)))
    #expect(notice(9, IN_CLOSE_WRITE, file) == nil)
    #expect(notice(1, UInt32(IN_CREATE) | isFolder, file) == .folderCame(.inbox.appending(file)))
    #expect(
      notice(1, UInt32(IN_MOVED_FROM) | isFolder, file) == .folderLeft(.inbox.appending(file)))
    #expect(notice(-1, IN_Q_OVERFLOW, nil) == .writersLost)
    #expect(notice(2, IN_MOVE_SELF, nil) == nil && notice(1, IN_MOVE_SELF, nil) == .inboxLeft)
    #expect(notice(2, IN_IGNORED, nil) == .folderLeft(sub) && !folders.contains(sub))
    #expect(notice(1, IN_IGNORED, nil) == .inboxLeft && folders.count == 0)
  }

  @Test("a folder that was moved unseen keeps its number and has one path")
  func renumbered() throws {
    var folders = WatchedFolders()
    let (old, new) = (try #require(InboxPath("old")), try #require(InboxPath("new")))
    folders.insert(5, old)
    folders.insert(5, new)
    #expect(!folders.contains(old) && folders.contains(new) && folders.count == 1)
    #expect(folders.remove(within: new) == [5] && folders.count == 0)
  }
}
