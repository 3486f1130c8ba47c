import CYAML

extension YAMLDocument {
  /// Builds the tree from events, and collects what is not allowed in it.
  struct Composer: ~Copyable {
    private(set) var problems: [Problem] = []
    /// The most nodes, where an alias counts as its whole content.
    private static let nodeLimit = 20_000
    /// The greatest nesting depth.
    private static let depthLimit = 64

    private var events: YAMLEvents
    private var anchors: [String: (node: Composed, nodeCount: Int)] = [:]
    private var openAnchors: Set<String> = []
    private var nodeCount = 0
    private var hasAliases = false

    /// A finished node with its nesting depth.
    private typealias Composed = (node: DocumentNode, height: Int)

    init(_ bytes: [UInt8]) { events = YAMLEvents(bytes) }

    /// The document's root; null for an empty document, nil if reading failed.
    mutating func compose() -> DocumentNode? {
      do throws(Problem) {
        return try composeDocument()
      } catch {
        problems.append(error)
        return nil
      }
    }

    private mutating func composeDocument() throws(Problem) -> DocumentNode {
      var root: DocumentNode?
      while true {
        let event = try events.next()
        switch event.kind {
        case .streamEnd:
          return root ?? .null(at: SourceLocation(line: 1, column: 1))
        case .documentStart where root == nil:
          root = try composeNode(try events.next(), depth: 0).node
        case .documentStart:
          throw Problem(
            at: event.location, "a second document begins here", allowed: "one document in a file")
        default: continue
        }
      }
    }

    private mutating func composeNode(
      _ event: YAMLEvent, depth: Int
    ) throws(Problem) -> Composed {
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
        composed = (DocumentNode(.scalar(text, isQuoted: isQuoted), at: event.location), 0)
      case .sequenceStart:
        try descend(to: depth + 1, at: event.location)
        composed = try composeSequence(at: event.location, depth: depth + 1)
      default:
        try descend(to: depth + 1, at: event.location)
        composed = try composeMapping(at: event.location, depth: depth + 1)
      }
      if let anchor = event.anchor {
        openAnchors.remove(anchor)
        anchors[anchor] = (composed, nodeCount - countBefore)
      }
      return composed
    }

    private mutating func composeSequence(
      at location: SourceLocation, depth: Int
    ) throws(Problem) -> Composed {
      var nodes: [DocumentNode] = []
      var height = 0
      while true {
        let event = try events.next()
        if case .end = event.kind {
          return (DocumentNode(.sequence(nodes), at: location), height + 1)
        }
        let item = try composeNode(event, depth: depth)
        nodes.append(item.node)
        height = max(height, item.height)
      }
    }

    private mutating func composeMapping(
      at location: SourceLocation, depth: Int
    ) throws(Problem) -> Composed {
      var entries: [DocumentNode.Entry] = []
      var places: [String: SourceLocation] = [:]
      var height = 0
      while true {
        let event = try events.next()
        if case .end = event.kind {
          return (DocumentNode(.mapping(entries), at: location), height + 1)
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
}

extension YAMLDocument.Composer {
  /// The text of a key; nil if it is none, which is a problem.
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
    case .scalar(let text, _), .typed(let text): return text
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

  /// The node of an alias; null if undefined, which is a problem.
  private mutating func expand(
    _ name: String, at location: SourceLocation, depth: Int
  ) throws(Problem) -> Composed {
    guard !openAnchors.contains(name), let anchored = anchors[name] else {
      try count(1, at: location)
      reportUnknown(name, at: location)
      return (.null(at: location), 0)
    }
    hasAliases = true
    try count(anchored.nodeCount, at: location)
    try descend(to: depth + anchored.node.height, at: location)
    return anchored.node
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
  ) throws(Problem) {
    nodeCount += nodes
    guard nodeCount <= Self.nodeLimit else {
      throw Problem(
        at: location,
        "the document has too many values"
          + (hasAliases ? " once its aliases are written out" : ""),
        allowed: "at most \(Self.nodeLimit) values, with the keys")
    }
  }

  private func descend(
    to depth: Int, at location: SourceLocation
  ) throws(Problem) {
    guard depth <= Self.depthLimit else {
      throw Problem(
        at: location, "lists and mappings are nested too deeply",
        allowed: "at most \(Self.depthLimit) levels")
    }
  }

  private mutating func report(
    _ location: SourceLocation, _ message: String, allowed: String?, suggestion: String? = nil
  ) {
    problems.append(Problem(at: location, message, allowed: allowed, suggestion: suggestion))
  }
}

/// libyaml's stream of events over one text, as Swift values.
@safe struct YAMLEvents: ~Copyable {
  // libyaml keeps pointers into both, so neither may move.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>
  private let bytes: [UInt8]

  /// Opens a text without a byte order mark.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    unsafe parser = .allocate(capacity: 1)
    unsafe input = .allocate(capacity: bytes.count)
    _ = unsafe input.initialize(from: bytes)
    guard unsafe yaml_parser_initialize(parser) == 1 else {
      preconditionFailure("libyaml is out of memory")
    }
    // Explicit, so that a UTF-16 file is refused at its first byte.
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe input.deallocate()
  }

  /// The next event; throws if the text is not YAML, after which no more can be read.
  mutating func next() throws(Problem) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxError }
    defer { unsafe yaml_event_delete(&event) }
    return unsafe YAMLEvent(event)
  }

