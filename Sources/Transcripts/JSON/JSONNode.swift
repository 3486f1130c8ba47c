import JSONText

/// A value of a JSON file that knows where it stands, so that what is wrong with it can be told.
struct JSONNode {
  /// The value.
  let value: JSONValue
  private let path: [JSONStep]
  private let source: SourceText

  /// How many lists and objects in one another are read.
  private static let depthLimit = 64

  /// Reads a whole file. O(n).
  init(_ source: SourceText) throws(TranscriptError) {
    do {
      value = try JSONReader.value(of: source.bytes, depthLimit: Self.depthLimit).value
    } catch {
      throw TranscriptError(
        .reading, at: TextPlace(line: error.line, column: error.column),
        "found \(error.found), expected \(error.expected)")
    }
    path = []
    self.source = source
  }

  private init(_ value: JSONValue, _ path: [JSONStep], _ source: SourceText) {
    self.value = value
    self.path = path
    self.source = source
  }

  /// Whether it is an object.
  var isObject: Bool { if case .object = value { true } else { false } }

  /// The member of an object; nil where there is none, it is `null`, or this is no object.
  func member(_ name: String) -> JSONNode? {
    guard let member = value[name], member != .null else { return nil }
    return JSONNode(member, path + [.name(name)], source)
  }

  /// Its items, which must be objects.
  func objects() throws(TranscriptError) -> [JSONNode] {
    guard let list = value.list else { throw error(expected: "a list") }
    var nodes: [JSONNode] = []
    nodes.reserveCapacity(list.count)
    for (index, item) in list.enumerated() {
      let node = JSONNode(item, path + [.index(index)], source)
      guard node.isObject else { throw node.error(expected: "an object") }
      nodes.append(node)
    }
    return nodes
  }

  /// The objects of a member that is a list; nil where there is none.
  func objects(_ name: String) throws(TranscriptError) -> [JSONNode]? {
    try member(name)?.objects()
  }

  /// The text of a member; nil where there is none.
  func text(_ name: String) throws(TranscriptError) -> String? {
    guard let member = member(name) else { return nil }
    guard let text = member.value.text else { throw member.error(expected: "a text") }
    return text
  }

  /// The time of a member, in seconds; nil where there is none.
  func time(_ name: String, unit: Double = 1) throws(TranscriptError) -> Double? {
    guard let member = member(name) else { return nil }
    guard case .number(let digits) = member.value, let number = Double(digits), number >= 0,
      number / unit <= ByteScanner.longestTime
    else { throw member.error(expected: "a time of at least 0, as a number") }
    return number / unit
  }

  /// The first member of some names that is a share of 0 to 1; a number beyond is a score of another
  /// kind, of which nothing is known.
  func share(_ names: String...) -> Double? {
    for name in names {
      guard case .number(let digits)? = member(name)?.value, let number = Double(digits) else {
        continue
      }
      // Rounding takes a certain word a little over 1.
      return number >= 0 && number <= 1.001 ? min(number, 1) : nil
    }
    return nil
  }

  /// A whole number of at least 0; nil where there is none.
  func count(_ name: String) throws(TranscriptError) -> Int? {
    guard let member = member(name) else { return nil }
    guard let count = member.value.integer, count >= 0 else {
      throw member.error(expected: "a whole number of at least 0")
    }
    return count
  }

  /// An error about this value. O(n) in the length of the file.
  func error(expected: String) -> TranscriptError {
    let place = TextPlace(of: JSONPlace.offset(of: path, in: source.bytes), in: source.bytes)
    let shown = path.isEmpty ? "" : "\(path.shown) is "
    return TranscriptError(
      .reading, at: place,
      "\(shown)\(PrintableText.shown(value.compact)), expected \(expected)")
  }
}
