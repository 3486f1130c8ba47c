internal import CYAML
internal import PipelineModel

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
    // Said rather than guessed: a UTF-16 file is then refused with its first byte.
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe input.deallocate()
  }

  /// The next event; throws once the text is not YAML, after which there is nothing more to read.
  mutating func next() throws(YAMLSyntaxError) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxError }
    defer { unsafe yaml_event_delete(&event) }
    return unsafe YAMLEvent(event)
  }

  private var syntaxError: YAMLSyntaxError {
    let words = unsafe Self.text(parser.pointee.problem) ?? "the text cannot be read"
    if unsafe parser.pointee.error == YAML_READER_ERROR {
      let location = unsafe SourceLines.location(
        ofByte: parser.pointee.problem_offset, in: bytes)
      return YAMLSyntaxError(unreadable: words, at: location)
    }
    let location = unsafe SourceLocation(parser.pointee.problem_mark)
    guard let context = unsafe Self.text(parser.pointee.context) else {
      return YAMLSyntaxError(words, at: location, in: bytes)
    }
    let start = unsafe SourceLocation(parser.pointee.context_mark)
    return YAMLSyntaxError(words, context: (context, start), at: location, in: bytes)
  }

  private static func text(_ characters: UnsafePointer<CChar>?) -> String? {
    guard let characters = unsafe characters else { return nil }
    return unsafe String(cString: characters)
  }
}
