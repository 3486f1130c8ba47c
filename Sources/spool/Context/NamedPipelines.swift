import Platform

/// The pipelines that can be named without a path: the user's, those of the source checkout that the
/// program lies in, and those that packages install.
struct NamedPipelines {
  private let folders: [String]

  /// - Parameter program: the path of the program's file.
  init(
    environment: [String: String] = Environment.variables,
    program: String = ResolvedPath.of("/proc/self/exe")
  ) {
    let data =
      environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? environment["HOME"].map { $0 + "/.local/share" }
    folders =
      [data.map { $0 + "/spool/pipelines" }, Self.checkout(of: program).map { $0 + "/Pipelines" }]
      .compactMap(\.self) + ["/usr/local/share/spool/pipelines", "/usr/share/spool/pipelines"]
  }

  /// The file of the pipeline `name`; nil if no folder has it, or `name` is a path.
  func path(of name: String) -> String? {
    guard Self.isName(name) else { return nil }
    return folders.map { "\($0)/\(name).yaml" }.first(where: Self.isFile)
  }

  /// Every name once, sorted, with the file that it means.
  var all: [(name: String, path: String)] {
    let names = folders.flatMap { folder in
      FilePath.names(in: folder).filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
    }
    return Set(names).sorted().compactMap { name in path(of: name).map { (name, $0) } }
  }

  /// Whether a word can be a pipeline's name: it is no path, and has no extension.
  static func isName(_ word: String) -> Bool {
    !word.isEmpty && !word.contains("/") && !word.contains(".")
  }

  static func isFile(_ path: String) -> Bool {
    (try? FileStamp(following: path))?.isFolder == false
  }

  // SwiftPM puts programs into .build/TRIPLE/CONFIGURATION.
  private static func checkout(of program: String) -> String? {
    let parts = program.split(separator: "/")
    return (1...4).lazy.map { "/" + parts.dropLast($0).joined(separator: "/") }
      .first { isFile($0 + "/Package.swift") }
  }
}
