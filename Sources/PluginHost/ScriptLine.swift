import FoundationEssentials
import Glibc

/// The first line of a script, which names what reads the script: `#!` and a program, as execve(2)
/// takes it. Where that is `env`, it is the program that `PATH` gives.
struct ScriptLine {
  /// The program as it is named: a path, or for `env` perhaps a name.
  let named: String
  /// Whether `env` looks for it on `PATH`, which is its user's word and not the script's.
  let isSearched: Bool

  /// Bytes of a line that the kernel reads (BINPRM_BUF_SIZE).
  private static let most = 256
  /// How often the kernel goes from an interpreter to its interpreter.
  private static let deepest = 4

  /// Reads a file's first line; nil where it names nothing, as of what is no script.
  init?(of path: String) {
    let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.most)
    let count = unsafe read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    self.init(bytes[..<count])
  }

  /// Takes the beginning of a file apart.
  init?(_ bytes: some Collection<UInt8>) {
    guard bytes.starts(with: Array("#!".utf8)) else { return nil }
    let line = String(decoding: bytes.dropFirst(2).prefix { $0 != 10 }, as: UTF8.self)
    func isBlank(_ character: Unicode.Scalar) -> Bool { character == " " || character == "\t" }
    let text = line.unicodeScalars.drop(while: isBlank)
    let program = String(text.prefix { !isBlank($0) })
    guard !program.isEmpty else { return nil }
    var rest = text.dropFirst(program.unicodeScalars.count).drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    guard program.split(separator: "/").last == "env", let wanted = Self.wanted(String(rest)) else {
      (named, isSearched) = (program, false)
      return
    }
    (named, isSearched) = (wanted, !wanted.contains("/"))
  }

  /// What `env` is to start. All that stands behind it is one word, unless it takes that apart itself
  /// (`-S`). What asks for more than that is not understood: nil.
  private static func wanted(_ rest: String) -> String? {
    let split = ["-S", "--split-string=", "-vS"].first { rest.hasPrefix($0) }
    guard let split else { return rest.isEmpty || rest.hasPrefix("-") ? nil : rest }
    let words = rest.dropFirst(split.count).split { $0 == " " || $0 == "\t" }
    guard let word = words.first(where: { !$0.contains("=") }) else { return nil }
    return word.hasPrefix("-") ? nil : String(word)
  }

  /// Where the program lies; nil where it is not there.
  var program: String? {
    if isSearched { return Plugin.find(named) }
    return FileManager.default.isExecutableFile(atPath: named) ? named : nil
  }

  /// What reads a script, and what reads that, each with its place. O(1).
  static func interpreters(of path: String) -> [(line: ScriptLine, program: String)] {
    var found: [(line: ScriptLine, program: String)] = []
    var path = path
    while found.count < deepest, let line = ScriptLine(of: path), let program = line.program {
      found.append((line, program))
      path = program
    }
    return found
  }

  /// Why a script cannot be started; nil where its interpreter is there, or it is none.
  static func flaw(of path: String, called name: String) -> (message: String, allowed: String)? {
    guard let line = ScriptLine(of: path), line.program == nil else { return nil }
    let place = line.isSearched ? "not on PATH" : "not there"
    return (
      "\(name) wants \(line.named), which is \(place)",
      line.named.contains("\r")
        ? "lines that end with a line feed alone, without a carriage return"
        : "an interpreter that is installed, in its first line"
    )
  }
}
