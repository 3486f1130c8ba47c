import Foundation
import TestSupport

/// A package of Python's that reads transcripts, to say whether what is written is what others take
/// it for.
struct PythonReader {
  private let python: Program

  /// Nil where Python or the package is not installed. `SPOOL_TEST_PYTHON` names another Python.
  init?(package: String) {
    let named = ProcessInfo.processInfo.environment["SPOOL_TEST_PYTHON"].map(Program.init(path:))
    guard let python = named ?? Program(named: "python3"),
      (try? python.run(["-c", "import \(package)"]))?.exitCode == 0
    else { return nil }
    self.python = python
  }

  /// What a script prints as JSON about a file with this text.
  func answer<Answer: Decodable>(_ script: String, about text: String, name: String) throws
    -> Answer
  {
    let scratch = try ScratchFolder()
    let path = try scratch.write(text, to: name)
    let result = try python.run(["-c", script, path])
    guard result.exitCode == 0 else { throw Refusal(description: result.errorOutput) }
    return try JSONDecoder().decode(Answer.self, from: result.output)
  }

  private struct Refusal: Error, CustomStringConvertible {
    let description: String
  }
}
