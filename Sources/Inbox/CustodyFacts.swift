internal import PipelineModel

/// What is known of a recording, as canonical JSON for the store.
enum CustodyFacts {
  /// The facts with their sources, all that the sidecar says beside them, and what is wrong with it;
  /// nil where nothing is known.
  static func json(_ facts: RecordingFacts, sidecar: Sidecar?) -> String? {
    var fields: [String: JSONValue] = [:]
    fields["noteId"] = sourced(facts.noteID) { .text($0.text) }
    fields["createdAt"] = sourced(facts.createdAt) { .text($0.description) }
    fields["durationMs"] = sourced(facts.milliseconds) { .number("\($0)") }
    fields["title"] = sourced(facts.title) { .text($0) }
    fields["recorder"] = sourced(facts.recorder) { .text($0) }
    if let sidecar {
      let said: [(String, String?)] = [
        ("watchModel", sidecar.watchModel), ("watchOSVersion", sidecar.watchOSVersion),
        ("phoneModel", sidecar.phoneModel), ("iOSVersion", sidecar.iOSVersion),
      ]
      for case (let name, let text?) in said { fields[name] = .text(text) }
      if !sidecar.tags.isEmpty { fields["tags"] = .list(sidecar.tags.map { .text($0) }) }
      if !sidecar.unknown.isEmpty { fields["unknown"] = .object(sidecar.unknown) }
      if !sidecar.problems.isEmpty {
        fields["problems"] = .list(sidecar.problems.map { .text($0.description) })
      }
    }
    return fields.isEmpty ? nil : JSONValue.object(fields).canonical
  }

  private static func sourced<Value>(
    _ fact: RecordingFacts.Sourced<Value>?, _ json: (Value) -> JSONValue
  ) -> JSONValue? {
    fact.map { .object(["value": json($0.value), "source": .text($0.source.rawValue)]) }
  }
}
