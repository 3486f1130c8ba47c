import PipelineModel
import Platform

/// Builds a manifest from a draft and reports contradictions.
struct ManifestReader {
  let root: DocumentNode
  private var findings: ManifestFindings

  init(root: DocumentNode, unclear: Set<SourceLocation>) {
    self.root = root
    findings = ManifestFindings(unclear: unclear)
  }

  var problems: [Problem] { findings.problems }

  mutating func manifest(from draft: ManifestDraft) -> PluginManifest {
    let top = ManifestPlace(root)
    checkTexts(root)
    findings.checkName(draft.plugin, "the plugin's name", top["plugin"])
    if draft.protocol != PluginManifest.spokenProtocol {
      findings.report(
        top["protocol"], "this Spool does not speak protocol \(draft.protocol)",
        allowed: "\(PluginManifest.spokenProtocol)")
    }
    if (draft.run == nil) == (draft.library == nil) {
      findings.report(
        top[draft.library == nil ? "plugin" : "library"],
        "a plugin has either a program or a library", allowed: "run or library",
        becauseOf: [top["run"], top["library"]].filter(\.isThere))
    }
    checkPaths(draft, top)
    checkNeeds(draft.needs, top["needs"])
    checkReads(draft.limits.reads ?? [], top["limits"]["reads"])
    let kinds = draft.stages.enumerated().map { index, kind in
      self.kind(kind, at: top["stages"][index])
    }
    for (index, kind) in kinds.enumerated() where draft.library != nil && kind.work == .file {
      findings.report(
        top["stages"][index]["type"], "a library cannot read and write files in Spool's place",
        allowed: "sound; a file stage needs a program")
    }
    for (index, kind) in kinds.enumerated()
    where kinds[..<index].contains(where: { $0.kind == kind.kind }) {
      findings.report(top["stages"][index]["kind"], "the kind \"\(kind.kind)\" is offered twice")
    }
    return PluginManifest(
      name: draft.plugin, version: draft.version, summary: draft.summary,
      run: draft.run ?? [], library: draft.library, needs: draft.needs.programs ?? [],
      packages: draft.needs.python ?? [],
      limits: PluginManifest.Limits(
        memory: draft.limits.memory, time: draft.limits.time, network: draft.limits.network,
        reads: draft.limits.reads ?? []),
      isDeterministic: draft.deterministic, kinds: kinds)
  }

  /// Rejects control characters in text for display, which could steer a terminal. Line breaks are
  /// valid.
  private mutating func checkTexts(_ node: DocumentNode) {
    switch node.content {
    case .scalar(let text, _), .typed(let text):
      let strange = text.unicodeScalars.first { $0.isSteering && $0 != "\n" && $0 != "\t" }
      guard let strange else { return }
      let number = String(strange.value, radix: 16, uppercase: true)
      findings.report(
        ManifestPlace(node),
        "this text has U+\(String(repeating: "0", count: 4 - min(4, number.count)))\(number) in it, "
          + "which shows nothing and may disturb a terminal",
        allowed: "letters, digits, signs and spaces")
    case .sequence(let nodes): for inner in nodes { checkTexts(inner) }
    case .mapping(let entries): for entry in entries { checkTexts(entry.value) }
    }
  }

  /// Requires that the program lies in the plugin's folder, which is part of every key, or on
  /// `PATH`.
  private mutating func checkPaths(_ draft: ManifestDraft, _ top: ManifestPlace) {
    if let library = draft.library, Plugin.leadsOut(library) {
      findings.report(
        top["library"], "\"\(library)\" leads out of the plugin's folder",
        allowed: "a library in it, such as ./\(draft.plugin).so")
    }
    for (index, word) in (draft.run ?? []).enumerated() {
      guard index == 0 ? word.contains("/") : word.hasPrefix("./"), Plugin.leadsOut(word) else {
        continue
      }
      findings.report(
        top["run"][index], "\"\(word)\" leads out of the plugin's folder",
        allowed: index == 0
          ? "a program in it, such as ./program, or the name of one on PATH" : "a file in it")
    }
  }

  /// Rejects a readable path as wide as `/`: a plugin run by root could read private files.
  private mutating func checkReads(_ paths: [String], _ place: ManifestPlace) {
    let broad: Set = ["", "boot", "dev", "etc", "home", "proc", "root", "run", "sys", "var"]
    for (index, path) in paths.enumerated() {
      let parts = path.pathNames.filter { $0 != "." }
      let isBroad = path.hasPrefix("/") && broad.contains(parts.joined(separator: "/"))
      guard isBroad || parts.contains("..") else { continue }
      findings.report(
        place[index], "\"\(path)\" opens more than a plugin needs",
        allowed: "the file or the folder that it reads")
    }
  }

