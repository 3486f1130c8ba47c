import FoundationEssentials
import PipelineFile
import PipelineModel

/// Reads the session that a mixer stands as.
enum SessionFile {
  /// The session at `path`; its first problem is the error.
  static func read(_ path: String) throws(StageError) -> SessionDefinition {
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw StageError(
        "cannot read the session \(path)", reason: "the file cannot be opened",
        cause: .environment)
    }
    let parsed = ParsedSession([UInt8](data))
    if let problem = parsed.problems.first {
      let place = problem.location.map { ":\($0.line):\($0.column)" } ?? ""
      throw StageError(
        "cannot follow the session \(path)\(place)", reason: problem.message,
        advice: problem.allowed.map { "allowed: \($0)" })
    }
    return parsed.definition
  }
}
