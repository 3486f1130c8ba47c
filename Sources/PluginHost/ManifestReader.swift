import PipelineModel

/// Makes a manifest of what was written, and finds what contradicts itself.
struct ManifestReader {
  let root: DocumentNode
  private(set) var problems: [Problem] = []

  init(root: DocumentNode) { self.root = root }

  mutating func manifest(from draft: ManifestDraft) -> PluginManifest {
    let top = ManifestPlace(root)
    checkName(draft.plugin, "the plugin's name", top["plugin"])
    if draft.protocol != PluginManifest.spokenProtocol {
      report(
        top["protocol"], "this Spool does not speak protocol \(draft.protocol)",
        allowed: "\(PluginManifest.spokenProtocol)")
    }
    if (draft.run == nil) == (draft.library == nil) {
      report(
        top[draft.library == nil ? "plugin" : "library"],
        "a plugin has either a program or a library", allowed: "run or library")
    }
    checkPaths(draft, top)
    let kinds = draft.stages.enumerated().map { index, kind in
      self.kind(kind, at: top["stages"][index])
    }
    for (index, kind) in kinds.enumerated() where draft.library != nil && kind.work == .file {
      report(
        top["stages"][index]["type"], "a library cannot read and write files in Spool's place",
        allowed: "sound; a file stage needs a program")
    }
    for (index, kind) in kinds.enumerated()
    where kinds[..<index].contains(where: { $0.kind == kind.kind }) {
      report(top["stages"][index]["kind"], "the kind \"\(kind.kind)\" is offered twice")
    }
    return PluginManifest(
      name: draft.plugin, version: draft.version, summary: draft.summary,
      run: draft.run ?? [], library: draft.library, needs: draft.needs ?? [],
      limits: PluginManifest.Limits(
        memory: draft.limits.memory, time: draft.limits.time, network: draft.limits.network,
        reads: draft.limits.reads ?? []),
      isDeterministic: draft.deterministic, kinds: kinds)
  }

  /// What runs lies in the plugin's folder, where it is part of every key, or on `PATH`.
  private mutating func checkPaths(_ draft: ManifestDraft, _ top: ManifestPlace) {
    if let library = draft.library, Plugin.leadsOut(library) {
      report(
        top["library"], "\"\(library)\" leads out of the plugin's folder",
        allowed: "a library in it, such as ./\(draft.plugin).so")
    }
    for (index, word) in (draft.run ?? []).enumerated() {
      guard index == 0 ? word.contains("/") : word.hasPrefix("./"), Plugin.leadsOut(word) else {
        continue
      }
      report(
        top["run"][index], "\"\(word)\" leads out of the plugin's folder",
        allowed: index == 0
          ? "a program in it, such as ./program, or the name of one on PATH" : "a file in it")
    }
  }

  private mutating func kind(_ draft: ManifestDraft.Kind, at place: ManifestPlace)
    -> PluginManifest.Kind
  {
    checkName(draft.kind, "a kind", place["kind"])
    let (inputs, outputs) = (draft.inputs ?? [], draft.outputs ?? [])
    switch draft.type {
    case .sound where !inputs.isEmpty || !outputs.isEmpty:
      report(
        inputs.isEmpty ? place["outputs"] : place["inputs"],
        "a sound stage has one input and one output, which are not declared")
    case .file where inputs.isEmpty || outputs.isEmpty:
      report(place["kind"], "the file stage \"\(draft.kind)\" needs inputs and outputs")
    default: break
    }
    checkPorts(inputs, at: place["inputs"])
    checkPorts(outputs, at: place["outputs"])
    for (index, port) in outputs.enumerated() {
      if port.fileName != nil, port.carries != .file {
        report(place["outputs"][index]["file-name"], "only a file has a file-name")
      }
    }
    let parameters = (draft.parameters ?? []).enumerated().compactMap { index, parameter in
      self.parameter(parameter, at: place["parameters"][index])
    }
    for (index, parameter) in parameters.enumerated()
    where parameters[..<index].contains(where: { $0.name == parameter.name }) {
      report(place["parameters"][index]["name"], "\"\(parameter.name)\" is declared twice")
    }
    return PluginManifest.Kind(
      kind: draft.kind, work: draft.type, revision: draft.revision, summary: draft.summary,
      discussion: draft.discussion, inputs: inputs, outputs: outputs, parameters: parameters)
  }

  private mutating func checkPorts(_ ports: [PluginManifest.FilePort], at place: ManifestPlace) {
    for (index, port) in ports.enumerated() {
      checkName(port.name, "a port", place[index]["name"])
      if ports[..<index].contains(where: { $0.name == port.name }) {
        report(place[index]["name"], "the port \"\(port.name)\" is declared twice")
      }
    }
  }

  private mutating func parameter(
    _ draft: ManifestDraft.Parameter, at place: ManifestPlace
  ) -> ParameterDescriptor? {
    checkName(draft.name, "a parameter", place["name"])
    guard let type = type(of: draft, at: place) else { return nil }
    let presence: ParameterDescriptor.Presence =
      draft.required ? .required : draft.default.map { .defaulted($0) } ?? .optional
    // Of a file the contents count, which the stage adds to the key, and not where it lies.
    let descriptor = ParameterDescriptor(
      draft.name, type, presence, draft.help, isInKey: type != .path)
    if draft.required, draft.default != nil {
      report(place["default"], "what is required has no default")
    } else if draft.default != nil {
      var resolver = ParameterResolver(owner: "the default")
      _ = resolver.resolve(
        DocumentNode(.mapping([]), at: place["default"].location), as: [descriptor])
      problems += resolver.problems
    }
    return descriptor
  }

  /// Exactly one form is wanted; none means a number.
  private mutating func type(
    of draft: ManifestDraft.Parameter, at place: ManifestPlace
  ) -> ParameterType? {
    let forms = [draft.choices != nil, draft.flag, draft.text != nil, draft.path]
    guard forms.count(where: { $0 }) <= 1, !forms.contains(true) || draft.range == nil else {
      report(
        place["name"], "\"\(draft.name)\" has two forms",
        allowed: "range, choices, flag, text or path")
      return nil
    }
    if let choices = draft.choices { return .choice(choices) }
    if draft.flag { return .flag }
    if let length = draft.text { return .text(maximumLength: length) }
    if draft.path { return .path }
    guard let range = draft.range, range.count == 2, range[0] <= range[1] else {
      report(
        place["name"], "the number \"\(draft.name)\" has no range",
        allowed: "range: [least, most], in its unit")
      return nil
    }
    if draft.whole {
      return .integer(Int(range[0])...Int(range[1]))
    }
    guard let unit = Unit(named: draft.unit) else {
      report(
        place["unit"], "there is no unit \"\(draft.unit)\"",
        allowed: Unit.declarable.map(\.symbol).filter { !$0.isEmpty }.joined(separator: ", "))
      return nil
    }
    return .number(unit, range[0]...range[1])
  }

  private mutating func checkName(_ name: String, _ what: String, _ place: ManifestPlace) {
    let isGood =
      name.first?.isLetter == true && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
      }
    if !isGood {
      report(
        place, "\(what) cannot be \"\(name)\"",
        allowed: "small letters, digits and dashes, beginning with a letter")
    }
  }

  private mutating func report(_ place: ManifestPlace, _ message: String, allowed: String? = nil) {
    problems.append(Problem(at: place.location, message, allowed: allowed))
  }
}