  private mutating func checkNeeds(_ needs: ManifestDraft.Needs, _ place: ManifestPlace) {
    for (what, names) in [("programs", needs.programs ?? []), ("python", needs.python ?? [])] {
      for (index, name) in names.enumerated() {
        let isName = !name.isEmpty && !name.contains { $0.isWhitespace || $0 == "/" }
        guard place[what][index].isNumber || !isName else { continue }
        findings.report(
          place[what][index], "needs cannot name \"\(name)\"",
          allowed: what == "python"
            ? "a package's name, as it is imported" : "a program's name, as it is found on PATH")
      }
    }
  }

  private mutating func kind(_ draft: ManifestDraft.Kind, at place: ManifestPlace)
    -> PluginManifest.Kind
  {
    findings.checkName(draft.kind, "a kind", place["kind"])
    let (inputs, outputs) = (draft.inputs ?? [], draft.outputs ?? [])
    switch draft.type {
    case .sound where place["type"].isThere && (!inputs.isEmpty || !outputs.isEmpty):
      findings.report(
        inputs.isEmpty ? place["outputs"] : place["inputs"],
        "a sound stage has one input and one output, which are not declared",
        becauseOf: [place["type"]])
    case .file where inputs.isEmpty || outputs.isEmpty:
      findings.report(
        place["kind"], "the file stage \"\(draft.kind)\" needs inputs and outputs",
        becauseOf: [place["inputs"], place["outputs"]].filter(\.isThere))
    default: break
    }
    checkPorts(inputs, at: place["inputs"])
    checkPorts(outputs, at: place["outputs"])
    for (index, port) in outputs.enumerated() {
      if port.fileName != nil, port.carries != .file {
        findings.report(
          place["outputs"][index]["file-name"], "only a file has a file-name",
          becauseOf: [place["outputs"][index]["carries"]])
      }
    }
    let drafts = draft.parameters ?? []
    var parameters: [ParameterDescriptor] = []
    for (index, draft) in drafts.enumerated() {
      if let parameter = parameter(draft, at: place["parameters"][index]) {
        parameters.append(parameter)
      }
      if drafts[..<index].contains(where: { $0.name == draft.name }) {
        findings.report(
          place["parameters"][index]["name"], "the parameter \"\(draft.name)\" is declared twice")
      }
    }
    return PluginManifest.Kind(
      kind: draft.kind, work: draft.type, revision: draft.revision, summary: draft.summary,
      discussion: draft.discussion, inputs: inputs, outputs: outputs, parameters: parameters)
  }

  private mutating func checkPorts(_ ports: [PluginManifest.FilePort], at place: ManifestPlace) {
    for (index, port) in ports.enumerated() {
      findings.checkName(port.name, "a port", place[index]["name"])
      if ports[..<index].contains(where: { $0.name == port.name }) {
        findings.report(place[index]["name"], "the port \"\(port.name)\" is declared twice")
      }
    }
  }
}

/// Builds a parameter from its declaration and reports contradictions.
extension ManifestReader {
  /// The parameter; nil if its type is unclear.
  private mutating func parameter(
    _ draft: ManifestDraft.Parameter, at place: ManifestPlace
  ) -> ParameterDescriptor? {
    checkName(of: draft, at: place)
    guard let type = type(of: draft, at: place) else { return nil }
    let presence: ParameterDescriptor.Presence =
      draft.required
      ? .required : draft.default.map { .defaulted(Self.spelledOut($0, type)) } ?? .optional
    // A file's content enters the key, which the stage adds; its path does not.
    let descriptor = ParameterDescriptor(
      draft.name, type, presence, draft.help, isInKey: type != .path)
    if draft.required, draft.default != nil {
      findings.report(
        place["default"], "what is required has no default", becauseOf: [place["required"]])
    } else if draft.default != nil {
      var resolver = ParameterResolver(owner: "the default")
      _ = resolver.resolve(
        DocumentNode(.mapping([]), at: place["default"].location), as: [descriptor])
      let form = [
        "range", "choices", "text", "command", "unit", "whole", "flag", "path", "default",
      ]
      if form.allSatisfy({ !place[$0].isThere || findings.isClear(place[$0]) }) {
        findings.report(resolver.problems)
      }
    }
    return descriptor
  }