  private var syntaxError: Problem {
    let words = unsafe Self.text(parser.pointee.problem) ?? "the text cannot be read"
    if unsafe parser.pointee.error == YAML_READER_ERROR {
      let location = unsafe SourceLines.location(
        ofByte: parser.pointee.problem_offset, in: bytes)
      return Problem(
        at: location, "this is not text: \(words)", allowed: "UTF-8 without control characters")
    }
    let location = unsafe SourceLocation(parser.pointee.problem_mark)
    guard let context = unsafe Self.text(parser.pointee.context) else {
      return Problem(notYAML: words, at: location, in: bytes)
    }
    let start = unsafe SourceLocation(parser.pointee.context_mark)
    return Problem(notYAML: words, context: (context, start), at: location, in: bytes)
  }

  private static func text(_ characters: UnsafePointer<CChar>?) -> String? {
    unsafe characters.map { unsafe String(cString: $0) }
  }
}

/// A copy of a libyaml event.
struct YAMLEvent {
  enum Kind {
    /// The document's first node follows.
    case documentStart
    case scalar(String, isQuoted: Bool)
    case sequenceStart
    /// A mapping begins: keys and values alternate.
    case mappingStart
    case end
    /// A reference to the node with this anchor.
    case alias(String)
    case streamEnd
    case other
  }

  let kind: Kind
  /// The name for aliases of the node.
  let anchor: String?
  /// The resolved tag: `tag:yaml.org,2002:int` for `!!int`.
  let tag: String?
  /// The node's beginning.
  let location: SourceLocation

  /// Copies an event; the caller deletes the original.
  @unsafe init(_ event: yaml_event_t) {
    location = unsafe SourceLocation(event.start_mark)
    var anchor: String?
    var tag: String?
    switch unsafe event.type {
    case YAML_DOCUMENT_START_EVENT: kind = .documentStart
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      let value = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      kind = unsafe .scalar(
        String(decoding: value, as: UTF8.self),
        isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE)
      anchor = unsafe Self.text(scalar.anchor)
      tag = unsafe Self.text(scalar.tag)
    case YAML_SEQUENCE_START_EVENT:
      kind = .sequenceStart
      anchor = unsafe Self.text(event.data.sequence_start.anchor)
      tag = unsafe Self.text(event.data.sequence_start.tag)
    case YAML_MAPPING_START_EVENT:
      kind = .mappingStart
      anchor = unsafe Self.text(event.data.mapping_start.anchor)
      tag = unsafe Self.text(event.data.mapping_start.tag)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: kind = .end
    case YAML_ALIAS_EVENT: kind = unsafe .alias(Self.text(event.data.alias.anchor) ?? "")
    case YAML_STREAM_END_EVENT: kind = .streamEnd
    default: kind = .other
    }
    self.anchor = anchor
    self.tag = tag
  }

  private static func text(_ characters: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    unsafe characters.map { unsafe String(cString: $0) }
  }
}

extension SourceLocation {
  /// libyaml counts lines and characters from 0.
  init(_ mark: yaml_mark_t) {
    self.init(line: mark.line + 1, column: mark.column + 1)
  }
}
