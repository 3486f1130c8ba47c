import Foundation

/// A text file of the package, as the rules look at it.
struct SourceFile {
  /// Its path within the package: `Sources/DSP/Gate.swift`.
  let path: String
  /// Its lines, without line feeds.
  let lines: [String]

  /// The module it belongs to; nil outside the modules.
  var module: String? {
    let parts = path.split(separator: "/")
    return parts.count > 2 ? String(parts[1]) : nil
  }

  /// Where line `index`, counted from 0, is.
  func place(_ index: Int) -> String { "\(path):\(index + 1)" }

  /// The modules it imports, with where it does so.
  var imports: [(module: String, place: String)] {
    lines.enumerated().compactMap { index, line in
      Self.importedModule(line).map { ($0, place(index)) }
    }
  }

  /// The module that a line imports, whatever attributes and access stand before the keyword, and
  /// though only one symbol be imported; nil if it imports none.
  static func importedModule(_ line: String) -> String? {
    let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
    var words = code.split(whereSeparator: \.isWhitespace)[...]
    let access: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    while let word = words.first, word.hasPrefix("@") || access.contains(word) {
      words.removeFirst()
    }
    guard words.popFirst() == "import", let first = words.popFirst() else { return nil }
    let kinds: Set<Substring> = [
      "typealias", "struct", "class", "enum", "protocol", "let", "var", "func",
    ]
    let path = kinds.contains(first) ? words.first ?? first : first
    return String(path.prefix { $0 != "." && $0 != ";" })
  }
}

/// The package that these tests belong to.
enum Package {
  /// Its root.
  static let root: URL = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The text files in `folder`, a path within the package, in alphabetical order.
  static func files(in folder: String) throws -> [SourceFile] {
    let start = root.appendingPathComponent(folder)
    let paths = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String }
    return try (paths ?? []).sorted().compactMap { path in
      let url = start.appendingPathComponent(path)
      let isFile = try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
      guard isFile, let text = String(data: try Data(contentsOf: url), encoding: .utf8) else {
        return nil
      }
      return SourceFile(path: "\(folder)/\(path)", lines: text.components(separatedBy: "\n"))
    }
  }

  /// The Swift files under `Sources`.
  static func swiftSources() throws -> [SourceFile] {
    try files(in: "Sources").filter { $0.path.hasSuffix(".swift") }
  }

  /// The names of the targets in the manifest that `Sources` holds, tests, benchmarks and the launcher left out.
  static func targets() throws -> Set<String> {
    let manifest = try String(
      contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let declaration = /(?:library|system|\.target|\.executableTarget)\(\s*(?:name:\s*)?"(\w+)"/
    return Set(manifest.matches(of: declaration).map { String($0.1) }).subtracting([
      "benchmarks", "fuzzing", "TestSupport", "CEBUR128", "SpoolConfine",
    ])
  }
}
