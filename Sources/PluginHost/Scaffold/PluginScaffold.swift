import FoundationEssentials
import Glibc
public import PipelineModel

/// A plugin to start from: it works as it is, and says where to change it.
public struct PluginScaffold {
  private let name: String
  private let language: ScaffoldLanguage

  /// One of its files.
  struct File {
    let name: String
    let text: String
    var isProgram = false
  }

  /// A plugin of this name, which is also that of its stage kind.
  /// - Parameter taken: kinds that there are already.
  /// - Throws: where it cannot be called so.
  public init(
    named name: String, in language: ScaffoldLanguage, taken: [String]
  ) throws(StageError) {
    let isWord =
      name.first.map { $0.isASCII && $0.isLowercase } == true && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45
      }
    guard isWord else {
      throw StageError(
        "a plugin cannot be called \"\(name)\"",
        reason: "pipelines write its name as a word",
        advice: "small letters, digits and dashes, beginning with a letter; at most 64")
    }
    guard !taken.contains(name) else {
      throw StageError(
        "a plugin cannot be called \(name)", reason: "there is a stage kind of that name already",
        advice: "choose another; spool stages \(name) shows what there is")
    }
    self.name = name
    self.language = language
  }

  /// Writes it into a folder of its own.
  /// - Parameter parent: the folder in which that is made; made as well, if those above it are there.
  /// - Returns: the plugin's folder.
  /// - Throws: where that is there already, or cannot be written.
  public func write(into parent: String) throws(StageError) -> String {
    let folder = "\(parent)/\(name)"
    if unsafe mkdir(parent, 0o777) != 0, errno != EEXIST { throw trouble(parent) }
    guard unsafe mkdir(folder, 0o777) == 0 else { throw trouble(folder) }
    for file in files {
      let path = "\(folder)/\(file.name)"
      let mode: mode_t = file.isProgram ? 0o777 : 0o666
      let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      guard descriptor >= 0 else { throw trouble(path) }
      defer { close(descriptor) }
      let bytes = Array(file.text.utf8)
      guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
        throw trouble(path)
      }
    }
    return folder
  }

  private func trouble(_ path: String) -> StageError {
    let code = errno
    return StageError(
      "cannot make \(path)", reason: unsafe String(cString: strerror(code)),
      advice: code == EEXIST
        ? "choose another name, or another folder with --dir" : "check the folder above it",
      cause: .environment)
  }

  var files: [File] {
    let own: [File] =
      switch language {
      case .python: [File(name: "\(name).py", text: filled(Self.python))]
      case .swift:
        [
          File(name: "\(name).swift", text: filled(Self.swift)),
          File(name: "build.sh", text: filled(Self.swiftBuild), isProgram: true),
        ]
      case .c:
        [
          File(name: "\(name).c", text: filled(Self.c)),
          File(name: "build.sh", text: filled(Self.cBuild), isProgram: true),
        ]
      case .shell: [File(name: "\(name).sh", text: filled(Self.shell), isProgram: true)]
      }
    let isSound = language != .shell
    return [
      File(name: "plugin.yaml", text: filled(isSound ? Self.soundManifest : Self.fileManifest))
    ] + own + [
      File(name: "try.yaml", text: filled(isSound ? Self.soundPipeline : Self.filePipeline)),
      File(name: "test.sh", text: filled(Self.test), isProgram: true),
      File(name: "README.md", text: filled(Self.readme)),
    ]
  }

  /// The text with what depends on the name and the language.
  private func filled(_ text: String) -> String {
    let run =
      switch language {
      case .python: "[python3, ./\(name).py]"
      case .swift, .c: "[./\(name)]"
      case .shell: "[./\(name).sh]"
      }
    let program =
      switch language {
      case .python: "\(name).py"
      case .swift: "\(name).swift"
      case .c: "\(name).c"
      case .shell: "\(name).sh"
      }
    let build = language.isBuilt ? "    ./build.sh                  build it\n" : ""
    return text.replacing("@NAME@", with: name).replacing("@RUN@", with: run)
      .replacing("@PROGRAM@", with: program).replacing("@BUILD@", with: build)
  }
}
