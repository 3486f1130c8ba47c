import CTexts
import FoundationEssentials
import Glibc
import PipelineModel
package import Platform

/// A template for a new plugin: it runs unchanged and marks where to edit.
package struct PluginScaffold {
  private let name: String
  private let language: Language

  /// The language of a new plugin.
  package enum Language: String, CaseIterable, Sendable {
    /// A sound stage in plain Python.
    case python
    case swift
    case c
    /// A file stage as a shell script.
    case shell

    /// The program that builds or runs it.
    package var tool: String {
      switch self {
      case .python: "python3"
      case .swift: "swiftc"
      case .c: "cc"
      case .shell: "sh"
      }
    }

    /// Whether it must be built before it runs.
    package var isBuilt: Bool { self == .swift || self == .c }
  }

  /// A plugin with this name, which is also its stage kind's.
  /// - Parameter taken: existing kinds.
  /// - Throws: If the name is not valid.
  package init(
    named name: String, in language: Language, taken: [String]
  ) throws(SpoolError) {
    let isWord =
      name.first.map { $0.isASCII && $0.isLowercase } == true && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45
      }
    guard isWord else {
      throw SpoolError(
        "a plugin cannot be called \"\(name)\"",
        reason: "pipelines write its name as a word",
        advice: "small letters, digits and dashes, beginning with a letter; at most 64")
    }
    guard !taken.contains(name) else {
      throw SpoolError(
        "a plugin cannot be called \(name)", reason: "there is a stage kind of that name already",
        advice: "choose another; \(command: .stages) \(name) shows what there is")
    }
    self.name = name
    self.language = language
  }

  /// Writes the plugin into a new folder.
  /// - Parameter parent: the folder to make it in; created if only its last part is missing.
  /// - Returns: the plugin's folder.
  /// - Throws: If the folder exists or cannot be written.
  package func write(into parent: String) throws(SpoolError) -> String {
    let folder = "\(parent)/\(name)"
    try make(parent) { (files) throws(SystemError) in try files.makeFolder(parent, mode: 0o777) }
    try make(folder) { (files) throws(SystemError) in
      try files.makeNewFolder(folder, mode: 0o777)
    }
    for file in files {
      let path = "\(folder)/\(file.name)"
      try make(path) { (files) throws(SystemError) in
        let mode: mode_t = file.name.hasSuffix(".sh") ? 0o777 : 0o666
        let opened = try files.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        try files.write(Array(file.text.utf8), to: opened)
      }
    }
    return folder
  }

  @discardableResult
  private func make<Result>(
    _ path: String, _ calls: (FileOperations) throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SystemError) { return try calls(.system) } catch {
      throw SpoolError(
        "make", path, error,
        advice: error.code == EEXIST
          ? "choose another name, or another folder with \(option: .dir)"
          : "check the folder above it")
    }
  }

  /// The files; the scripts of the shell are programs.
  private var files: [(name: String, text: String)] {
    let endings: [Language: String] = [.python: "py", .shell: "sh"]
    let source = "\(name).\(endings[language] ?? language.rawValue)"
    let run = language == .python ? "python3, ./\(source)" : "./\(language.isBuilt ? name : source)"
    func filled(_ template: UnsafePointer<CChar>) -> String {
      unsafe String(cString: template).replacing("@NAME@", with: name)
        .replacing("@RUN@", with: "[\(run)]").replacing("@PROGRAM@", with: source)
        .replacing(
          "@BUILD@", with: language.isBuilt ? "    ./build.sh                  build it\n" : "")
    }
    let own =
      switch language {
      case .python: unsafe [(source, filled(text_python))]
      case .swift: unsafe [(source, filled(text_swift)), ("build.sh", filled(text_swift_build))]
      case .c: unsafe [(source, filled(text_c)), ("build.sh", filled(text_c_build))]
      case .shell: unsafe [(source, filled(text_shell))]
      }
    let isSound = language != .shell
    return unsafe [("plugin.yaml", filled(isSound ? text_sound_manifest : text_file_manifest))]
      + own + [
        ("try.yaml", filled(isSound ? text_sound_pipeline : text_file_pipeline)),
        ("test.sh", filled(text_test)), ("README.md", filled(text_readme)),
      ]
  }
}
