import PipelineModel
import Platform

/// The pipelines that can be named without a path: those in the current folder, the user's, those of
/// the source checkout that the program lies in, and those that packages install.
struct NamedPipelines {
  /// In the order in which they are searched.
  let folders: [String]
  private let current: String

  /// - Parameters:
  ///   - current: the current folder.
  ///   - program: the path of the program's file.
  init(
    environment: [String: String] = Environment.variables,
    current: String = FilePath.absolute(""),
    program: String = ResolvedPath.of("/proc/self/exe")
  ) {
    func folder(_ variable: String, or usual: String) -> String? {
      let base =
        environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
        ?? environment["HOME"].map { $0 + usual }
      return base.map { $0 + "/spool/pipelines" }
    }
    self.current = current
    folders =
      [
        current, folder("XDG_CONFIG_HOME", or: "/.config"),
        folder("XDG_DATA_HOME", or: "/.local/share"),
        Self.checkout(of: program).map { $0 + "/Pipelines" },
      ].compactMap(\.self) + ["/usr/local/share/spool/pipelines", "/usr/share/spool/pipelines"]
  }

  /// The file of the pipeline `name`; nil if no folder has it, or `name` is a path.
  func path(of name: String) -> String? {
    guard Self.isName(name) else { return nil }
    return folders.map { "\($0)/\(name).yaml" }.first(where: Self.isFile)
  }

  /// Every name once, sorted, with the file that it means. Of the current folder, which may hold other
  /// YAML, only pipelines.
  var all: [(name: String, path: String)] {
    let names = folders.flatMap { folder in
      FilePath.names(in: folder).filter { name in
        name.hasSuffix(".yaml") && (folder != current || Self.isPipeline("\(folder)/\(name)"))
      }.map { String($0.dropLast(5)) }
    }
    return Set(names).sorted().compactMap { name in path(of: name).map { (name, $0) } }
  }

  /// The pipeline that was probably meant by a name or a path of none: a name, or a file in the same
  /// folder; nil if none is near.
  func nearest(to word: String) -> String? {
    if Self.isName(word) { return Problem.nearest(to: word, in: all.map(\.name)) }
    let name = word.pathNames.last ?? ""
    let folder = String(word.dropLast(name.count))
    let files = FilePath.names(in: folder.isEmpty ? current : folder).filter {
      ($0.hasSuffix(".yaml") || $0.hasSuffix(".yml")) && Self.isPipeline(folder + $0)
    }
    return Problem.nearest(to: name, in: files.sorted()).map { folder + $0 }
  }

  /// Whether a word can be a pipeline's name: it is no path, and has no extension.
  static func isName(_ word: String) -> Bool {
    !word.isEmpty && !word.contains("/") && !word.contains(".")
  }

  private static func isPipeline(_ path: String) -> Bool {
    guard let text = try? TextFile.read("the pipeline", path),
      case .mapping(let entries) = YAMLDocument(text).root?.content
    else { return false }
    return Set(entries.map(\.key)).isSuperset(of: ["pipeline", "stages"])
  }

  static func isFile(_ path: String) -> Bool {
    (try? FileStamp(following: path))?.isFolder == false
  }

  // SwiftPM puts programs into .build/TRIPLE/CONFIGURATION.
  static func checkout(of program: String) -> String? {
    let parts = program.pathNames
    return (1...4).lazy.map { "/" + parts.dropLast($0).joined(separator: "/") }
      .first { isFile($0 + "/Package.swift") }
  }
}
