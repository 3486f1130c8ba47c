package import Foundation

/// Another program, run to its end: the independent references of the tests (ffmpeg, sox, flac)
/// and Spool itself.
package struct Program: Sendable {
  /// What it is called with.
  package let path: String

  /// What a finished program left.
  package struct Result: Sendable {
    /// Its exit code; for a program that a signal ended, 128 and the signal's number.
    package let exitCode: Int32
    /// Its standard output.
    package let output: Data
    /// Its standard error.
    package let errorOutput: String
    /// Its standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// A program at a path.
  package init(path: String) { self.path = path }

  /// A program that is installed; nil where it is not. The system's own counts before others on the
  /// search path: a Python of the user's lacks what the system's packages bring.
  package init?(named name: String) {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = ["/usr/bin", "/bin"] + path.split(separator: ":").map(String.init)
    guard
      let folder = folders.first(where: {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
      })
    else { return nil }
    self.path = "\(folder)/\(name)"
  }

  /// Runs it with `arguments` and waits.
  package func run(
    _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
  ) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    process.standardInput = FileHandle.nullDevice
    // Files rather than pipes: a pipe that nobody reads while the other is drained blocks.
    let scratch = try ScratchFolder()
    let output = try Self.handle(forWritingTo: scratch.file("out"))
    let errors = try Self.handle(forWritingTo: scratch.file("err"))
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    process.waitUntilExit()
    let code = process.terminationStatus
    return Result(
      exitCode: process.terminationReason == .exit ? code : 128 + code,
      output: try Data(contentsOf: URL(fileURLWithPath: scratch.file("out"))),
      errorOutput: String(
        decoding: try Data(contentsOf: URL(fileURLWithPath: scratch.file("err"))), as: UTF8.self))
  }

  private static func handle(forWritingTo path: String) throws -> FileHandle {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }
}
