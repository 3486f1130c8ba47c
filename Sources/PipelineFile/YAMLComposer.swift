internal import PipelineModel

/// Builds the tree out of events, and collects what may not stand in it.
struct YAMLComposer: ~Copyable {
  /// What was wrong so far.
  private(set) var problems: [Problem] = []
  private let limits: YAMLLimits
  private var events: YAMLEvents
  private var anchors: [String: Anchored] = [:]
  private var openAnchors: Set<String> = []
  private var nodeCount = 0

  /// A node that aliases may stand for.
  private struct Anchored {
    let node: DocumentNode
    let nodeCount: Int
    let height: Int
  }

  /// A finished node, with the levels of lists and mappings it spans.
  private struct Composed {
    let node: DocumentNode
    let height: Int
  }

  /// Starts on a text without a byte order mark.
  init(_ bytes: [UInt8], limits: YAMLLimits) {
    self.limits = limits
    events = YAMLEvents(bytes)
  }

  /// The document's root; null where there is none, nil where reading had to stop.
  mutating func compose() -> DocumentNode? {
    do throws(YAMLSyntaxError) {
      return try composeDocument()
    } catch {
      problems.append(error.problem)
      return nil
    }
  }

  private mutating func composeDocument() throws(YAMLSyntaxError) -> DocumentNode {
    var root: DocumentNode?
    while true {
      let event = try events.next()
      switch event.kind {
      case .streamEnd:
        return root ?? .null(at: SourceLocation(line: 1, column: 1))
      case .documentStart where root == nil:
        root = try composeNode(try events.next(), depth: 0).node
      case .documentStart:
        throw YAMLSyntaxError(
          Problem(
            at: event.location, "a second document begins here",
            allowed: "one document in a file"))
      default: continue
      }
    }
  }

  private mutating func composeNode(
    _ event: YAMLEvent, depth: Int
  ) throws(YAMLSyntaxError) -> Composed {
    if case .alias(let name) = event.kind {
      return try expand(name, at: event.location, depth: depth)
    }
    let countBefore = nodeCount
    try count(1, at: event.location)
    if let tag = event.tag { refuse(tag: tag, at: event.location) }
    if let anchor = event.anchor { openAnchors.insert(anchor) }
    let composed: Composed
    switch event.kind {
    case .scalar(let text, let isQuoted):
      composed = Composed(
        node: DocumentNode(.scalar(text, isQuoted: isQuoted), at: event.location), height: 0)
    case .sequenceStart:
      try descend(to: depth + 1, at: event.location)
      composed = try composeSequence(at: event.location, depth: depth + 1)
    default:
      try descend(to: depth + 1, at: event.location)
      composed = try composeMapping(at: event.location, depth: depth + 1)
    }
    if let anchor = event.anchor {
      openAnchors.remove(anchor)
      anchors[anchor] = Anchored(
        node: composed.node, nodeCount: nodeCount - countBefore, height: composed.height)
    }
    return composed
  }

  private mutating func composeSequence(
    at location: SourceLocation, depth: Int
  ) throws(YAMLSyntaxError) -> Composed {
    var nodes: [DocumentNode] = []
    var height = 0
    while true {
      let event = try events.next()
      if case .end = event.kind {
        return Composed(node: DocumentNode(.sequence(nodes), at: location), height: height + 1)
      }
      let item = try composeNode(event, depth: depth)
      nodes.append(item.node)
      height = max(height, item.height)
    }
  }

  private mutating func composeMapping(
    at location: SourceLocation, depth: Int
  ) throws(YAMLSyntaxError) -> Composed {
    var entries: [DocumentNode.Entry] = []
    var places: [String: SourceLocation] = [:]
    var height = 0
    while true {
      let event = try events.next()
      if case .end = event.kind {
        return Composed(node: DocumentNode(.mapping(entries), at: location), height: height + 1)
      }
      let key = try composeNode(event, depth: depth)
      let value = try composeNode(try events.next(), depth: depth)
      height = max(height, key.height, value.height)
      guard let name = name(of: key.node, at: event.location) else { continue }
      if let first = places[name] {
        report(
          event.location, "\"\(name)\" stands twice in this mapping",
          allowed: "each key once; the first is in line \(first.line)")
        continue
      }
      places[name] = event.location
      entries.append(DocumentNode.Entry(key: name, location: event.location, value: value.node))
    }
  }
}

// MARK: What may not stand in a document

extension YAMLComposer {
  /// The text of a key; nil where it cannot be one, which is a problem.
  private mutating func name(of key: DocumentNode, at location: SourceLocation) -> String? {
    switch key.content {
    case .scalar("<<", isQuoted: false):
      report(
        location, "merge keys (\"<<\") are not supported",
        allowed: "an alias as a whole value, or the keys themselves")
      return nil
    case .scalar("", isQuoted: false):
      report(location, "a key is missing before the colon", allowed: "key: value")
      return nil
    case .scalar(let text, _): return text
    case .sequence, .mapping:
      report(location, "a key cannot be \(key.summary)", allowed: "text")
      return nil
    }
  }

  private mutating func refuse(tag: String, at location: SourceLocation) {
    let prefix = "tag:yaml.org,2002:"
    let written = tag.hasPrefix(prefix) ? "!!" + tag.dropFirst(prefix.count) : tag
    report(
      location, "the tag \(written) is not supported",
      allowed: "the bare value; quotes make it text")
  }

  /// The node that an alias stands for; null where there is none, which is a problem.
  private mutating func expand(
    _ name: String, at location: SourceLocation, depth: Int
  ) throws(YAMLSyntaxError) -> Composed {
    guard !openAnchors.contains(name), let anchored = anchors[name] else {
      try count(1, at: location)
      reportUnknown(name, at: location)
      return Composed(node: .null(at: location), height: 0)
    }
    try count(anchored.nodeCount, at: location)
    try descend(to: depth + anchored.height, at: location)
    return Composed(node: anchored.node, height: anchored.height)
  }

  private mutating func reportUnknown(_ name: String, at location: SourceLocation) {
    // A comparison with each of thousands would take longer than reading them.
    let names = anchors.count > 50 ? [] : anchors.keys.sorted()
    report(
      location,
      openAnchors.contains(name)
        ? "*\(name) stands inside &\(name) itself" : "there is no anchor &\(name) above",
      allowed: names.isEmpty ? nil : names.map { "*\($0)" }.joined(separator: ", "),
      suggestion: Problem.nearest(to: name, in: names).map { "*\($0)" })
  }

  private mutating func count(
    _ nodes: Int, at location: SourceLocation
  ) throws(YAMLSyntaxError) {
    nodeCount += nodes
    guard nodeCount <= limits.nodes else {
      throw YAMLSyntaxError(
        Problem(
          at: location, "the document is too large once its aliases are written out",
          allowed: "at most \(limits.nodes) values"))
    }
  }

  private func descend(
    to depth: Int, at location: SourceLocation
  ) throws(YAMLSyntaxError) {
    guard depth <= limits.depth else {
      throw YAMLSyntaxError(
        Problem(
          at: location, "lists and mappings are nested too deeply",
          allowed: "at most \(limits.depth) levels"))
    }
  }

  private mutating func report(
    _ location: SourceLocation, _ message: String, allowed: String?, suggestion: String? = nil
  ) {
    problems.append(Problem(at: location, message, allowed: allowed, suggestion: suggestion))
  }
}
