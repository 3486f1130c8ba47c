/// A file of `spool watch --config`: several inboxes and their pipelines.
package typealias ParsedWatch = Parsed<WatchDefinition>

extension Parsed where Definition == WatchDefinition {
  /// O(n).
  package init(_ text: String) {
    self.init(YAMLDocument(text), empty: WatchDefinition()) { $0.watch($1) }
  }
}

extension DocumentReader {
  private static let watchKeys = Vocabulary(
    ["store", "jobs", "drain", "inboxes"],
    synonyms: ["inbox": "inboxes", "watch": "inboxes", "patience": "drain"])
  private static let inboxKeys = Vocabulary(
    [
      "inbox", "pipeline", "out", "outbox", "name", "keep", "settle", "sidecar", "done-marker",
      "give-up", "overlooked", "retry", "set", "single-copy",
    ],
    synonyms: [
      "path": "inbox", "folder": "inbox", "output": "out", "exports": "out", "acks": "outbox",
      "vars": "set", "overrides": "set", "sidecars": "sidecar", "marker": "done-marker",
      "patience": "give-up", "retries": "retry",
    ])
  private static let retryKeys = Vocabulary(
    ["attempts", "pause", "longest", "jitter"],
    synonyms: ["times": "attempts", "backoff": "pause", "cap": "longest", "maximum": "longest"])

  fileprivate mutating func watch(_ root: DocumentNode) -> WatchDefinition {
    var watch = WatchDefinition()
    guard let entries = rootEntries(root, of: "the file", Self.watchKeys) else { return watch }
    var hasInboxes = false
    for entry in entries {
      switch entry.key {
      case "store": watch.store = located(entry)
      case "drain": watch.drain = duration(entry.value, of: entry.key)
      case "jobs": watch.jobs = integer(entry.value, of: entry.key, within: 1...256)
      case "inboxes":
        hasInboxes = true
        watch.inboxes = items(
          entry.value, of: "inboxes",
          allowed: "a list: for each inbox a line beginning with \"- inbox: \", and more below it"
        ).compactMap { inbox($0) }
      default:
        let meant = reportUnknown(entry, among: Self.watchKeys, of: "this file")
        if meant == "inboxes" { hasInboxes = true }
      }
    }
    if !hasInboxes {
      report(root.location, "the file names no inboxes", allowed: "inboxes: and a list below it")
    }
    return watch
  }

  private mutating func inbox(_ node: DocumentNode) -> WatchDefinition.Inbox? {
    guard let entries = entries(node, of: "an inbox", allowed: Self.inboxKeys.list) else {
      return nil
    }
    var path: Located<String>?
    var pipeline: Located<String>?
    var inbox = WatchDefinition.Inbox(
      path: .init("", at: node.location), pipeline: .init("", at: node.location))
    var present = Set(entries.map(\.key))
    for entry in entries {
      switch entry.key {
      case "inbox": path = located(entry)
      case "pipeline": pipeline = located(entry)
      case "out": inbox.out = located(entry)
      case "outbox": inbox.outbox = located(entry)
      case "name": inbox.name = located(entry)
      case "keep":
        let words = WatchDefinition.Keep.allCases.map(\.rawValue)
        inbox.keep = value(
          entry.value, of: entry.key, allowed: words.joined(separator: ", "), words: words
        ) { WatchDefinition.Keep(rawValue: $0) }.map { Located($0, at: entry.value.location) }
      case "single-copy":
        inbox.isSingleCopy = flag(entry.value, of: entry.key) ?? inbox.isSingleCopy
      case "settle": inbox.settle = duration(entry.value, of: entry.key)
      case "sidecar":
        inbox.sidecar = value(
          entry.value, of: entry.key, allowed: WatchDefinition.SidecarExpectation.allowed,
          words: ["optional", "required", "ignored"]
        ) { WatchDefinition.SidecarExpectation($0) }
      case "done-marker":
        inbox.doneMarker = value(
          entry.value, of: entry.key, allowed: "the end of a file's name, such as .done"
        ) { $0.hasPrefix(".") && $0.count > 1 && !$0.contains("/") ? $0 : nil }
      case "give-up": inbox.patience = duration(entry.value, of: entry.key)
      case "overlooked": inbox.overlooked = duration(entry.value, of: entry.key)
      case "retry": inbox.retry = retry(entry.value)
      case "set":
        inbox.overrides = self.entries(entry.value, of: entry.key, allowed: "name: value") ?? []
      default:
        // A misspelt key is one problem, and not missing as well.
        if let meant = reportUnknown(entry, among: Self.inboxKeys, of: "an inbox") {
          present.insert(meant)
        }
      }
    }
    for key in ["inbox", "pipeline"] where !present.contains(key) {
      report(
        node.location, "the inbox names no \(key == "inbox" ? "folder" : key)",
        allowed: "\(key): path")
    }
    guard let path, let pipeline else { return nil }
    (inbox.path, inbox.pipeline) = (path, pipeline)
    return inbox
  }

  private mutating func retry(_ node: DocumentNode) -> WatchDefinition.Retry {
    var retry = WatchDefinition.Retry()
    for entry in entries(node, of: "retry", allowed: Self.retryKeys.list) ?? [] {
      switch entry.key {
      case "attempts": retry.attempts = integer(entry.value, of: entry.key, within: 1...100)
      case "pause": retry.pause = duration(entry.value, of: entry.key)
      case "longest": retry.longestPause = duration(entry.value, of: entry.key)
      case "jitter":
        retry.jitter = value(
          entry.value, of: entry.key, allowed: "a share from 0 % to 100 %, such as 10 %"
        ) { (text) -> Int? in
          let digits = text.prefix { $0.isNumber }
          let unit = text.dropFirst(digits.count).drop { $0 == " " }
          guard let percent = Int(digits), unit.isEmpty || unit == "%" else { return nil }
          return (0...100).contains(percent) ? percent : nil
        }
      default: reportUnknown(entry, among: Self.retryKeys, of: "retry")
      }
    }
    return retry
  }
}
