/// Finds where in a text of JSON a value stands, so that an error about what it means can say where
/// it is. The text was read before, and is sound.
struct JSONPlace {
  private let bytes: [UInt8]
  private var position = 0

  /// The offset of the value at the end of a path; the offset of what is on the way where the path
  /// leads nowhere. O(n).
  static func offset(of path: [JSONStep], in bytes: [UInt8]) -> Int {
    var place = JSONPlace(bytes: bytes)
    place.skipFiller()
    for step in path { place.enter(step) }
    return place.position
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Spaces, and what parts values.
  private mutating func skipFiller() {
    while let next, " \t\r\n,:".utf8.contains(next) { position += 1 }
  }

  /// From the beginning of a list or an object to the beginning of one of its values.
  private mutating func enter(_ step: JSONStep) {
    let start = position
    guard next == UInt8(ascii: "{") || next == UInt8(ascii: "[") else { return }
    let isObject = next == UInt8(ascii: "{")
    position += 1
    var found: Int?
    var count = 0
    skipFiller()
    while let byte = next, byte != UInt8(ascii: "]"), byte != UInt8(ascii: "}") {
      var isWanted = step == .index(count)
      if isObject {
        let name = takeText()
        isWanted = step == .name(name)
        skipFiller()
      }
      if isWanted { found = position }
      skipValue()
      skipFiller()
      count += 1
    }
    position = found ?? start
  }

  /// The text that begins here; one with escapes may come out another than it is.
  private mutating func takeText() -> String {
    let start = position + 1
    skipText()
    return String(decoding: bytes[start..<max(start, position - 1)], as: UTF8.self)
  }

  private mutating func skipText() {
    position += 1
    while let byte = next, byte != UInt8(ascii: "\"") {
      position += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    position += 1
  }

  private mutating func skipValue() {
    var depth = 0
    repeat {
      switch next {
      case UInt8(ascii: "\""): skipText()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
      case nil: return
      default:
        while let byte = next, !",]}".utf8.contains(byte), byte != UInt8(ascii: "\"") {
          position += 1
          if depth > 0, byte == UInt8(ascii: ":") || byte == 0x20 { break }
        }
      }
      if depth > 0 { skipFiller() }
    } while depth > 0
  }
}
