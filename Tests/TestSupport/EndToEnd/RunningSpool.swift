import Foundation

/// A `spool` under way, for tests that stop it.
package final class RunningSpool {
  private let process = Process()
  private let scratch: ScratchFolder
  /// Its standard output, if nothing reads it.
  private let unread: Pipe?

  /// Starts it.
  /// - Parameter isRead: whether its standard output is read; else that is a pipe of one page.
  package init(
    _ program: Program, _ arguments: [String], environment: [String: String], folder: String,
    isRead: Bool = true
  ) throws {
    scratch = try ScratchFolder()
    process.executableURL = URL(fileURLWithPath: program.path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardInput = FileHandle.nullDevice
    let output = try Self.handle(scratch.write("", to: "out"))
    unread = isRead ? nil : Pipe()
    if let unread {
      // F_SETPIPE_SZ, which Swift does not import.
      _ = fcntl(unread.fileHandleForWriting.fileDescriptor, 1031, 4096)
    }
    process.standardOutput = unread ?? output
    process.standardError = try Self.handle(scratch.write("", to: "err"))
    try process.run()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// The number of its process.
  package var number: Int32 { process.processIdentifier }

  /// Whether it goes on.
  package var isRunning: Bool { process.isRunning }

  /// Waits until so many lines of its events hold `word`, or it has ended.
  /// - Returns: whether they do.
  package func waits(for word: String, times count: Int = 1) throws -> Bool {
    while true {
      let hasEnded = !process.isRunning
      let lines = try text("out").split(separator: "\n").filter { $0.contains(word) }
      if lines.count >= count { return true }
      if hasEnded { return false }
      usleep(2000)
    }
  }

  /// Waits until its standard output, which nothing reads, takes no more, or it has ended.
  /// - Returns: whether it is full.
  package func waitsUntilFull() -> Bool {
    guard let unread else { return false }
    while true {
      let hasEnded = !process.isRunning
      var state = pollfd(
        fd: unread.fileHandleForWriting.fileDescriptor, events: Int16(POLLOUT), revents: 0)
      if unsafe poll(&state, 1, 0) == 0 { return true }
      if hasEnded { return false }
      usleep(2000)
    }
  }

  /// Waits until it has ended, for so many seconds at most.
  package func ends(within seconds: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while process.isRunning, ContinuousClock.now < end { usleep(10_000) }
    return !process.isRunning
  }

  /// Sends a signal.
  package func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for its end.
  /// - Returns: what it left, and the seconds that were waited.
  package func end() throws -> (run: SpoolRun, seconds: Double) {
    let clock = ContinuousClock()
    let start = clock.now
    while process.isRunning, !endTracerOfRemains() { usleep(2000) }
    process.waitUntilExit()
    let waited = start.duration(to: clock.now)
    let code = process.terminationStatus
    let result = Program.Result(
      exitCode: process.terminationReason == .exit ? code : 128 + code,
      output: try unread.map(rest) ?? Data(try text("out").utf8), errorOutput: try text("err"))
    return (SpoolRun(result), waited / .seconds(1))
  }

  /// Ends the tracer of threads that are left of an ended process: strace loses track of one now and
  /// then, and holds it as long as a call was to be delayed.
  /// - Returns: whether there was one.
  private func endTracerOfRemains() -> Bool {
    let folder = "/proc/\(process.processIdentifier)"
    guard let own = try? String(contentsOfFile: folder + "/status", encoding: .utf8),
      own.contains("State:\tZ"),
      let threads = try? FileManager.default.contentsOfDirectory(atPath: folder + "/task")
    else { return false }
    for thread in threads {
      guard
        let status = try? String(
          contentsOfFile: "\(folder)/task/\(thread)/status", encoding: .utf8),
        let tracer = status.firstMatch(of: /TracerPid:\t([1-9]\d*)/).flatMap({ pid_t($0.1) })
      else { continue }
      kill(tracer, SIGKILL)
      return true
    }
    return false
  }

  /// What a pipe holds that nobody has read.
  private func rest(of pipe: Pipe) throws -> Data {
    try pipe.fileHandleForWriting.close()
    return try pipe.fileHandleForReading.readToEnd() ?? Data()
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: scratch.file(name))), as: UTF8.self)
  }

  private static func handle(_ path: String) throws -> FileHandle {
    try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }
}
