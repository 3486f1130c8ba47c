import PipelineModel

/// Makes a manifest of what was written, and finds what contradicts itself.
struct ManifestReader {
  let root: DocumentNode
  private var findings: ManifestFindings

  init(root: DocumentNode, unclear: Set<SourceLocation>) {
    self.root = root
    findings = ManifestFindings(unclear: unclear)
  }

  /// Everything that is wrong.
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

  /// What people see in lists and pages shows itself, and steers no terminal. Lines may be broken.
  private mutating func checkTexts(_ node: DocumentNode) {
    switch node.content {
    case .scalar(let text, _):
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

  /// What runs lies in the plugin's folder, where it is part of every key, or on `PATH`.
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

  /// What it may read besides is one folder or another, and not everything: root's plugin would read
  /// what nobody else may.
  private mutating func checkReads(_ paths: [String], _ place: ManifestPlace) {
    let broad: Set = ["", "boot", "dev", "etc", "home", "proc", "root", "run", "sys", "var"]
    for (index, path) in paths.enumerated() {
      let parts = path.split(separator: "/").filter { $0 != "." }
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
      var reader = ManifestParameterReader(draft, at: place["parameters"][index], findings)
      if let parameter = reader.parameter() { parameters.append(parameter) }
      findings = reader.findings
      if drafts[..<index].contains(where: { $0.name == draft.name }) {
        findings.report(
          place["parameters"][index]["name"], "the parameter \"\(draft.name)\" is declared twice")
      }
    }
    return PluginManifest.Kind(
      kind: draft.kind, work: draft.type, revision: draft.revision, summary: draft.summary,
      discussion: draft.discussion, inputs: inputs, outputs: outputs, parameters: parameters,
      commands: Set(drafts.filter { $0.command != nil }.map(\.name)))
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
