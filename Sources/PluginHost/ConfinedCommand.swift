import FoundationEssentials
import Glibc
public import PipelineModel

/// A program that is run to its end behind the limits of plugins: it reads files, writes files, and
/// speaks no protocol.
public struct ConfinedCommand {
  /// The program, a name on `PATH` or an absolute path, and its arguments. No shell reads them.
  public let words: [String]
  /// What it may use; the time is that of the whole run.
  public let limits: PluginManifest.Limits
  /// Files and folders that it may read.
  public let reads: [String]
  /// Files and folders that it may write.
  public let writes: [String]
  /// What its user can do where it fails.
  private let advice: String

  /// Describes a program's run.
  /// - Parameters:
  ///   - words: the program and its arguments, one or more.
  ///   - advice: what its user can do where it fails; nil for trying it just so.
  public init(
    _ words: [String], limits: PluginManifest.Limits, reads: [String] = [], writes: [String] = [],
    advice: String? = nil
  ) {
    self.words = words
    self.limits = limits
    self.reads = reads
    self.writes = writes
    self.advice = advice ?? "try it alone: \(ShellWords.line(words))"
  }

  /// What a program left that ended well.
  public struct Outcome: Sendable {
    /// The beginning of what it wrote to standard output, at most a megabyte of it.
    public let output: [UInt8]
    /// The end of what it wrote to standard error.
    public let complaints: [String]
    /// What people should know.
    public let warnings: [String]
  }

  private static let mostOutput = 1 << 20

  /// Where a program lies that is named as in `words`; nil where there is none.
  public static func path(of program: String) -> String? {
    guard program.contains("/") else { return Plugin.find(program) }
    return FileManager.default.isExecutableFile(atPath: program) ? program : nil
  }

  /// Where a program lies that is to be started.
  /// - Throws: where there is none, or not the interpreter that its first line names.
  public static func path(toStart program: String) throws(StageError) -> String {
    guard let path = path(of: program) else {
      let isPath = program.contains("/")
      let isThere = isPath && FileManager.default.fileExists(atPath: program)
      throw StageError(
        "\(program) cannot be started",
        reason: isThere ? "it is not executable" : "there is no such program",
        advice: isThere
          ? "chmod +x \(ShellWords.line([program]))"
          : isPath
            ? "put it there; a path that begins with no slash starts from the pipeline's folder"
            : "install \(program), and see that it is on PATH", cause: .transient)
    }
    if let flaw = ScriptLine.flaw(of: path, called: program) {
      throw StageError(
        "\(program) cannot be started", reason: flaw.message, advice: "it needs \(flaw.allowed)",
        cause: .transient)
    }
    return path
  }

  /// Runs it, and blocks until its end.
  /// - Parameters:
  ///   - launcher: the program that confines others and then becomes them: Spool's own.
  ///   - folder: where it starts; nil makes one, and removes it.
  ///   - file: where its standard output goes; nil keeps the beginning of it.
  ///   - check: asked several times a second whether to go on.
  public func run(
    launcher: String, in folder: PrivateFolder? = nil, standardOutput file: String? = nil,
    check: () throws(StageError) -> Void
  ) throws(StageError) -> Outcome {
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
    var hearing = CommandHearing(
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
    if let ending = process.end() {
      throw failure(ending, hearing, advice: advice)
    }
    let report = process.report
    if let remnant = report.remnant {
      throw failure(remnant, hearing, advice: LauncherReport.adviceForRemnant)
    }
    if let trouble = hearing.trouble {
      throw StageError(
        "cannot keep what \(name) wrote", reason: trouble,
        advice: "make room there, or set TMPDIR", cause: .environment)
    }
    return Outcome(
      output: hearing.output, complaints: hearing.complaints.lines,
      warnings: report.warnings(of: name))
  }

  private func failure(
    _ reason: String, _ hearing: borrowing CommandHearing, advice: String
  ) -> StageError {
    var complaints = hearing.complaints
    complaints.drain(hearing.process.complaints)
    let remnant = hearing.process.report.remnant.flatMap { $0 == reason ? nil : "; \($0)" } ?? ""
    return StageError(
      "the command \(words[0]) failed", reason: reason + remnant + complaints.reason,
      advice: advice, cause: .environment)
  }
}
