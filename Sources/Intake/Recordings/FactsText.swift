internal import PipelineModel
internal import Platform
internal import Store

/// What is known of a recording, as canonical JSON for the store.
enum FactsText {
  /// The fields of a sidecar about devices.
  static let deviceFields = ["watchModel", "watchOSVersion", "phoneModel", "iOSVersion"]

  /// The facts with their sources, the sidecar's other fields, and its problems; nil if nothing is
  /// known.
  /// - Parameters:
  ///   - transcript: the name of the transcript's file.
  ///   - cut: the quarantined recordings whose bytes this one begins with.
  static func json(
    _ facts: RecordingFacts, sidecar: Sidecar?, transcript: String? = nil, doubt: String? = nil,
    completing cut: [RecordingKey] = []
  ) -> String? {
    var fields: [String: JSONValue] = [:]
    fields["noteId"] = sourced(facts.noteID) { .text($0.written) }
    fields["createdAt"] = sourced(facts.createdAt) { .text($0.description) }
    fields["durationMs"] = sourced(facts.milliseconds) { .number("\($0)") }
    fields["title"] = sourced(facts.title) { .text($0) }
    fields["recorder"] = sourced(facts.recorder) { .text($0) }
    if let sidecar { add(sidecar, to: &fields) }
    if let transcript { fields["transcript"] = .text(transcript) }
    if let doubt { fields["doubt"] = .text(doubt) }
    if !cut.isEmpty { fields["completes"] = .list(cut.map { .text($0.name) }) }
    return fields.isEmpty ? nil : JSONValue.object(fields).compact
  }

  /// Stored facts, and those of a sidecar that came later: they take precedence.
  /// - Parameter isReplacing: whether what earlier ones asked of the pipeline is void.
  static func json(_ kept: String?, adding sidecar: Sidecar, isReplacing: Bool) -> String? {
    var fields = fields(of: kept)
    if isReplacing {
      let unknown = unknown(in: fields).filter { $0.key != SidecarOverrides.field }
      fields["unknown"] = unknown.isEmpty ? nil : .object(unknown)
    }
    fields["noteId"] = own(sidecar.noteID?.written) ?? fields["noteId"]
    fields["createdAt"] = own(sidecar.createdAt?.description) ?? fields["createdAt"]
    fields["title"] = own(sidecar.title) ?? fields["title"]
    fields["recorder"] = own(sidecar.watchModel ?? sidecar.phoneModel) ?? fields["recorder"]
    if let milliseconds = sidecar.milliseconds {
      if let held = fields["durationMs"]?["value"]?.integer,
        let shortness = StabilityTracker.shortness(of: .known(held), milliseconds)
      {
        fields["doubt"] = .text(shortness)
      }
      fields["durationMs"] = .object([
        "value": .number("\(milliseconds)"),
        "source": .text(RecordingFacts.Source.sidecar.rawValue),
      ])
    }
    add(sidecar, to: &fields)
    return fields.isEmpty ? nil : JSONValue.object(fields).compact
  }

  /// Stored facts, and the cut-off versions that a copy of the recording completes.
  static func json(_ kept: String?, completing cut: [RecordingKey]) -> String {
    var fields = fields(of: kept)
    let known = fields["completes"]?.list ?? []
    let new = cut.map { JSONValue.text($0.name) }.filter { !known.contains($0) }
    fields["completes"] = .list(known + new)
    return JSONValue.object(fields).compact
  }

  /// Stored facts, and the name of a transcript that came later.
  static func json(_ kept: String?, addingTranscript name: String) -> String {
    var fields = fields(of: kept)
    fields["transcript"] = .text(name)
    return JSONValue.object(fields).compact
  }

