import Foundation
import Glibc
@testable import Intake
import Platform
import Synchronization
import TestSupport
import Testing

/// A real folder with a watcher on it, which rests shorter than a user's, and what it told.
final class LiveInbox: Sendable {
  let scratch: ScratchFolder
  private let news: News
  private let watcher: InboxWatcher

  /// Where the inbox is.
  var path: String { scratch.file("inbox") }

  /// - Parameter known: the names of the files that an earlier watch took in.
  init(
    names: UntouchedNames = UntouchedNames(), rescanPause: Duration = .seconds(60),
    known: Set<String> = [], rules change: (inout StabilityRules) -> Void = { _ in }
  ) throws {
    scratch = try ScratchFolder()
    try FileManager.default.createDirectory(
      atPath: scratch.file("inbox"), withIntermediateDirectories: true)
    var rules = StabilityRules()
    rules.restPeriod = .milliseconds(300)
    rules.cautiousRestPeriod = .milliseconds(600)
    // Other tests may keep every thread for longer than a user would wait.
    rules.patience = .seconds(36_000)
    rules.sidecarPatience = .seconds(36_000)
    change(&rules)
    var schedule = RescanSchedule()
    schedule.pause = rescanPause
    let news = News()
    self.news = news
    watcher = InboxWatcher(
      path: scratch.file("inbox"), names: names, rules: rules, schedule: schedule,
      isKnown: { path, _ in known.contains(path.description) }, examine: TestContainer.verdict,
      report: { news.add($0) })
  }

  deinit { watcher.stop() }

  /// Everything told so far, but for what files wait for.
  var told: [InboxEvent] {
    news.list.withLock { list in
      list.map(\.event).filter { if case .waiting = $0 { false } else { true } }
    }
  }

  /// The names of the recordings that settled so far, in the order of settling.
  var settled: [String] { told.compactMap(\.settledName) }

  /// The sidecars of the recordings that settled so far, in the order of settling.
  var sidecars: [String] {
    told.compactMap { event in
      guard case .settled(let recording) = event else { return nil }
      return recording.sidecar?.description
    }
  }

  /// For each recording that settled, the seconds from the last change of its file to the report.
  var rests: [Double] {
    news.list.withLock { list in
      list.compactMap { event, time in
        guard case .settled(let recording) = event else { return nil }
        return Double(time - recording.stamp.changed) / 1e9
      }
    }
  }

  /// Asks the watcher to look through everything.
  func rescan() { watcher.rescan() }

  /// Takes a file as new.
  func lookAgain(at path: InboxPath) { watcher.lookAgain(at: path) }

  /// Waits until something has been told.
  @discardableResult
  func wait(
    for what: String, seconds: Double = 15, location: SourceLocation = #_sourceLocation,
    _ isTold: ([InboxEvent]) -> Bool
  ) async -> Bool {
    // Other tests may keep every thread of the pool for longer than any limit: what counts is
    // that there was time and that it was looked at often.
    let end = Date() + seconds
    var looks = 0
    while Date() < end || looks < 300 {
      if isTold(told) { return true }
      looks += 1
      try? await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("\(what) was not told; told was \(told)", sourceLocation: location)
    return false
  }

  /// Waits until a recording has settled.
  @discardableResult
  func waitForSettled(_ name: String, location: SourceLocation = #_sourceLocation)
    async -> Bool
  {
    await wait(for: "that \(name) settled", location: location) { told in
      told.contains { $0.settledName == name }
    }
  }

  /// Waits until a program has made a file in the scratch folder.
  func wait(forFile name: String) async {
    await wait(for: "the file \(name)") { _ in
      FileManager.default.fileExists(atPath: scratch.file(name))
    }
  }

  /// Brings another whole recording and waits until it has settled: everything that was due when
  /// it came has been told by then.
  func settleLater(_ name: String = "later.wav", location: SourceLocation = #_sourceLocation)
    async throws
  {
    try prepare(name)
    try shell("mv \(name) inbox/")
    await waitForSettled(name, location: location)
  }

  /// Runs a line of shell in the scratch folder, where the inbox is `inbox`, to its end.
  func shell(_ line: String) throws {
    let shell = try #require(Program(named: "sh"))
    let result = try shell.run(["-c", line], folder: scratch.path)
    #expect(result.exitCode == 0, "\(line): \(result.errorOutput)")
  }

  /// Begins a line of shell in the scratch folder.
  func begin(_ line: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line]
    process.currentDirectoryURL = URL(fileURLWithPath: scratch.path)
    try process.run()
    return process
  }

  /// Puts a whole recording into the scratch folder, outside the inbox.
  func prepare(_ name: String, byteCount: Int = 4000) throws {
    try Data(TestContainer.bytes(byteCount: byteCount)).write(
      to: URL(fileURLWithPath: scratch.file(name)))
  }
}

extension Process {
  /// Waits for the program's end without keeping a thread of the pool.
  func end() async throws {
    while isRunning { try await Task.sleep(for: .milliseconds(10)) }
  }
}

/// What a watcher told, in order, and when.
private final class News: Sendable {
  let list = Mutex<[(event: InboxEvent, time: Int64)]>([])

  func add(_ arrival: InboxEvent) { list.withLock { $0.append((arrival, Clock.now())) } }
}

extension InboxEvent {
  /// The printable path of a recording that settled.
  var settledName: String? {
    if case .settled(let recording) = self { return recording.path.description }
    return nil
  }

  /// The printable path of what was refused, and what it is.
  var refusal: (name: String, kind: SpoolError.Kind?)? {
    if case .refused(let path, let error) = self { return (path.description, error.kind) }
    return nil
  }

  /// The printable path of what will never be whole, and why.
  var hopeless: String? {
    if case .hopeless(let recording, let reason) = self { return "\(recording.path): \(reason)" }
    return nil
  }

  /// The printable path of what is no recording.
  var ignored: String? {
    if case .ignored(let path) = self { return path.description }
    return nil
  }

  /// The printable path of what did not settle, and why.
  var unsettled: (name: String, reason: Unsettled)? {
    if case .unsettled(let path, let reason) = self { return (path.description, reason) }
    return nil
  }
}

extension FileStamp {
  /// The stamp of a regular file that no disk holds.
  init(byteCount: Int64, modified: Int64, changed: Int64, inode: UInt64) {
    var status = stat()
    status.st_mode = S_IFREG
    status.st_size = Int(byteCount)
    status.st_ino = UInt(inode)
    status.st_mtim = timespec(tv_sec: 0, tv_nsec: Int(modified))
    status.st_ctim = timespec(tv_sec: 0, tv_nsec: Int(changed))
    self.init(status)
  }
}
