import PipelineFile
import PipelineModel

/// The files that steps of a run name in their parameters, as the run's pipeline has them: keys know
/// only what is in them.
struct NamedFiles {
  private let steps: [StepDefinition]

  /// - Parameter kinds: the stage kinds that there are.
  init(of run: RunRecord, kinds: [String]) {
    let text = run.request?.pipelineText ?? ""
    steps = ParsedPipeline(text, knownKinds: kinds).definition?.steps ?? []
  }

  /// Paths by what keys call the files: `file script`. O(steps).
  func paths(of step: StepRecord) -> [String: String] {
    guard case .mapping(let entries)? = definition(of: step)?.parameters.content else { return [:] }
    var paths: [String: String] = [:]
    for entry in entries {
      switch entry.value.content {
      case .scalar(let text, _): paths["file \(entry.key)"] = text
      case .mapping(let files) where entry.key == "files":
        for file in files {
          if case .scalar(let text, _) = file.value.content { paths["file \(file.key)"] = text }
        }
      default: break
      }
    }
    return paths
  }

  /// The step that is called so, or the nth of those without a name: `command-2`.
  private func definition(of step: StepRecord) -> StepDefinition? {
    if let named = steps.first(where: { $0.id?.value == step.id.name }) { return named }
    let alike = steps.filter { $0.id == nil && $0.kind.value == step.kind }
    let number = step.id.name.split(separator: "-").last.flatMap { Int($0) } ?? 1
    return alike.indices.contains(number - 1) ? alike[number - 1] : alike.first
  }
}
