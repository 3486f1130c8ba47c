internal import CYAML
internal import PipelineModel

/// One of libyaml's events, copied out of its memory.
struct YAMLEvent {
  /// What happened.
  enum Kind {
    /// The document's first node follows.
    case documentStart
    /// A single value.
    case scalar(String, isQuoted: Bool)
    /// A list begins.
    case sequenceStart
    /// A mapping begins: keys and values follow in turn.
    case mappingStart
    /// The innermost list or mapping ends.
    case end
    /// The node with this anchor once more.
    case alias(String)
    /// Nothing more follows.
    case streamEnd
    /// Nothing that a reader needs.
    case other
  }

  /// What happened.
  let kind: Kind
  /// The name that aliases may refer to the node by.
  let anchor: String?
  /// The node's tag as libyaml resolves it: `tag:yaml.org,2002:int` for `!!int`.
  let tag: String?
  /// Where the node begins.
  let location: SourceLocation
}

extension YAMLEvent {
  /// Copies an event, which stays the caller's to delete.
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
    guard let characters = unsafe characters else { return nil }
    return unsafe String(cString: characters)
  }
}

extension SourceLocation {
  /// A mark of libyaml's, which counts lines and characters from 0.
  init(_ mark: yaml_mark_t) {
    self.init(line: mark.line + 1, column: mark.column + 1)
  }
}
