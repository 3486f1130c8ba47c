import CTexts
import Platform

extension HelpGuide {
  /// The guides of `spool help`, the one for newcomers first.
  static var all: [HelpGuide] {
    unsafe [
      guide("first-steps", "From the first recording to a watched inbox.", text_guide_first_steps),
      guide("units", "How values, times, ages and sizes are written.", text_guide_units),
      guide("exit-codes", "What exit codes mean.", text_guide_exit_codes),
      guide("files", "Where the store, keys, plugins and exports lie.", text_guide_files),
      guide("json", "What --json prints, and what scripts can build on.", text_guide_json),
      guide(
        "environment", "The environment variables that are read.", text_guide_environment),
    ]
  }

  private static func guide(
    _ name: String, _ summary: String, _ text: UnsafePointer<CChar>
  ) -> HelpGuide {
    unsafe HelpGuide(name, summary, text: String(cString: text))
  }
}