  /// A default with its unit; as written if it is no number.
  private static func spelledOut(_ text: String, _ type: ParameterType) -> String {
    guard case .number(let unit, _) = type, let value = try? unit.parse(text) else { return text }
    let whole = unit.format(value)
    return (try? unit.parse(whole)) == value ? whole : text
  }

  private mutating func checkName(of draft: ManifestDraft.Parameter, at place: ManifestPlace) {
    findings.checkName(draft.name, "a parameter", place["name"])
    if StepDefinition.reservedKeys.contains(draft.name) {
      findings.report(
        place["name"], "a parameter cannot be called \"\(draft.name)\"",
        allowed: "another word: each step of a pipeline has a key \(draft.name) already")
    }
  }

  /// The type. At most one form is allowed; none means a number.
  private mutating func type(
    of draft: ManifestDraft.Parameter, at place: ManifestPlace
  ) -> ParameterType? {
    let forms = [
      draft.choices != nil, draft.flag, draft.text != nil, draft.path, draft.command != nil,
    ]
    guard forms.count(where: { $0 }) <= 1, !forms.contains(true) || draft.range == nil else {
      findings.report(
        place["name"], "\"\(draft.name)\" has two forms",
        allowed: "range, choices, flag, text, command or path")
      return nil
    }
    if let choices = draft.choices { return .choice(checked(choices, at: place)) }
    if draft.flag { return .flag }
    if let length = draft.text { return .text(maximumLength: length) }
    if let length = draft.command { return .command(maximumLength: length) }
    if draft.path { return .path }
    let unit = Unit(named: draft.unit)
    if unit == nil {
      findings.report(
        place["unit"], "there is no unit \"\(draft.unit)\"",
        allowed: Unit.declarable.map(\.symbol).filter { !$0.isEmpty }.joined(separator: ", "))
    }
    guard let range = range(of: draft, at: place), let unit else { return nil }
    return draft.whole
      ? .integer(Int(range.lowerBound)...Int(range.upperBound)) : .number(unit, range)
  }

  private mutating func range(
    of draft: ManifestDraft.Parameter, at place: ManifestPlace
  ) -> ClosedRange<Double>? {
    guard let range = draft.range, range.count == 2 else {
      findings.report(
        place["name"], "the number \"\(draft.name)\" has no range",
        allowed: "range: [least, most], in its unit",
        becauseOf: ["range", "choices", "flag", "text", "command", "path"].map { place[$0] }
          .filter(\.isThere))
      return nil
    }
    guard range[0] <= range[1] else {
      let (least, most) = (Unit.number.format(range[1]), Unit.number.format(range[0]))
      findings.report(
        place["range"], "the range of \"\(draft.name)\" begins above its end",
        allowed: "[\(least), \(most)]")
      return nil
    }
    if draft.whole, range.contains(where: { $0 != $0.rounded() }) {
      findings.report(
        place["range"], "\"\(draft.name)\" is a whole number, and its range is not of those",
        allowed: "whole numbers")
    }
    return range[0]...range[1]
  }

  private mutating func checked(_ choices: [String], at place: ManifestPlace) -> [String] {
    for (index, choice) in choices.enumerated() where choices[..<index].contains(choice) {
      findings.report(place["choices"][index], "the choice \"\(choice)\" is there twice")
    }
    return choices
  }
}

/// The contradictions found in a manifest.
struct ManifestFindings {
  private(set) var problems: [Problem] = []
  /// Locations of values that cannot be understood; contradictions there may be consequences.
  private let unclear: Set<SourceLocation>

  init(unclear: Set<SourceLocation>) { self.unclear = unclear }

  /// Whether everything at a place is understood.
  func isClear(_ place: ManifestPlace) -> Bool { unclear.isDisjoint(with: place.locations) }

  /// Reports a contradiction unless it may follow from an unclear value.
  mutating func report(
    _ place: ManifestPlace, _ message: String, allowed: String? = nil,
    becauseOf others: [ManifestPlace] = []
  ) {
    guard ([place] + others).allSatisfy(isClear) else { return }
    problems.append(Problem(at: place.location, message, allowed: allowed))
  }

  /// Adds another reader's problems.
  mutating func report(_ more: [Problem]) { problems += more }

  /// Reports a name that is not valid in pipelines.
  mutating func checkName(_ name: String, _ what: String, _ place: ManifestPlace) {
    let isGood =
      name.utf8.first.map { (97...122).contains($0) } == true && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
      }
    guard !isGood else { return }
    report(
      place, "\(what) cannot be \"\(name)\"",
      allowed: "small letters, digits and dashes, beginning with a letter")
  }
}
