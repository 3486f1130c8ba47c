/// Reads the file that names several inboxes and their pipelines.
struct WatchFileReader {
  private(set) var findings = Findings()

  private static let topKeys = Vocabulary(
    ["store", "jobs", "drain", "inboxes"],
    synonyms: ["inbox": "inboxes", "watch": "inboxes", "patience": "drain"])
  private static let inboxKeys = Vocabulary(
    [
      "inbox", "pipeline", "out", "outbox", "name", "keep", "settle", "sidecar", "done-marker",
      "give-up", "overlooked", "retry", "set",
    ],
    synonyms: [
      "path": "inbox", "folder": "inbox", "output": "out", "exports": "out", "acks": "outbox",
      "vars": "set", "overrides": "set", "sidecars": "sidecar", "marker": "done-marker",
      "patience": "give-up",
      "retries": "retry",
    ])
  private static let retryKeys = Vocabulary(
    ["attempts", "pause", "longest", "jitter"],
    synonyms: ["times": "attempts", "backoff": "pause", "cap": "longest", "maximum": "longest"])

  mutating func read(_ root: DocumentNode) -> WatchDefinition {
    var result = WatchDefinition()
    guard case .mapping(let entries) = root.content else {
      findings.report(
        root.location,
        root.isNull ? "the file is empty" : "the file is a mapping, not \(root.summary)",
        allowed: Self.topKeys.list)
      return result
    }
    var hasInboxes = false
    for entry in entries {
      switch entry.key {
      case "store": result.store = located(entry)
      case "drain": result.drain = findings.duration(entry.value, of: entry.key)
      case "jobs": result.jobs = findings.integer(entry.value, of: entry.key, within: 1...256)
      case "inboxes":
        hasInboxes = true
        result.inboxes = inboxes(entry.value)
      default:
        let meant = Self.topKeys.nearest(to: entry.key)
        if meant == "inboxes" { hasInboxes = true }
        findings.report(
          entry.location, "\"\(entry.key)\" is not a part of this file",
          allowed: Self.topKeys.list, suggestion: meant)
      }
    }
    if !hasInboxes {
      findings.report(
        root.location, "the file names no inboxes", allowed: "inboxes: and a list below it")
    }
    return result
  }

  private mutating func inboxes(_ node: DocumentNode) -> [WatchDefinition.Inbox] {
    guard case .sequence(let items) = node.content, !items.isEmpty else {
      let isList = if case .sequence = node.content { true } else { false }
      findings.report(
        node.location, isList ? "inboxes is an empty list" : "inboxes is \(node.summary)",
        allowed: "a list: for each inbox a line beginning with \"- inbox: \", and more below it")
      return []
    }
    return items.compactMap { inbox($0) }
  }

  private mutating func inbox(_ node: DocumentNode) -> WatchDefinition.Inbox? {
    guard
      let entries = findings.entries(node, of: "an inbox", allowed: Self.inboxKeys.list)
    else { return nil }
    var path: Located<String>?
    var pipeline: Located<String>?
    var rest = WatchDefinition.Inbox(
      path: .init("", at: node.location), pipeline: .init("", at: node.location))
    var misspelled: Set<String> = []
    for entry in entries {
      switch entry.key {
      case "inbox": path = located(entry)
      case "pipeline": pipeline = located(entry)
      case "out": rest.out = located(entry)
      case "outbox": rest.outbox = located(entry)
      case "name": rest.name = located(entry)
      case "keep": rest.keep = keep(entry)
      case "settle": rest.settle = findings.duration(entry.value, of: entry.key)
      case "sidecar": rest.sidecar = sidecar(entry)
      case "done-marker": rest.doneMarker = marker(entry)
      case "give-up": rest.patience = findings.duration(entry.value, of: entry.key)
      case "overlooked": rest.overlooked = findings.duration(entry.value, of: entry.key)
      case "retry": rest.retry = retry(entry.value)
      case "set":
        rest.overrides =
          findings.entries(entry.value, of: entry.key, allowed: "name: value") ?? []
      default:
        let meant = Self.inboxKeys.nearest(to: entry.key)
        if let meant { misspelled.insert(meant) }
        findings.report(
          entry.location, "\"\(entry.key)\" is not a part of an inbox",
          allowed: Self.inboxKeys.list, suggestion: meant)
      }
    }
    let present = misspelled.union(entries.map(\.key))
    for key in ["inbox", "pipeline"] where !present.contains(key) {
      findings.report(
        node.location, "the inbox names no \(key == "inbox" ? "folder" : key)",
        allowed: "\(key): path")
    }
    guard let path, let pipeline else { return nil }
    rest.path = path
    rest.pipeline = pipeline
    return rest
  }

  private mutating func retry(_ node: DocumentNode) -> WatchDefinition.Retry {
    var retry = WatchDefinition.Retry()
    let entries = findings.entries(node, of: "retry", allowed: Self.retryKeys.list) ?? []
    for entry in entries {
      switch entry.key {
      case "attempts":
        retry.attempts = findings.integer(entry.value, of: entry.key, within: 1...100)
      case "pause": retry.pause = findings.duration(entry.value, of: entry.key)
      case "longest": retry.longestPause = findings.duration(entry.value, of: entry.key)
      case "jitter": retry.jitter = findings.percent(entry.value, of: entry.key)
      default:
        findings.report(
          entry.location, "\"\(entry.key)\" is not a part of retry",
          allowed: Self.retryKeys.list, suggestion: Self.retryKeys.nearest(to: entry.key))
      }
    }
    return retry
  }

  private mutating func located(
    _ entry: DocumentNode.Entry
  ) -> Located<String>? {
    guard let text = findings.text(entry.value, of: entry.key, allowed: "a path") else {
      return nil
    }
    return .init(text, at: entry.value.location)
  }

  private mutating func keep(
    _ entry: DocumentNode.Entry
  ) -> Located<WatchDefinition.Keep>? {
    let words = WatchDefinition.Keep.allCases.map(\.rawValue)
    let allowed = words.joined(separator: ", ")
    guard let text = findings.text(entry.value, of: entry.key, allowed: allowed) else {
      return nil
    }
    if let keep = WatchDefinition.Keep(rawValue: text) {
      return .init(keep, at: entry.value.location)
    }
    findings.report(
      entry.value.location, "keep is \"\(text)\"", allowed: allowed,
      suggestion: Problem.nearest(to: text, in: words))
    return nil
  }

  private mutating func sidecar(
    _ entry: DocumentNode.Entry
  ) -> WatchDefinition.SidecarExpectation? {
    let allowed = WatchDefinition.SidecarExpectation.allowed
    guard let text = findings.text(entry.value, of: entry.key, allowed: allowed) else {
      return nil
    }
    if let expectation = WatchDefinition.SidecarExpectation(text) { return expectation }
    findings.report(
      entry.value.location, "sidecar is \"\(text)\"", allowed: allowed,
      suggestion: Problem.nearest(to: text, in: ["optional", "required", "ignored"]))
    return nil
  }

  private mutating func marker(_ entry: DocumentNode.Entry) -> String? {
    let allowed = "the end of a file's name, such as .done"
    guard let text = findings.text(entry.value, of: entry.key, allowed: allowed) else {
      return nil
    }
    if text.hasPrefix("."), text.count > 1, !text.contains("/") { return text }
    findings.report(entry.value.location, "done-marker is \"\(text)\"", allowed: allowed)
    return nil
  }
}
