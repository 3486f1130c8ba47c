import CPosix
import Foundation
import Glibc
@testable import Intake
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("Letting files leave the inbox")
struct ReleaseTests {
  private let bench: ProcessorBench
  private let store: DiskStore

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
  }

  @Test("nothing leaves before its note is uploaded")
  func early() throws {
    let processor = try bench.processor(store)
    let recording = try #require(
      try processor.takeIn(try bench.drop("sound", as: "a.m4a")).recording)
    for _ in 0..<2 { #expect(processor.settle().released.isEmpty) }
    _ = try processor.begin(recording.key)
    #expect(processor.settle().released.isEmpty)
    _ = try processor.accept(recording.key, sound: nil)
    #expect(processor.settle().released.isEmpty)
    _ = try processor.fail(recording.key, SpoolError("busy", cause: .transient))
    #expect(processor.settle().released.isEmpty)
    #expect(bench.files(in: bench.inbox) == ["a.m4a"])
  }

  @Test("a file goes where its owner wants it", arguments: InboxRules.Keeping.allCases)
  func keeping(keep: InboxRules.Keeping) throws {
    let processor = try bench.processor(store) { $0.keep = keep }
    let recording = try bench.upload("sound", as: "sub/a.m4a", with: processor)
    var report = processor.settle()
    if keep == .delete {
      // It lies aside first.
      #expect(report.released.isEmpty && report.nextCall.map { $0 > 4 && $0 <= 5 } == true)
      bench.time.advance(by: 5)
      report = processor.settle()
    }
    #expect(report.problems.isEmpty && report.released.count == 1)
    let files = bench.files(in: bench.inbox)
    switch keep {
    case .move: #expect(files == ["accepted/sub/a.m4a"])
    case .delete: #expect(files == [])
    case .leave: #expect(files == ["sub/a.m4a"])
    }
    let path = try #require(InboxPath("sub/a.m4a"))
    if keep == .leave { #expect(processor.isKnown(path, try bench.stamp(of: path))) }
    #expect(try store.text(of: recording.content) == "sound")
    #expect(processor.settle().released.isEmpty)
  }

  @Test("nothing is ever put over something else")
  func collisions() throws {
    let processor = try bench.processor(store)
    for (number, text) in ["one", "two", "three"].enumerated() {
      try bench.upload(text, as: "a.m4a", with: processor)
      _ = processor.settle()
      #expect(bench.files(in: bench.inbox).count == number + 1)
    }
    #expect(
      bench.files(in: bench.inbox)
        == ["accepted/a (2).m4a", "accepted/a (3).m4a", "accepted/a.m4a"])
    #expect(
      try String(contentsOfFile: bench.inbox + "/accepted/a (3).m4a", encoding: .utf8) == "three")
  }

  @Test("a file that was changed or taken away since is left to whoever did that")
  func changed() throws {
    let processor = try bench.processor(store)
    let recording = try bench.upload("sound", as: "a.m4a", with: processor)
    try bench.drop("another recording", as: "a.m4a")
    #expect(processor.settle().released.map(\.place) == [.gone])
    #expect(bench.files(in: bench.inbox) == ["a.m4a"])
    #expect(try store.recordings.files(of: recording.key).map(\.place) == [.gone])
    let second = try bench.upload("second", as: "b.m4a", with: processor)
    try FileManager.default.removeItem(atPath: bench.inbox + "/b.m4a")
    #expect(processor.settle().released.map(\.place) == [.gone])
    #expect(try store.text(of: second.content) == "second")
  }

  /// How a file is delivered anew under a name that is there already.
  enum Redelivery: CaseIterable { case replaced, extended }

  @Test(
    "what comes under a name before its file is left there is a new arrival",
    arguments: Redelivery.allCases)
  func changedBeforeLeft(how: Redelivery) throws {
    let processor = try bench.processor(store) { $0.keep = .leave }
    let first = try bench.upload("sound", as: "a.m4a", with: processor)
    let path = try #require(InboxPath("a.m4a"))
    if how == .replaced {
      try bench.drop("sound and more", as: "new.m4a")
      #expect(unsafe rename(bench.inbox + "/new.m4a", bench.inbox + "/a.m4a") == 0)
    } else {
      try append(" and more", to: "a.m4a")
    }
    #expect(processor.settle().released.map(\.place) == [.gone])
    #expect(try !processor.isKnown(path, bench.stamp(of: path)))
    let second = try #require(try processor.takeIn(try arrival("a.m4a")).recording)
    #expect(second.key != first.key && second.state == .received)
    try bench.process(second.key, with: processor)
    #expect(processor.settle().released.map(\.place) == [.left])
    #expect(try processor.isKnown(path, bench.stamp(of: path)))
    #expect(try store.text(of: first.content) == "sound")
    #expect(try store.text(of: second.content) == "sound and more")
  }

  @Test(
    "a record of a left file that is not its recording hides no arrival",
    arguments: ["sound and more", "noise"])
  func falseRecord(text: String) throws {
    let processor = try bench.processor(store) { $0.keep = .leave }
    let recording = try bench.upload("sound", as: "a.m4a", with: processor)
    let file = try #require(try store.recordings.files(of: recording.key).first)
    let arrived = try bench.drop(text, as: "a.m4a")
    try store.recordings.settle(
      file, .left, at: file.location, stamp: RecordingFileStamp(arrived.stamp))
    let next = try bench.processor(store) { $0.keep = .leave }
    // Without reading it, only its length tells; taken in all the same, it gets a record.
    #expect(next.isKnown(arrived.path, arrived.stamp) == (text.count == "sound".count))
    let taken = try #require(try next.takeIn(arrived).recording)
    #expect(taken.key != recording.key)
    #expect(try store.text(of: taken.content) == text)
  }

  @Test(
    "after a kill during the move, a file that has grown goes back and one that is to stay does too",
    arguments: [InboxRules.Keeping.move, .leave])
  func killedMove(keep: InboxRules.Keeping) throws {
    let processor = try bench.processor(store)
    let recording = try bench.upload("sound", as: "a.m4a", with: processor)
    let file = try #require(try store.recordings.files(of: recording.key).first)
    try store.recordings.plan(file, target: "accepted/a.m4a")
    try FileManager.default.createDirectory(
      atPath: bench.inbox + "/accepted", withIntermediateDirectories: true)
    #expect(unsafe rename(bench.inbox + "/a.m4a", bench.inbox + "/accepted/a.m4a") == 0)
    if keep == .move { try append(" and more", to: "accepted/a.m4a") }
    let next = try bench.processor(store) { $0.keep = keep }
    #expect(next.settle().released.map(\.place) == [keep == .move ? .gone : .left])
    #expect(bench.files(in: bench.inbox) == ["a.m4a"])
    let path = try #require(InboxPath("a.m4a"))
    #expect(try next.isKnown(path, bench.stamp(of: path)) == (keep == .leave))
  }

  @Test("a cut file that was left, and then written on and done, needs no decision any more")
  func completed() throws {
    let processor = try bench.processor(store) { $0.keep = .leave }
    let cut = try #require(
      try processor.takeIn(try bench.drop("sound", as: "a.m4a"), refusal: "it is cut off").recording
    )
    #expect(processor.settle().released.map(\.place) == [.left])
    #expect(try store.recordings.tally().nextCommands.count == 1)
    try append(" and more", to: "a.m4a")
    let whole = try #require(try processor.takeIn(try arrival("a.m4a")).recording)
    #expect(try store.recordings.files(of: cut.key).map(\.place) == [.gone])
    // Until then it may be all that there is of it.
    #expect(try store.recordings.tally().nextCommands.count == 1)
    try bench.process(whole.key, with: processor)
    #expect(try store.recordings.tally().completed == [cut.key])
    #expect(try store.recordings.tally().nextCommands == [])
    // Another file of its name says nothing about the first.
    _ = try processor.takeIn(try bench.drop("noise", as: "b.m4a"), refusal: "it is cut off")
    _ = processor.settle()
    try bench.drop("noise and more", as: "new.m4a")
    #expect(unsafe rename(bench.inbox + "/new.m4a", bench.inbox + "/b.m4a") == 0)
    let replacing = try #require(try processor.takeIn(try arrival("b.m4a")).recording)
    try bench.process(replacing.key, with: processor)
    #expect(try store.recordings.tally().nextCommands.count == 1)
  }

  /// A file that lies in the inbox, as a watcher reports it.
  private func arrival(_ name: String) throws -> StableRecording {
    let path = try #require(InboxPath(name))
    return StableRecording(
      path: path, stamp: try bench.stamp(of: path), sidecar: nil, nameCount: 1)
  }

  private func append(_ text: String, to name: String) throws {
    let file = unsafe open(bench.inbox + "/" + name, O_WRONLY | O_APPEND)
    defer { close(file) }
    try #require(unsafe write(file, text, text.utf8.count) == text.utf8.count)
  }

  @Test("one that is exchanged at the last moment goes back")
  func exchanged() throws {
    let inbox = bench.inbox
    let hook: FolderCallHook = { @Sendable (call) throws(SystemError) in
      // After the last look, before the move.
      guard case .move(let from, _) = call, from == InboxPath("a.m4a") else { return }
      _ = unsafe unlink(inbox + "/a.m4a")
      guard let file = unsafe fopen(inbox + "/a.m4a", "w") else { return }
      _ = unsafe fputs("not yet taken in", file)
      unsafe fclose(file)
    }
    for keep in [InboxRules.Keeping.move, .delete] {
      let processor = try bench.processor(store, hooks: [hook]) { $0.keep = keep }
      try bench.upload("sound \(keep)", as: "a.m4a", with: processor)
      #expect(processor.settle().released.map(\.place) == [.gone])
      #expect(bench.files(in: bench.inbox) == ["a.m4a"])
      let text = try String(contentsOfFile: inbox + "/a.m4a", encoding: .utf8)
      #expect(text == "not yet taken in")
    }
  }

  @Test("no link leads a file out of the inbox")
  func links() throws {
    let outside = bench.path + "/outside"
    try FileManager.default.createDirectory(
      atPath: outside, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: bench.inbox + "/accepted", withDestinationPath: outside)
    let processor = try bench.processor(store)
    try bench.upload("sound", as: "a.m4a", with: processor)
    let report = processor.settle()
    #expect(report.released.isEmpty && report.problems.count == 1)
    #expect(report.nextCall.map { $0 > 0 } == true)
    #expect(bench.files(in: outside) == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.inbox).contains("a.m4a"))
    // It is not tried at every call, and is once the link is gone.
    try FileManager.default.removeItem(atPath: bench.inbox + "/accepted")
    #expect(processor.settle().released.isEmpty)
    bench.time.advance(by: 60)
    #expect(processor.settle().released.map(\.place) == [.accepted])
  }

  @Test(
    "hostile names leave under themselves and nowhere else",
    arguments: [
      [0x0a, 0x1b, 0x5b, 0x32, 0x4a], Array("..a".utf8), Array("-rf %0A $(x)".utf8),
      [0xff, 0xfe, 0x41], [UInt8](repeating: 0x61, count: 255),
      Array(repeating: Array("é".utf8), count: 127).joined() + [0x62],
      Array("a.".utf8) + [UInt8](repeating: 0x62, count: 253),
    ])
  func names(bytes: [UInt8]) throws {
    let name = try #require(FileName(bytes: bytes))
    let processor = try bench.processor(store)
    for refusal in [nil, "refused"] {
      let path = InboxPath.inbox.appending(name)
      try bench.write("sound \(refusal ?? "")", to: path)
      let arrived = StableRecording(
        path: path, stamp: try bench.stamp(of: path), sidecar: nil, nameCount: 1)
      let recording = try #require(try processor.takeIn(arrived, refusal: refusal).recording)
      if refusal == nil { try bench.process(recording.key, with: processor) }
      let report = processor.settle()
      #expect(report.problems.isEmpty)
      #expect(report.released.map(\.place) == [refusal == nil ? .accepted : .quarantine])
      let file = try #require(try store.recordings.files(of: recording.key).first)
      let location = try #require(InboxPath(escaped: file.location))
      #expect(try bench.stamp(of: location).byteCount == Int64("sound \(refusal ?? "")".utf8.count))
      if refusal == nil {
        #expect(location == ReleaseName.accepted.appending(name))
      } else {
        _ = try bench.stamp(of: ReleaseName.reason(for: location))
      }
    }
    let top = try FileManager.default.contentsOfDirectory(atPath: bench.inbox).sorted()
    #expect(top == ["accepted", "quarantine"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: bench.path).sorted()
        == ["inbox", "outbox", "store"])
  }

  @Test("paths survive being written as text")
  func escaping() throws {
    for bytes in [
      Array("a/b.m4a".utf8), [0xff], [0x25, 0x30, 0x41], [0x0a, 0x7f, 0xc3], [0xe2, 0x82],
    ] {
      let path = try #require(InboxPath(bytes: bytes))
      #expect(InboxPath(escaped: path.escaped) == path)
      #expect(path.escaped.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f })
    }
    #expect(InboxPath("a\n%é")?.escaped == "a%0A%25é")
    for text in ["%", "%4", "%zz", "a%2F..%2Fb", "..", "a//b", "%00"] {
      #expect(InboxPath(escaped: text) == nil, "\(text)")
    }
  }

  @Test("quarantined, asked for again and accepted: the file and its reason follow")
  func retried() throws {
    let processor = try bench.processor(store)
    let recording = try #require(
      try processor.takeIn(try bench.drop("sound", as: "a.m4a")).recording)
    _ = try processor.begin(recording.key)
    _ = try processor.fail(recording.key, SpoolError("cannot decode", cause: .input))
    _ = processor.settle()
    #expect(
      bench.files(in: bench.inbox) == ["quarantine/a.m4a", "quarantine/a.m4a.reason.json"])
    #expect(
      try store.recordings.change(recording.key, .retry(reason: nil))?.recording?.state == .received
    )
    #expect(processor.settle().released.isEmpty)
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox) == ["accepted/a.m4a"])
  }

  @Test("what is deleted is deleted only while the store has it")
  func lastCopy() throws {
    let processor = try bench.processor(store) { $0.keep = .delete }
    let recording = try bench.upload("sound", as: "a.m4a", with: processor)
    try FileManager.default.removeItem(atPath: try store.path(of: recording.content))
    _ = processor.settle()
    bench.time.advance(by: 6)
    let report = processor.settle()
    #expect(report.released.isEmpty && report.problems.count == 1)
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.inbox)
    #expect(names.count == 1, "the only copy is gone")
  }

  @Test("what is to be deleted waits for whoever still has it open, and is looked at once more")
  func lateWriter() throws {
    let processor = try bench.processor(store) { $0.keep = .delete }
    let path = try #require(InboxPath("a.m4a"))
    let recording = try bench.upload("sound", as: "a.m4a", with: processor)
    let file = unsafe open(bench.inbox + "/a.m4a", O_WRONLY | O_APPEND)
    _ = processor.settle()
    for _ in 0..<3 {
      bench.time.advance(by: 30)
      #expect(processor.settle().released.isEmpty, "it was deleted under its writer's hands")
    }
    #expect(unsafe write(file, " and more", 9) == 9)
    close(file)
    bench.time.advance(by: 30)
    #expect(processor.settle().released.map(\.place) == [.gone])
    // It is a new arrival, and what was taken in is the store's.
    #expect(bench.files(in: bench.inbox) == ["a.m4a"])
    #expect(
      try String(contentsOfFile: bench.inbox + "/a.m4a", encoding: .utf8) == "sound and more")
    #expect(try !processor.isKnown(path, bench.stamp(of: path)))
    #expect(try store.text(of: recording.content) == "sound")
  }

  @Test("bytes that were exchanged without a trace in length and time are not deleted either")
  func sameStamp() throws {
    let processor = try bench.processor(store) { $0.keep = .delete }
    try bench.upload("sound", as: "a.m4a", with: processor)
    _ = processor.settle()
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.inbox)
    let aside = bench.inbox + "/" + (try #require(names.first))
    var status = stat()
    #expect(unsafe stat(aside, &status) == 0)
    let file = unsafe open(aside, O_WRONLY)
    #expect(unsafe write(file, "SOUND", 5) == 5)
    var times = [status.st_atim, status.st_mtim]
    #expect(unsafe futimens(file, &times) == 0)
    close(file)
    bench.time.advance(by: 6)
    #expect(processor.settle().released.map(\.place) == [.gone])
    #expect(bench.files(in: bench.inbox) == ["a.m4a"])
  }

  @Test("what came while nobody watched to a file that lay aside is given back")
  func crashed() throws {
    let processor = try bench.processor(store) { $0.keep = .delete }
    try bench.upload("sound", as: "a.m4a", with: processor)
    _ = processor.settle()
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.inbox)
    try append("!", to: try #require(names.first))
    let next = try bench.processor(store) { $0.keep = .delete }
    #expect(next.settle().released.map(\.place) == [.gone])
    #expect(try String(contentsOfFile: bench.inbox + "/a.m4a", encoding: .utf8) == "sound!")
  }

  @Test("a marker goes with its recording", arguments: [InboxRules.Keeping.move, .delete])
  func marker(keep: InboxRules.Keeping) throws {
    let processor = try bench.processor(store) { $0.keep = keep }
    let arrived = try bench.drop("sound", as: "a.m4a")
    let marker = try #require(InboxPath("a.m4a.done"))
    try bench.write("", to: marker)
    let recording = try #require(
      try processor.takeIn(
        StableRecording(
          path: arrived.path, stamp: arrived.stamp, sidecar: nil, nameCount: 1, marker: marker)
      ).recording)
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    bench.time.advance(by: 6)
    _ = processor.settle()
    #expect(
      bench.files(in: bench.inbox)
        == (keep == .move ? ["accepted/a.m4a", "accepted/a.m4a.done"] : []))
  }
}
