import CTexts
import Platform

extension HelpGuide {
  /// The guides of `spool help`, the one for newcomers first.
  static var all: [HelpGuide] {
    unsafe [
      HelpGuide(
        "first-steps", "From the first recording to a watched inbox.",
        text: String(cString: text_guide_first_steps)),
      HelpGuide(
        "units", "How values, times, ages and sizes are written.",
        text: String(cString: text_guide_units)),
      HelpGuide(
        "exit-codes", "What exit codes mean.", text: String(cString: text_guide_exit_codes)),
      HelpGuide(
        "files", "Where the store, keys, plugins and exports lie.",
        text: String(cString: text_guide_files)),
      HelpGuide(
        "json", "What --json prints, and what scripts can build on.",
        text: String(cString: text_guide_json)),
      HelpGuide(
        "environment", "The environment variables that are read.",
        text: String(cString: text_guide_environment)),
    ]
  }
}
