/// What a shell offers to complete a value.
package enum CompletionHint: Hashable, Sendable {
  case none
  /// Folders, and files with one of these extensions in any case; any file if there are none.
  case files(extensions: [String] = [])
  case folder
  /// These words, without spaces.
  case choices([String])
}
