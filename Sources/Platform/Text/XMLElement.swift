/// An element of a small XML document, as servers answer with. Reads no document type, so that nothing
/// can grow by entities, and no deep nesting.
package struct XMLElement: Hashable, Sendable {
  /// Without a prefix.
  package let name: String
  /// The text directly in it, without white space around it.
  package private(set) var text = ""
  package private(set) var children: [XMLElement] = []

  /// How deep elements may be nested.
  fileprivate static let depthLimit = 32

  private init(name: String) { self.name = name }

  /// Reads the root element of a document. O(n).
  /// - Returns: nil for what is no such document.
  package init?(_ document: [UInt8]) {
    var rest = document[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    var open: [XMLElement] = []
    var root: XMLElement?
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      guard open.isEmpty ? Self.isBlank(rest[..<start]) : Self.take(rest[..<start], &open) else {
        return nil
      }
      rest = rest[start...]
      if let behind = Self.skip("<?", "?>", rest) ?? Self.skip("<!--", "-->", rest) {
        rest = behind
        continue
      }
      if let behind = Self.skip("<![CDATA[", "]]>", rest), !open.isEmpty {
        let text = rest[rest.index(rest.startIndex, offsetBy: 9)..<(behind.startIndex - 3)]
        open[open.count - 1].text += String(decoding: text, as: UTF8.self)
        rest = behind
        continue
      }
      guard let end = Self.tagEnd(rest), let tag = Tag(rest[(start + 1)..<end]) else { return nil }
      rest = rest[(end + 1)...]
      if tag.kind != .end {
        guard root == nil, open.count < Self.depthLimit else { return nil }
        open.append(XMLElement(name: tag.name))
      }
      if tag.kind != .start {
        guard var element = open.popLast(), element.name == tag.name else { return nil }
        element.text = element.text.trimmingSpaces
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
      }
    }
    guard open.isEmpty, Self.isBlank(rest), let root else { return nil }
    self = root
  }

  /// The first child of a name.
  package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  private static func isBlank(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { [9, 10, 13, 32].contains($0) }
  }

  /// Adds text to the innermost element; false for an entity that XML does not define by itself.
  private static func take(_ bytes: ArraySlice<UInt8>, _ open: inout [XMLElement]) -> Bool {
    guard let text = decoded(bytes) else { return false }
    open[open.count - 1].text += text
    return true
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    var text = String.UnicodeScalarView()
    var rest = bytes
    while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
      guard let end = rest[mark...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
      text += String(decoding: rest[..<mark], as: UTF8.self).unicodeScalars
      guard
        let scalar = scalar(named: String(decoding: rest[(mark + 1)..<end], as: UTF8.self))
      else { return nil }
      text.append(scalar)
      rest = rest[(end + 1)...]
    }
    text += String(decoding: rest, as: UTF8.self).unicodeScalars
    return String(text)
  }

  private static func scalar(named name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": "&"
    case "lt": "<"
    case "gt": ">"
    case "quot": "\""
    case "apos": "'"
    default:
      if name.hasPrefix("#x") {
        UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
      } else if name.hasPrefix("#") {
        UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init)
      } else {
        nil
      }
    }
  }

  /// What follows a stretch with these marks around it; nil if none begins here.
  private static func skip(
    _ start: String, _ end: String, _ bytes: ArraySlice<UInt8>
  ) -> ArraySlice<UInt8>? {
    guard bytes.starts(with: start.utf8) else { return nil }
    let end = Array(end.utf8)
    var place = bytes.startIndex + start.utf8.count
    while place + end.count <= bytes.endIndex {
      if bytes[place..<(place + end.count)].elementsEqual(end) {
        return bytes[(place + end.count)...]
      }
      place += 1
    }
    return nil
  }

  /// Where what begins with `<` ends, and its tag: nil in it for what is no tag of this kind. Nil without
  /// an inner tag for a comment, an instruction or unparsed text; nil as a whole if the end has not come.
  fileprivate static func markEnd(_ bytes: ArraySlice<UInt8>) -> (place: Int, tag: Tag??)? {
    for (start, end) in [("<?", "?>"), ("<!--", "-->"), ("<![CDATA[", "]]>")] {
      if bytes.starts(with: start.utf8) {
        return skip(start, end, bytes).map { ($0.startIndex, nil) }
      }
      // It may become one.
      if start.utf8.starts(with: bytes) { return nil }
    }
    return tagEnd(bytes).map { ($0 + 1, .some(Tag(bytes[(bytes.startIndex + 1)..<$0]))) }
  }

  /// The `>` that closes a tag, which quotation marks may hide.
  private static func tagEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
    var quotation: UInt8?
    for place in bytes.indices {
      let byte = bytes[place]
      if let mark = quotation {
        if byte == mark { quotation = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quotation = byte
      } else if byte == UInt8(ascii: ">") {
        return place
      }
    }
    return nil
  }

  fileprivate struct Tag {
    enum Kind { case start, end, empty }

    let kind: Kind
    let name: String

    init?(_ bytes: ArraySlice<UInt8>) {
      var bytes = bytes
      if bytes.first == UInt8(ascii: "/") {
        kind = .end
        bytes = bytes.dropFirst()
      } else if bytes.last == UInt8(ascii: "/") {
        kind = .empty
        bytes = bytes.dropLast()
      } else {
        kind = .start
      }
      let whole = bytes.prefix { ![9, 10, 13, 32].contains($0) }
      // A document type begins so.
      guard let first = whole.first, first != UInt8(ascii: "!"), first != UInt8(ascii: "?") else {
        return nil
      }
      let local = whole.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last
      name = String(decoding: local ?? whole, as: UTF8.self)
    }
  }
}

