import Platform

/// A JSON value with its location, for error messages.
struct JSONNode {
  let value: JSONValue
  private let path: [JSONStep]
  private let source: SourceText

  /// The greatest nesting depth.
  private static let depthLimit = 64

  var isObject: Bool { if case .object = value { true } else { false } }

  /// The member of an object; nil if it is missing or `null`, or this is no object.
  func member(_ name: String) -> JSONNode? {
    guard let member = value[name], member != .null else { return nil }
    return JSONNode(value: member, path: path + [.name(name)], source: source)
  }

  func objects() throws(SpoolError) -> [JSONNode] {
    guard let list = value.list else { throw error(expected: "a list") }
    return try list.indices.map { (index) throws(SpoolError) in
      let node = JSONNode(value: list[index], path: path + [.index(index)], source: source)
      guard node.isObject else { throw node.error(expected: "an object") }
      return node
    }
  }

  /// The objects of a list member; nil if it is missing.
  func objects(_ name: String) throws(SpoolError) -> [JSONNode]? {
    try member(name)?.objects()
  }

  /// The text of a member; nil if it is missing.
  func text(_ name: String) throws(SpoolError) -> String? {
    guard let member = member(name) else { return nil }
    guard let text = member.value.text else { throw member.error(expected: "a text") }
    return text
  }

  /// The time of a member, in seconds; nil if it is missing.
  func time(_ name: String, unit: Double = 1) throws(SpoolError) -> Double? {
    guard let member = member(name) else { return nil }
    guard case .number(let digits) = member.value, let number = Double(digits), number >= 0,
      number / unit <= ByteScanner.longestTime
    else { throw member.error(expected: "a time of at least 0, as a number") }
    return number / unit
  }

  /// The first of some members that is in 0…1; larger numbers are scores of another kind.
  func share(_ names: String...) -> Double? {
    for name in names {
      guard case .number(let digits)? = member(name)?.value, let number = Double(digits) else {
        continue
      }
      // Rounding may yield slightly more than 1.
      return number >= 0 && number <= 1.001 ? min(number, 1) : nil
    }
    return nil
  }

  /// A non-negative integer; nil if missing.
  func count(_ name: String) throws(SpoolError) -> Int? {
    guard let member = member(name) else { return nil }
    guard let count = member.value.integer, count >= 0 else {
      throw member.error(expected: "a whole number of at least 0")
    }
    return count
  }

  /// An error about this value. O(length of the file).
  func error(expected: String) -> SpoolError {
    let place = TextPlace(of: JSONPlace.offset(of: path, in: source.bytes), in: source.bytes)
    let shown = path.isEmpty ? "" : "\(path.shown) is "
    return source.error(
      "\(shown)\(PrintableText.shown(value.compact)), expected \(expected)", at: place)
  }
}

extension JSONNode {
  /// Reads a whole file. O(n).
  init(_ source: SourceText) throws(SpoolError) {
    do {
      value = try JSONReader.value(of: source.bytes, depthLimit: Self.depthLimit).value
    } catch {
      throw source.error(
        "found \(error.found), expected \(error.expected)",
        at: TextPlace(line: error.line, column: error.column))
    }
    path = []
    self.source = source
  }
}

/// Finds the location of a value in valid JSON text, for error messages.
enum JSONPlace {
  /// The offset of the value at a path, or of its deepest existing ancestor. O(n).
  static func offset(of path: [JSONStep], in bytes: [UInt8]) -> Int {
    /// The steps to the value that comes next.
    var steps: [JSONStep] = []
    var isName = false
    var found = (depth: 0, offset: 0)
    var position = 0
    while position < bytes.count {
      let start = position
      position += 1
      switch bytes[start] {
      case UInt8(ascii: ":"), 0x09, 0x0a, 0x0d, 0x20: continue
      case UInt8(ascii: ","):
        if case .index(let index)? = steps.last {
          steps[steps.count - 1] = .index(index + 1)
        } else {
          isName = true
        }
        continue
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        steps.removeLast()
        isName = false
        continue
      case UInt8(ascii: "\""):
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
          position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
        if isName {
          // With escapes unresolved.
          let name = String(decoding: bytes[start + 1..<position - 1], as: UTF8.self)
          steps[steps.count - 1] = .name(name)
          isName = false
          continue
        }
      case UInt8(ascii: "{"), UInt8(ascii: "["): break
      default:
        while position < bytes.count, !",]} \t\r\n".utf8.contains(bytes[position]) { position += 1 }
      }
      // The last of duplicates counts.
      if steps.count >= found.depth, path.starts(with: steps) { found = (steps.count, start) }
      if bytes[start] == UInt8(ascii: "{") {
        steps.append(.name(""))
        isName = true
      } else if bytes[start] == UInt8(ascii: "[") {
        steps.append(.index(0))
      }
    }
    return found.offset
  }
}

/// A step of a JSON path.
enum JSONStep: Hashable, Sendable {
  /// A member of an object; the last of duplicates.
  case name(String)
  /// An item of a list, from 0.
  case index(Int)
}

extension [JSONStep] {
  /// The path for messages: `segments[2].start`.
  var shown: String {
    var text = ""
    for step in self {
      switch step {
      case .name(let name): text += (text.isEmpty ? "" : ".") + PrintableText.shown(name)
      case .index(let index): text += "[\(index)]"
      }
    }
    return text
  }
}

/// JSON formatted for people and line-based comparison: each member of the outermost object, and
/// each item of its lists, on a line of its own.
enum JSONLayout {
  /// An object's members in the given order, without nil ones. O(n).
  static func text(_ members: KeyValuePairs<String, JSONValue?>) -> String {
    let written = members.compactMap { name, value in
      value.map { "\(JSONString.quoted(name)): \(text(of: $0))" }
    }
    return "{\n  " + written.joined(separator: ",\n  ") + "\n}\n"
  }

  private static func text(of value: JSONValue) -> String {
    guard let items = value.list, !items.isEmpty else { return value.compact }
    return "[\n    " + items.map(\.compact).joined(separator: ",\n    ") + "\n  ]"
  }
}
