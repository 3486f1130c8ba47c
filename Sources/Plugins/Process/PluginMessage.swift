import Glibc
package import Platform

/// One protocol message: a line of JSON, and a binary payload.
package struct PluginMessage: Hashable, Sendable {
  /// Maximum bytes of a line.
  static let longestLine = 1 << 20
  /// Maximum bytes of a payload.
  static let mostBytes = 64 << 20

  package let type: String
  /// The line's JSON object.
  package let members: JSONValue
  package var payload: [UInt8]

  package init(_ type: String, _ members: [String: JSONValue] = [:], payload: [UInt8] = []) {
    self.type = type
    var members = members
    members["type"] = .text(type)
    if !payload.isEmpty { members["bytes"] = .integer(payload.count) }
    self.members = .object(members)
    self.payload = payload
  }

  package init(type: String, members: JSONValue, payload: [UInt8]) {
    self.type = type
    self.members = members
    self.payload = payload
  }

  /// A member's number; nil if absent.
  func number(_ name: String) -> Double? { members[name]?.number }

  /// A member's flag; false if absent.
  func flag(_ name: String) -> Bool { members[name] == .boolean(true) }

  /// The line, with its line feed.
  package var line: [UInt8] { Array(members.compact.utf8) + [10] }
}

/// A message being sent; line and payload are written without concatenation.
package struct OutgoingMessage {
  private let line: [UInt8]
  private let payload: [UInt8]
  private var sent = 0

  package init(_ message: PluginMessage) {
    line = message.line
    payload = message.payload
  }

  package var isSent: Bool { sent == line.count + payload.count }

  /// Writes as much as the pipe accepts.
  /// - Returns: the number of bytes; negative with `errno` if none could be written.
  package mutating func write(to descriptor: Int32) -> Int {
    let (inLine, inPayload) = (min(sent, line.count), max(0, sent - line.count))
    let count = unsafe line.withUnsafeBytes { head -> Int in
      unsafe payload.withUnsafeBytes { tail -> Int in
        var parts: [iovec] = unsafe []
        if let base = head.baseAddress, inLine < head.count {
          unsafe parts.append(
            iovec(
              iov_base: UnsafeMutableRawPointer(mutating: base + inLine),
              iov_len: head.count - inLine))
        }
        if let base = tail.baseAddress, inPayload < tail.count {
          unsafe parts.append(
            iovec(
              iov_base: UnsafeMutableRawPointer(mutating: base + inPayload),
              iov_len: tail.count - inPayload))
        }
        return unsafe writev(descriptor, &parts, Int32(parts.count))
      }
    }
    sent += max(0, count)
    return count
  }

  /// Writes a whole message to a pipe that blocks; false if its reader has closed it.
  @discardableResult
  static func write(_ message: PluginMessage, to descriptor: Int32) -> Bool {
    var outgoing = OutgoingMessage(message)
    while !outgoing.isSent {
      if outgoing.write(to: descriptor) < 0, errno != EINTR { return false }
    }
    return true
  }
}

/// Splits incoming bytes into messages.
package struct MessageBuffer: ~Copyable {
  private var bytes = [UInt8](repeating: 0, count: Self.portion)
  /// Unconsumed bytes: `bytes[start..<end]`.
  private var start = 0
  private var end = 0
  /// A parsed line whose payload is incomplete.
  private var heading: (type: String, members: JSONValue, byteCount: Int)?
  private static let portion = 1 << 18

  /// The input is not a message.
  package struct Garbage: Error, Hashable, Sendable {
    /// The start of the input, printable.
    package let shown: String
    /// Advice for the plugin's author.
    package let advice: String

    init(
      _ shown: String,
      advice: String = "print for people to standard error, not to standard output"
    ) {
      self.shown = shown
      self.advice = advice
    }
  }

  package init() {}

  /// Whether all input is consumed.
  var isEmpty: Bool { start == end && heading == nil }

  /// Reads available bytes.
  /// - Returns: the number of bytes; 0 at the end, negative with `errno` if none are available.
  package mutating func fill(from descriptor: Int32) -> Int {
    makeRoom()
    let end = end
    let count = unsafe bytes.withUnsafeMutableBytes { buffer -> Int in
      guard let base = buffer.baseAddress else { return -1 }
      return unsafe read(descriptor, base + end, buffer.count - end)
    }
    self.end += max(0, count)
    return count
  }

  /// The next complete message; nil if none has arrived. O(its length).
  package mutating func next() throws(Garbage) -> PluginMessage? {
    if heading == nil { heading = try nextHeading() }
    guard let heading else { return nil }
    guard end - start >= heading.byteCount else { return nil }
    self.heading = nil
    let payload = Array(bytes[start..<start + heading.byteCount])
    start += heading.byteCount
    return PluginMessage(type: heading.type, members: heading.members, payload: payload)
  }

  /// The incomplete input at the end of the stream.
  var rest: Garbage {
    let line = bytes[start..<end]
    let shown = Self.shown(line)
    let isMessage = (try? JSONReader.value(of: Array(line), depthLimit: 64).value)?["type"] != nil
    guard isMessage else { return Garbage(shown) }
    return Garbage("\(shown), whose line does not end", advice: "end each message with a line feed")
  }

  private mutating func nextHeading() throws(Garbage) -> (
    type: String, members: JSONValue, byteCount: Int
  )? {
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
    return (type, members, byteCount)
  }

  /// Makes room for the next read, or for the rest of a payload.
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

  /// The start of invalid input, printable.
  private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes.prefix(60), as: UTF8.self)
    let calm = text.map { $0.isASCII && !($0.asciiValue.map { $0 < 32 } ?? true) ? $0 : "·" }
    return "\"\(String(calm))\(bytes.count > 60 ? "…" : "")\""
  }
}
