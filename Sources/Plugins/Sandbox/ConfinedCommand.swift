import FoundationEssentials
import Glibc
import PipelineModel
package import Platform

/// Runs a program to its end behind the plugin sandbox, without the protocol.
package struct ConfinedCommand {
  /// The program (a name on `PATH` or an absolute path) and its arguments. No shell is involved.
  package let words: [String]
  /// Resource limits; the time limit is that of the whole run.
  package let limits: PluginManifest.Limits
  /// Files and folders that it may read.
  package let reads: [String]
  /// Files and folders that it may write.
  package let writes: [String]
  /// Advice for the user if it fails.
  private let advice: String

  /// - Parameters:
  ///   - words: the program and its arguments.
  ///   - advice: for the user if it fails; nil for the default.
  package init(
    _ words: [String], limits: PluginManifest.Limits, reads: [String] = [], writes: [String] = [],
    advice: String? = nil
  ) {
    self.words = words
    self.limits = limits
    self.reads = reads
    self.writes = writes
    self.advice = advice ?? "try it alone: \(ShellWords.line(words))"
  }

  /// The result of a successful run.
  package struct Outcome: Sendable {
    /// The first megabyte of standard output.
    package let output: [UInt8]
    /// The end of standard error.
    package let complaints: [String]
    /// Warnings for the user.
    package let warnings: [String]
  }

  private static let mostOutput = 1 << 20

  /// Resolves a program named as in `words`; nil if it does not exist.
  package static func path(of program: String) -> String? {
    guard program.contains("/") else { return Plugin.find(program) }
    return FileManager.default.isExecutableFile(atPath: program) ? program : nil
  }

  /// Resolves a program to start.
  /// - Throws: If the program, or the interpreter in its first line, does not exist.
  package static func path(toStart program: String) throws(SpoolError) -> String {
    guard let path = path(of: program) else {
      let isPath = program.contains("/")
      let isThere = isPath && FileManager.default.fileExists(atPath: program)
      throw SpoolError(
        "\(program) cannot be started",
        reason: isThere ? "it is not executable" : "there is no such program",
        advice: isThere
          ? "chmod +x \(ShellWords.line([program]))"
          : isPath
            ? "put it there; a path that begins with no slash starts from the pipeline's folder"
            : "install \(program), and see that it is on PATH", cause: .transient)
    }
    if let flaw = ScriptLine.flaw(of: path, called: program) {
      throw SpoolError(
        "\(program) cannot be started", reason: flaw.message, advice: "it needs \(flaw.allowed)",
        cause: .transient)
    }
    return path
  }

  /// Runs it, and blocks until its end.
  /// - Parameters:
  ///   - launcher: the program that confines others (Spool's own).
  ///   - folder: the working folder; nil uses a temporary one.
  ///   - file: where standard output is written; nil keeps the start of it in memory.
  ///   - check: called several times a second; throws to stop.
  package func run(
    launcher: String, in folder: PrivateFolder? = nil, standardOutput file: String? = nil,
    check: () throws(SpoolError) -> Void
  ) throws(SpoolError) -> Outcome {
    let name = words[0]
    let path = try Self.path(toStart: name)
    let folder = if let folder { folder } else { try PrivateFolder("command", for: name) }
    defer { folder.remove() }
    let process = try PluginProcess(
      ConfinedProgram(
        program: path, arguments: Array(words.dropFirst()), folder: folder.path,
        reads: reads, publicReads: limits.reads, writes: writes, limits: limits), launcher: launcher
    )
    process.closeInput()
    var hearing = ProcessOutput(
      process, file: file, most: file == nil ? Self.mostOutput : limits.fileSize << 20)
    defer { hearing.close() }
    let deadline = ContinuousClock.now + .seconds(limits.time)
    while !process.hasEnded {
      try check()
      if ContinuousClock.now >= deadline {
        process.end()
        throw failure(
          "it was not done within \(Unit.seconds.format(limits.time))", hearing,
          advice: "raise time, where it needs longer")
      }
      hearing.listen()
      if hearing.isOverfull {
        process.end()
        throw failure(
          "it wrote more than \(limits.fileSize) MB to standard output", hearing,
          advice: "raise size, where it needs more")
      }
    }
    hearing.drain()
    if let ending = process.end() { throw failure(ending, hearing, advice: advice) }
    if let remnant = process.report.remnant {
      throw failure(remnant, hearing, advice: LauncherReport.adviceForRemnant)
    }
    if let trouble = hearing.trouble {
      throw SpoolError(
        "cannot keep what \(name) wrote", reason: trouble,
        advice: "make room there, or set TMPDIR", cause: .environment)
    }
    return Outcome(
      output: hearing.output, complaints: hearing.complaints.lines,
      warnings: process.warnings(of: name))
  }

  private func failure(
    _ reason: String, _ hearing: borrowing ProcessOutput, advice: String
  ) -> SpoolError {
    var complaints = hearing.complaints
    complaints.drain(hearing.process.complaints)
    let remnant = hearing.process.report.remnant.flatMap { $0 == reason ? nil : "; \($0)" } ?? ""
    return SpoolError(
      "the command \(words[0]) failed", reason: reason + remnant + complaints.reason,
      advice: advice, cause: .environment)
  }
}