/// The children of the root of a document that comes in pieces, one after the other, so that a long
/// list needs little memory. As strict as ``XMLElement``.
package struct XMLChildren {
  private var bytes: [UInt8] = []
  /// Where the next mark is looked for, and where the child begins that is not whole yet.
  private var (place, start): (Int, Int?) = (0, nil)
  private var depth = 0
  /// Whether the root was closed.
  package private(set) var isComplete = false
  private let limit: Int

  /// - Parameter limit: the most bytes of one child.
  package init(limit: Int = 256 << 10) { self.limit = limit }

  /// Takes the next bytes. O(n).
  /// - Returns: the children that they complete; nil for what is no such document.
  package mutating func take(_ span: RawSpan) -> [XMLElement]? {
    unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    var children: [XMLElement] = []
    while let mark = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
      place = mark
      guard let end = XMLElement.markEnd(bytes[mark...]) else { break }
      if let tag = end.tag {
        guard !isComplete, let child = take(tag, at: mark, until: end.place) else { return nil }
        children += child
      }
      place = end.place
    }
    let used = start ?? place
    bytes.removeFirst(used)
    place -= used
    start = start.map { $0 - used }
    return bytes.count <= limit ? children : nil
  }

  /// - Returns: the child that a tag completes, if it completes one; nil for what may not stand there.
  private mutating func take(_ tag: XMLElement.Tag?, at mark: Int, until end: Int) -> [XMLElement]?
  {
    guard let tag else { return nil }
    if tag.kind != .end {
      if depth == 1 { start = mark }
      depth += 1
    }
    if tag.kind != .start { depth -= 1 }
    guard (0...XMLElement.depthLimit).contains(depth) else { return nil }
    isComplete = depth == 0
    guard depth == 1, let begin = start, tag.kind != .start else { return [] }
    guard end - begin <= limit else { return nil }
    start = nil
    return XMLElement(Array(bytes[begin..<end])).map { [$0] }
  }
}

extension String {
  /// Without the white space of XML and HTTP at both ends.
  package var trimmingSpaces: String {
    func isSpace(_ byte: UInt8) -> Bool { [9, 10, 13, 32].contains(byte) }
    let start = utf8.drop(while: isSpace)
    let end = start.reversed().drop(while: isSpace).count
    return String(start.prefix(end)) ?? self
  }
}
