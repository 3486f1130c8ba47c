/// What a shell offers when the user asks it to complete a value.
public enum CompletionHint: Hashable, Sendable {
  /// Nothing.
  case none
  /// Folders, and files whose name ends in one of these, without the dot and whatever their case;
  /// any file if there are none.
  case files(extensions: [String] = [])
  /// Folders.
  case folder
  /// These words, none of which holds a space.
  case choices([String])
}
