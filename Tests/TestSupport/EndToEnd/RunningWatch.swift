internal import Foundation

/// A `spool watch --json` under way.
package final class RunningWatch {
  private let process = Process()
  private let scratch: ScratchFolder

  /// Starts it.
  package init(
    _ program: Program, _ arguments: [String], environment: [String: String], folder: String
  ) throws {
    scratch = try ScratchFolder()
    process.executableURL = URL(fileURLWithPath: program.path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try Self.handle(scratch.write("", to: "out"))
    process.standardError = try Self.handle(scratch.write("", to: "err"))
    try process.run()
  }

  deinit {
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  /// Its process number.
  package var number: Int32 { process.processIdentifier }
  /// Whether it goes on.
  package var isRunning: Bool { process.isRunning }

  /// What happened so far.
  package var news: [WatchLine] {
    text("out").split(separator: "\n").compactMap {
      try? JSONDecoder().decode(WatchLine.self, from: Data($0.utf8))
    }
  }

  /// All that it wrote on standard output so far.
  package var output: String { text("out") }
  /// All that it wrote on standard error so far.
  package var errors: String { text("err") }

  /// Sends a signal.
  package func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Kills it, and waits until it is gone.
  package func kill9() {
    send(SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for its end, for at most so long.
  /// - Returns: its exit code; nil where it goes on.
  package func end(seconds: Double = 300) -> Int32? {
    let deadline = Date() + seconds
    while process.isRunning, Date() < deadline { usleep(10_000) }
    guard !process.isRunning else { return nil }
    return process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }

  /// Open descriptors, and resident bytes.
  package var appetite: (descriptors: Int, bytes: Int) {
    let folder = "/proc/\(number)"
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd"))?.count
    let status = (try? String(contentsOfFile: folder + "/status", encoding: .utf8)) ?? ""
    let resident = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    let kilobytes = resident?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    return (descriptors ?? 0, kilobytes * 1024)
  }

  private func text(_ name: String) -> String {
    let data = (try? Data(contentsOf: URL(fileURLWithPath: scratch.file(name)))) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }

  private static func handle(_ path: String) throws -> FileHandle {
    try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }
}

/// One line of `spool watch --json`.
package struct WatchLine: Decodable, Sendable {
  /// What happened: `received`, `uploaded`, …
  package let event: String
  /// When it happened.
  package let at: StatedTime
  /// The note.
  package let note: String?
  /// The file.
  package let file: String?
  /// What else is said.
  package let text: String?
  /// The files that came of it.
  package let exports: [String]?
  /// Seconds that the work took, or until the next attempt.
  package let seconds: Double?
}
