/// What a shell offers to complete a value.
package enum CompletionHint: Hashable, Sendable {
  case none
  /// Folders, and files with one of these extensions in any case; any file if there are none.
  case files(extensions: [String] = [])
  case folder
  /// These words, without spaces.
  case choices([String])
  /// What `completion names KIND` prints; with the files of ``files(extensions:)`` if `extensions` is
  /// not nil.
  case names(String, orFiles: [String]? = nil)

  /// Whether the value is a path or a name, which an empty text cannot be.
  var isName: Bool {
    switch self {
    case .files, .folder, .names: true
    case .none, .choices: false
    }
  }

  /// Whether the value may be the path of a file or a folder.
  package var isPath: Bool {
    switch self {
    case .files, .folder, .names(_, orFiles: _?): true
    case .none, .choices, .names: false
    }
  }

  /// How the program is asked for names.
  static let nameCommand = "completion names"
}
