import Glibc
import JSONText

/// Bytes as they arrive, and the messages in them.
public struct MessageBuffer: ~Copyable {
  private var bytes = [UInt8](repeating: 0, count: Self.portion)
  /// What has arrived and was not taken yet: `bytes[start..<end]`.
  private var start = 0
  private var end = 0
  /// A line that was read, and waits for the bytes behind it.
  private var heading: Heading?
  private static let portion = 1 << 18

  private struct Heading {
    let type: String
    let members: JSONValue
    let byteCount: Int
  }

  /// What came is no message.
  public struct Garbage: Error, Hashable, Sendable {
    /// The beginning of it, fit to be shown.
    public let shown: String
    /// What its maker can do.
    public let advice: String

    init(
      _ shown: String,
      advice: String = "print for people to standard error, not to standard output"
    ) {
      self.shown = shown
      self.advice = advice
    }
  }

  /// An empty one.
  public init() {}

  /// Whether nothing is left that was not taken.
  var isEmpty: Bool { start == end && heading == nil }

  /// Reads what there is.
  /// - Returns: how many bytes; 0 at the end, negative with `errno` where there are none now.
  public mutating func fill(from descriptor: Int32) -> Int {
    makeRoom()
    let end = end
    let count = unsafe bytes.withUnsafeMutableBytes { buffer -> Int in
      guard let base = buffer.baseAddress else { return -1 }
      return unsafe read(descriptor, base + end, buffer.count - end)
    }
    self.end += max(0, count)
    return count
  }

  /// The message that has arrived whole; nil where none has. O(its length).
  public mutating func next() throws(Garbage) -> PluginMessage? {
    if heading == nil { heading = try nextHeading() }
    guard let heading else { return nil }
    guard end - start >= heading.byteCount else { return nil }
    self.heading = nil
    let payload = Array(bytes[start..<start + heading.byteCount])
    start += heading.byteCount
    return PluginMessage(type: heading.type, members: heading.members, payload: payload)
  }

  /// What stands where no message is, at the end.
  var rest: Garbage { Garbage(Self.shown(bytes[start..<end])) }

  private mutating func nextHeading() throws(Garbage) -> Heading? {
    let (start, end) = (start, end)
    let length = min(end - start, PluginMessage.longestLine)
    let found = unsafe bytes.withUnsafeBytes { buffer -> Int? in
      guard let base = buffer.baseAddress, let feed = unsafe memchr(base + start, 10, length) else {
        return nil
      }
      return unsafe UnsafeRawPointer(feed) - base
    }
    guard let found else {
      guard length < PluginMessage.longestLine else {
        throw Garbage(
          "a line without end",
          advice: "end each message with a line feed; a line has at most "
            + "\(PluginMessage.longestLine >> 20) MB, and what is longer goes behind it as bytes")
      }
      return nil
    }
    let line = bytes[start..<found]
    let members: JSONValue
    do throws(JSONSyntaxError) {
      members = try JSONReader.value(of: Array(line), depthLimit: 64).value
    } catch {
      guard line.first == UInt8(ascii: "{") else { throw Garbage(Self.shown(line)) }
      throw Garbage(
        "\(Self.shown(line)), \(error)",
        advice: "write each message as one line of JSON; NaN and Infinity are none")
    }
    guard let type = members["type"]?.text else {
      throw Garbage(Self.shown(line), advice: "give each message a type")
    }
    let byteCount = members["bytes"]?.integer ?? 0
    guard (0...PluginMessage.mostBytes).contains(byteCount) else {
      throw Garbage(
        "\(byteCount) bytes behind \"\(type)\"",
        advice: "let bytes say how many follow the line, at most \(PluginMessage.mostBytes)")
    }
    self.start = found + 1
    return Heading(type: type, members: members, byteCount: byteCount)
  }

  /// Room for a portion, or for all that a message still lacks.
  private mutating func makeRoom() {
    if start == end { (start, end) = (0, 0) }
    let wanted = max(Self.portion / 2, (heading?.byteCount ?? 0) - (end - start))
    guard bytes.count - end < wanted else { return }
    if start > 0 {
      let (start, end) = (start, end)
      unsafe bytes.withUnsafeMutableBytes { buffer in
        guard let base = buffer.baseAddress else { return }
        unsafe _ = memmove(base, base + start, end - start)
      }
      (self.start, self.end) = (0, end - start)
    }
    let missing = wanted - (bytes.count - end)
    if missing > 0 {
      bytes.append(contentsOf: repeatElement(0, count: max(missing, bytes.count)))
    }
  }

  /// The beginning of what is no message, fit to be shown.
  private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes.prefix(60), as: UTF8.self)
    let calm = text.map { $0.isASCII && !($0.asciiValue.map { $0 < 32 } ?? true) ? $0 : "·" }
    return "\"\(String(calm))\(bytes.count > 60 ? "…" : "")\""
  }
}
