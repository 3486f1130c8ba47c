import PipelineModel
import Platform

/// What a recording's sidecar asks of the pipeline: `"spool": {"set": {"loudness": "-18 LUFS"}}`
/// sets variables that the pipeline marks `overridable: true`, for this recording alone, wherever
/// it comes from.
enum SidecarOverrides {
  /// The member of a sidecar.
  static let field = "spool"

  /// The values by the names of their variables.
  /// - Parameters:
  ///   - spool: the sidecar's field `spool`; nil if it has none.
  ///   - sidecar: the sidecar's name in errors.
  ///   - variables: the pipeline's.
  /// - Throws: every problem, with what it may set.
  static func read(
    _ spool: DocumentNode?, of sidecar: String, variables: [VariableDefinition]
  ) throws(SpoolError) -> [String: DocumentNode] {
    guard let spool, !spool.isNull else { return [:] }
    guard case .mapping(let parts) = spool.content else {
      throw failure(sidecar, "\"spool\" is \(kind(of: spool)), not an object")
    }
    if let unknown = parts.map(\.key).sorted().first(where: { $0 != "set" }) {
      throw failure(sidecar, "\"spool\" has no \"\(unknown)\", only \"set\"")
    }
    guard let set = parts.first(where: { $0.key == "set" })?.value, !set.isNull else { return [:] }
    guard case .mapping(let values) = set.content else {
      throw failure(sidecar, "\"set\" is \(kind(of: set)), not an object")
    }
    let allowed = variables.filter(\.isOverridable).map(\.name)
    let wrong = values.map(\.key).sorted().filter { !allowed.contains($0) }.map { name in
      if variables.contains(where: { $0.name == name }) {
        return "the variable \(name) is not marked overridable"
      }
      let near = Problem.nearest(to: name, in: allowed).map { ": did you mean \($0)?" } ?? ""
      return "the pipeline has no variable \"\(name)\"" + near
    }
    guard wrong.isEmpty else {
      throw failure(
        sidecar, wrong.joined(separator: "; "),
        advice: allowed.isEmpty
          ? "take it out, or mark variables of the pipeline with overridable: true"
          : "it may set \(allowed.joined(separator: ", "))")
    }
    // Null sets nothing.
    return Dictionary(
      values.filter { !$0.value.isNull }.map { ($0.key, $0.value) },
      uniquingKeysWith: { _, last in last })
  }

  /// The pipeline rejects the sidecar's values.
  static func refusal(_ error: PlanError) -> SpoolError {
    let problems = error.problems.map { problem in
      problem.message + (problem.allowed.map { " (allowed: \($0))" } ?? "")
    }
    return SpoolError(
      "the sidecar gives the pipeline a wrong value", reason: problems.joined(separator: "; "),
      advice: "mend the values under \"spool\": {\"set\": …} in the sidecar")
  }

  /// In JSON's terms.
  private static func kind(of node: DocumentNode) -> String {
    switch node.content {
    case .sequence: "a list"
    case .mapping: "an object"
    case .scalar(let text, isQuoted: true), .typed(let text): "\"\(text.prefix(40))\""
    case .scalar(let text, isQuoted: false): text
    }
  }

  private static func failure(
    _ sidecar: String, _ reason: String, advice: String = "mend the sidecar, or take it away"
  ) -> SpoolError {
    SpoolError("cannot use the sidecar \(sidecar)", reason: reason, advice: advice)
  }
}
