import FoundationEssentials
import Glibc
public import PipelineModel

extension Plugin {
  /// Looks for all that it needs, before its work begins. Starts nothing but Python, and that only
  /// where packages are needed.
  /// - Parameter launcher: the program that confines others: Spool's own.
  /// - Throws: what is missing, and how it is had.
  public func checkEquipment(launcher: String) throws(StageError) {
    try checkPresence()
    let program = try program()
    if let name = manifest.run.first, manifest.library == nil,
      let flaw = ScriptLine.flaw(of: program, called: name) ?? closedProgram(called: name)
    {
      throw StageError(
        "\(subject) cannot be started", reason: flaw.message,
        advice: "it needs \(flaw.allowed); spool plugin check \(ShellWords.line([folder]))",
        cause: .environment)
    }
    if let secret = secrets.first {
      throw StageError(
        "\(subject) cannot be started",
        reason: "its manifest wants to read \(secret), of which only root may read anything",
        advice:
          "take it out of limits in its manifest; or let everybody read it, if it is no secret",
        cause: .environment)
    }
    let packages = PythonPackages(of: self)
    let missing = packages.missing(launcher: launcher).map(\.package)
    guard !missing.isEmpty else { return }
    throw StageError(
      "\(subject) cannot be started",
      reason: missing.map(packages.reason).joined(separator: "; "),
      advice: missing.map(packages.advice).joined(separator: "; "), cause: .environment)
  }

  /// Whether a file may be opened that only the manifest names. A manifest is no word of root's, who
  /// reads what nobody else may: then it is one of the plugin's own, or one that everybody may read.
  /// - Parameters:
  ///   - path: where the file lies.
  ///   - text: how the manifest names it. What is named from the pipeline's folder is looked at from
  ///     there on.
  public func mayOpen(_ path: String, named text: String) -> Bool {
    guard geteuid() == 0 else { return true }
    let (file, own) = (ProgramPrefix.real(path), ProgramPrefix.real(folder))
    let base = text.hasPrefix("/") ? "/" : String(path.dropLast(text.count + 1))
    return file.hasPrefix("\(own)/") || PublicFiles.hold(file, from: ProgramPrefix.real(base))
  }

  /// What the manifest wants to read, and nobody but root may.
  var secrets: [String] {
    guard geteuid() == 0 else { return [] }
    return manifest.limits.reads.filter { path in
      FileManager.default.fileExists(atPath: path) && PublicFiles(of: path).isEmpty
    }
  }

  /// What keeps root from starting it: a program that a link of its own or the first line of its script leads
  /// to, and that only root may read.
  func closedProgram(called name: String) -> (message: String, allowed: String)? {
    guard geteuid() == 0, name.contains("/") else { return nil }
    let program = path(ofFile: name)
    guard program.hasPrefix("\(folder)/") else { return nil }
    let named = ScriptLine.interpreters(of: program).prefix { !$0.line.isSearched }.map(\.program)
    let closed = ([program] + named).first { path in
      let file = ProgramPrefix.real(path)
      func isOwn(_ path: String) -> Bool { path.hasPrefix("\(folder)/") }
      return !file.hasPrefix("\(ProgramPrefix.real(folder))/")
        && !(PublicFiles.hold(file) && (isOwn(path) || PublicFiles.isReachable(path)))
    }
    guard let closed else { return nil }
    return (
      closed == program
        ? "\(name) leads to \(ProgramPrefix.real(program)), which only root may read"
        : "\(name) wants \(closed), which only root may read",
      "a program that everybody may read, or one that PATH gives: its name in run, or behind "
        + "/usr/bin/env in a first line"
    )
  }

  /// Looks whether its own files are still there: a program's words for that would tell less.
  func checkPresence() throws(StageError) {
    let files = FileManager.default
    // What Spool hosts by itself lies in no plugin's folder.
    guard advice == nil else { return }
    let manifest = "\(folder)/\(ManifestFile.name)"
    guard files.isReadableFile(atPath: folder), files.isReadableFile(atPath: manifest) else {
      let isThere = files.fileExists(atPath: manifest)
      throw StageError(
        "\(subject) " + (isThere ? "cannot be read" : "was removed"),
        reason: isThere
          ? "its folder \(folder) is not readable" : "it lay in \(folder), where no plugin is now",
        advice: isThere ? "allow it to be read" : "put it back, or take it out of the pipeline",
        cause: .transient)
    }
    for word in self.manifest.run.dropFirst() where word.hasPrefix("./") {
      let path = "\(folder)/\(word.dropFirst(2))"
      guard !files.isReadableFile(atPath: path) else { continue }
      let isThere = files.fileExists(atPath: path)
      throw StageError(
        "\(subject) cannot be started",
        reason: "\(path) is not \(isThere ? "readable" : "there")",
        advice: isThere
          ? "allow it to be read"
          : "build or install the plugin; spool plugin check \(ShellWords.line([folder]))",
        cause: .transient)
    }
  }
}
