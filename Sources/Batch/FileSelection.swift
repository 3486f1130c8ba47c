/// Which files of a folder are recordings for a batch.
public struct FileSelection: Sendable {
  /// The extensions of sound, and of films whose sound can be taken; in lower case.
  public static let extensions: Set<String> = [
    "aac", "ac3", "aif", "aifc", "aiff", "alac", "amr", "ape", "au", "caf", "dff", "dsf", "flac",
    "m4a", "m4b", "mka", "mkv", "mov", "mp2", "mp3", "mp4", "mpc", "oga", "ogg", "opus", "ra",
    "snd", "spx", "tta", "voc", "w64", "wav", "wave", "webm", "wma", "wv",
  ]

  private let included: [Glob]
  private let excluded: [Glob]

  /// Takes files with one of the extensions and those that match one of `included`, but none that
  /// match one of `excluded`.
  public init(including included: [Glob] = [], excluding excluded: [Glob] = []) {
    self.included = included
    self.excluded = excluded
  }

  /// Whether the file at a path below the folder is taken.
  func takes(_ path: String) -> Bool {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
    let dot = name.lastIndex(of: UInt8(ascii: "."))
    let isSound = dot.map { dot in
      Self.extensions.contains(String(Substring(name[name.index(after: dot)...])).lowercased())
    }
    return (isSound == true || included.contains { $0.matches(path) }) && !excludes(path)
  }

  /// Whether a file or a whole folder is left out.
  func excludes(_ path: String) -> Bool { excluded.contains { $0.matches(path) } }
}