  /// Stored facts, and those of a copy's sidecar that were unknown; what contradicts is recorded
  /// beside them.
  static func json(
    _ kept: String?, title: String?, tags: [String], filledBy copy: Sidecar
  ) -> (text: String?, isChanged: Bool) {
    let before = fields(of: kept)
    var fields = before
    var differences = before["differences"]?.list ?? []
    func differ(_ name: String, _ own: String, _ other: String) {
      let words = JSONValue.text("\(name): \(own), and \(other) by a copy's sidecar")
      if own != other, !differences.contains(words) { differences.append(words) }
    }
    func fill(_ name: String, _ said: String?) {
      guard let said else { return }
      guard let known = before[name]?["value"]?.text,
        before[name]?["source"] == .text(RecordingFacts.Source.sidecar.rawValue)
      else { return fields[name] = own(said) }
      differ(name, known, said)
    }
    fill("createdAt", copy.createdAt?.description)
    fill("recorder", copy.watchModel ?? copy.phoneModel)
    if let title, let said = copy.title {
      differ("title", title, said)
    } else {
      fill("title", copy.title)
    }
    if !tags.isEmpty, !copy.tags.isEmpty {
      differ("tags", tags.joined(separator: " "), copy.tags.joined(separator: " "))
    } else if !copy.tags.isEmpty {
      fields["tags"] = .list(copy.tags.map { .text($0) })
    }
    let said = [copy.watchModel, copy.watchOSVersion, copy.phoneModel, copy.iOSVersion]
    for case (let name, let text?) in zip(deviceFields, said) where fields[name] == nil {
      fields[name] = .text(text)
    }
    if !differences.isEmpty { fields["differences"] = .list(differences) }
    if copy.isSensitive { markSensitive(&fields) }
    return (
      fields.isEmpty ? nil : JSONValue.object(fields).compact, fields != before
    )
  }

  /// Stored facts of a recording that is sensitive by a sidecar which is not used otherwise.
  static func json(addingSensitivityTo kept: String?) -> String {
    var fields = fields(of: kept)
    markSensitive(&fields)
    return JSONValue.object(fields).compact
  }

  private static func markSensitive(_ fields: inout [String: JSONValue]) {
    var unknown = unknown(in: fields)
    if Sidecar.isSensitive(unknown) { return }
    unknown[Sidecar.sensitive] = .boolean(true)
    fields["unknown"] = .object(unknown)
  }

  /// Stored facts, and what the recording's file says that is not used, one sentence each.
  static func json(_ kept: String?, addingDifferences sentences: [String]) -> String {
    var fields = fields(of: kept)
    let told = fields["differences"]?.list ?? []
    let new = sentences.map { JSONValue.text($0) }.filter { !told.contains($0) }
    fields["differences"] = .list(told + new)
    return JSONValue.object(fields).compact
  }

  /// Whether a sidecar may describe this sound: if both state a length, they agree.
  static func mayBe(_ sidecar: Sidecar, of recording: Recording) -> Bool {
    guard let said = sidecar.milliseconds, let held = StoredFacts(of: recording).milliseconds else {
      return true
    }
    return abs(said - held) <= max(2000, held / 20)
  }

  /// Whether the stored facts come from an unreadable sidecar: a readable one may replace it.
  static func hasUnreadableSidecar(_ kept: String?) -> Bool {
    fields(of: kept)["isSidecarUnreadable"] == .boolean(true)
  }

  /// The title in stored facts; nil if there is none.
  static func title(in kept: String?) -> String? {
    fields(of: kept)["title"]?["value"]?.text
  }

  static func fields(of kept: String?) -> [String: JSONValue] {
    guard let kept,
      let read = try? JSONReader.value(of: Array(kept.utf8), depthLimit: Sidecar.depthLimit + 2),
      case .object(let fields) = read.value
    else { return [:] }
    return fields
  }

  /// The fields of sidecars that Spool does not use itself.
  private static func unknown(in fields: [String: JSONValue]) -> [String: JSONValue] {
    if case .object(let known)? = fields["unknown"] { known } else { [:] }
  }

  private static func own(_ text: String?) -> JSONValue? {
    text.map {
      .object([
        "value": .text($0), "source": .text(RecordingFacts.Source.sidecar.rawValue),
      ])
    }
  }

  /// Adds a sidecar's own fields and its problems.
  private static func add(_ sidecar: Sidecar, to fields: inout [String: JSONValue]) {
    let said = [
      sidecar.watchModel, sidecar.watchOSVersion, sidecar.phoneModel, sidecar.iOSVersion,
    ]
    for case (let name, let text?) in zip(deviceFields, said) { fields[name] = .text(text) }
    if !sidecar.tags.isEmpty { fields["tags"] = .list(sidecar.tags.map { .text($0) }) }
    if !sidecar.unknown.isEmpty {
      fields["unknown"] = .object(unknown(in: fields).merging(sidecar.unknown) { $1 })
    }
    fields["problems"] =
      sidecar.problems.isEmpty ? nil : .list(sidecar.problems.map { .text($0.description) })
    fields["isSidecarUnreadable"] = sidecar.isReadable ? nil : .boolean(true)
  }

  private static func sourced<Value>(
    _ fact: RecordingFacts.Sourced<Value>?, _ json: (Value) -> JSONValue
  ) -> JSONValue? {
    fact.map { .object(["value": json($0.value), "source": .text($0.source.rawValue)]) }
  }
}
