extension Plan {
  /// Steps whose exports would take the place of others of the same run.
  /// - Parameter locations: where the steps stand.
  func nameClashes(at locations: [StepID: SourceLocation]) -> [Problem] {
    var owners: [String: StepID] = [:]
    var problems: [Problem] = []
    for step in steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      let files = recordings(of: step.id).compactMap { inputs[$0] }
      let names = stage.conceivableFileNames(of: step.id, recordings: files)
      if let owner = names.lazy.compactMap({ owners[$0] }).first {
        problems.append(
          Problem(
            at: locations[step.id], "\(step.id) writes files of the same names as \(owner)",
            allowed: "another name for one of them, such as name: \"{stem}.\(step.id)\""))
      }
      for name in names where owners[name] == nil { owners[name] = step.id }
    }
    return problems
  }
}
