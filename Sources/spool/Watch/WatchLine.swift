import Arguments
import PipelineModel

/// A watch's own command line as it can be typed anywhere else: with absolute paths, and with the
/// folders that went without saying because of where it was typed.
struct WatchLine {
  private var words = ["spool", "watch"]

  /// - Parameters:
  ///   - places: the pipeline and the inbox, as they were typed; none with a settings' file.
  ///   - usual: the folders that hold where an option was not given, by its name.
  ///   - passing: the flags that speak of one start only.
  ///   - absolute: makes a path that was typed absolute.
  init(
    _ arguments: ParsedArguments, places: [String], usual: [String: String], passing: Set<String>,
    absolute: (String) -> String
  ) {
    words += places.map(absolute)
    for option in arguments.command.options where !passing.contains(option.name) {
      var texts = arguments.texts(of: option)
      if texts.isEmpty, let folder = usual[option.name] { texts = [folder] }
      for text in texts {
        words.append("--" + option.name)
        switch (option.arity, option.completion) {
        case (.flag, _): break
        case (_, .files), (_, .folder): words.append(absolute(text))
        default: words.append(text)
        }
      }
    }
  }

  /// One line for a shell.
  var text: String { ShellWords.line(words) }
}