/// Collects a running program's standard output, in memory or in a file, and the end of its
/// standard error.
struct ProcessOutput: ~Copyable {
  let process: PluginProcess
  /// The end of standard error.
  private(set) var complaints = StderrTail()
  /// The start of standard output; empty if it is written to a file.
  private(set) var output: [UInt8] = []
  /// Why the file could not be written; nil if it could.
  private(set) var trouble: String?

  private let most: Int
  private let isFiling: Bool
  private var file: OpenFile?
  private var count = 0
  private var isTalking = true
  private var isComplaining = true
  private var piece = [UInt8](repeating: 0, count: 1 << 16)

  /// - Parameters:
  ///   - path: a new file for standard output; nil keeps the start of it in memory.
  ///   - most: maximum bytes.
  init(_ process: PluginProcess, file path: String?, most: Int) {
    self.process = process
    self.most = most
    isFiling = path != nil
    if let path {
      do throws(SystemError) {
        file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      } catch { trouble = error.words }
    }
  }

  /// Whether the output exceeds the limit of the file.
  var isOverfull: Bool { isFiling && count > most }

  /// Waits briefly for output and reads it.
  mutating func listen() {
    var ends = [
      pollfd(fd: isTalking ? process.output : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isComplaining ? process.complaints : -1, events: Int16(POLLIN), revents: 0),
    ]
    // The program's exit shows only as closed pipes, so a silent program is checked periodically.
    guard unsafe poll(&ends, 2, 20) > 0 else { return }
    if ends[1].revents != 0 { isComplaining = complaints.drain(process.complaints) }
    if ends[0].revents != 0 { isTalking = take() }
  }

  /// Reads the rest of the pipes after the program has ended.
  mutating func drain() {
    complaints.drain(process.complaints)
    var rounds = 0
    // A pipe holds at most a megabyte.
    while isTalking, rounds < 64, !isOverfull {
      let before = count
      isTalking = take()
      if count == before { break }
      rounds += 1
    }
  }

  mutating func close() { file = nil }

  /// - Returns: whether more may come.
  private mutating func take() -> Bool {
    let got = unsafe read(process.output, &piece, piece.count)
    guard got > 0 else { return got < 0 && (errno == EAGAIN || errno == EINTR) }
    count += got
    if !isFiling {
      output += piece.prefix(min(got, max(0, most - output.count)))
    } else if !isOverfull {
      do throws(SystemError) { try file?.put(Array(piece[..<got])) } catch {
        trouble = error.words
        close()
      }
    }
    return true
  }
}
