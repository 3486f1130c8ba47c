import Glibc
import Platform

/// The user's editor: the command in $VISUAL or $EDITOR, else vi.
enum TextEditor {
  /// Lets the user edit a text.
  /// - Parameter ending: the file name's, with the dot.
  /// - Returns: the edited text, and the file, which the caller removes.
  static func edit(
    _ text: String, ending: String
  ) throws(SpoolError) -> (bytes: [UInt8], path: String) {
    let files = FileOperations.system
    let folder = Environment.temporaryFolder
    let path = "\(folder)/spool-words-\(getpid())-\(UInt32.random(in: .min ... .max))\(ending)"
    try doing("write", path, advice: "set TMPDIR to a folder that you may write in") {
      () throws(SystemError) in
      let file = try files.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      try files.write(Array(text.utf8), to: file)
    }
    do throws(SpoolError) {
      try run(path)
    } catch {
      // What the user saved before the editor failed is the work of an hour.
      let isSaved = (try? files.bytes(following: path)).map { $0 != Array(text.utf8) } ?? false
      guard isSaved else {
        try? files.unlink(path)
        throw error
      }
      throw SpoolError(
        error.message, reason: "nothing was corrected, but what you saved is still in \(path)",
        advice: "give it with --from \(ShellWords.line([path]))")
    }
    return try doing("read", path) { () throws(SystemError) in
      (try files.bytes(following: path), path)
    }
  }

  /// Has the editor show its screen to a person: standard output may be a file, or what another
  /// program reads.
  private static let toTerminal =
    "if (: > /dev/tty) 2> /dev/null; then exec > /dev/tty; else exec >&2; fi; "

  private static func run(_ path: String) throws(SpoolError) {
    let variables = Environment.variables
    let chosen = ["VISUAL", "EDITOR"].compactMap { variables[$0] }.first { !$0.isEmpty }
    let editor = chosen ?? "vi"
    guard chosen != nil || isatty(STDIN_FILENO) == 1 else {
      throw .usage(
        "there is no terminal for an editor", reason: "nothing was corrected",
        advice: "give an edited text with --from FILE: spool words export writes one")
    }
    // The value may have arguments; the file's name is one of its own.
    let line = (isatty(STDOUT_FILENO) == 1 ? "" : toTerminal) + editor + " \"$1\""
    let words = ["sh", "-c", line, "spool", path]
    let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, "/bin/sh", nil, nil, arguments, environ)
    guard code == 0 else { throw SpoolError("start the editor", editor, SystemError(code)) }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else {
      throw SpoolError(
        "the editor \(editor) failed", reason: "nothing was corrected",
        advice:
          "set VISUAL or EDITOR to your editor's command, or correct an exported file and give "
          + "it with --from FILE")
    }
  }
}
