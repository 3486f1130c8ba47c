import Foundation

/// A `spool` under way, for tests that stop it.
package final class RunningSpool {
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

  /// Sends a signal.
  package func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for its end.
  /// - Returns: what it left, and the seconds that were waited.
  package func end() throws -> (run: SpoolRun, seconds: Double) {
    let clock = ContinuousClock()
    let start = clock.now
    process.waitUntilExit()
    let waited = start.duration(to: clock.now)
    let code = process.terminationStatus
    let result = Program.Result(
      exitCode: process.terminationReason == .exit ? code : 128 + code,
      output: Data(try text("out").utf8), errorOutput: try text("err"))
    return (SpoolRun(result), waited / .seconds(1))
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: scratch.file(name))), as: UTF8.self)
  }

  private static func handle(_ path: String) throws -> FileHandle {
    try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }
}
