/// The address of a place on a server, without a query: `https://cloud.example:8443/dav/anna`.
package struct WebAddress: Hashable, Sendable {
  package let scheme: String
  package let user: String?
  /// As libcurl takes it: an IPv6 address in brackets.
  package private(set) var host: String
  package let port: Int?
  /// The names of the path, decoded.
  package private(set) var names: [String]

  /// Reads an address.
  /// - Parameter schemes: those that are allowed.
  package init(_ text: String, schemes: [String]) throws(SpoolError) {
    let allowed = schemes.map { $0 + "://" }
    guard let start = allowed.first(where: { text.lowercased().hasPrefix($0) }) else {
      throw Self.refusal(text, "it must begin with \(allowed.joined(separator: " or "))")
    }
    scheme = String(start.dropLast(3))
    let rest = text.dropFirst(start.count)
    let authority = rest.prefix { $0 != "/" }
    var place = authority
    if let mark = authority.lastIndex(of: "@") {
      let name = authority[..<mark]
      place = authority[authority.index(after: mark)...]
      // The message must not repeat what may be a password.
      if name.contains(":") {
        throw SpoolError(
          "an address holds a password", reason: "addresses are shown in logs and errors",
          advice: "write the user alone, and name the place of the password in a key of its own")
      }
      guard let user = Self.decoded(name), !user.isEmpty else {
        throw Self.refusal(text, "it has no valid user")
      }
      self.user = user
    } else {
      user = nil
    }
    if rest.contains(where: { "?#".contains($0) }) {
      throw Self.refusal(text, "it may have no ? and no #: write %3F and %23")
    }
    let end = place.hasPrefix("[") ? place.firstIndex(of: "]").map(place.index(after:)) : nil
    let hostEnd = end ?? place.firstIndex(of: ":") ?? place.endIndex
    host = place[..<hostEnd].lowercased()
    let isBracketed = end != nil
    guard
      !host.isEmpty, host.utf8.allSatisfy({ Self.mayName($0, isBracketed: isBracketed) })
    else { throw Self.refusal(text, "it names no valid server") }
    let number = place[hostEnd...]
    if number.isEmpty {
      port = nil
    } else {
      guard number.hasPrefix(":"), let port = UInt16(number.dropFirst()), port > 0 else {
        throw Self.refusal(text, "its port is no number from 1 to 65535")
      }
      self.port = Int(port)
    }
    names = []
    for name in rest.dropFirst(authority.count).split(separator: "/") {
      guard let name = Self.decoded(name), ![".", ".."].contains(name), !name.contains("/") else {
        throw Self.refusal(text, "its path has the invalid name \(name)")
      }
      names.append(name)
    }
  }

  /// A place beneath this one.
  package func appending(_ names: [String]) -> WebAddress {
    var address = self
    address.names += names
    return address
  }

  /// The same place on the server whose name begins with one more label.
  package func prefixed(_ label: String) -> WebAddress {
    var address = self
    address.host = "\(label).\(host)"
    return address
  }

  /// Scheme, server and port: where a request with credentials may go.
  package var origin: String { "\(scheme)://\(server)" }

  /// The server, with its port if that is given.
  package var server: String { host + (port.map { ":\($0)" } ?? "") }

  /// The path, percent-encoded; `/` for the root.
  package var path: String { "/" + names.map(Self.encoded).joined(separator: "/") }

  /// A name with everything but the unreserved characters of RFC 3986 percent-encoded. O(n).
  package static func encoded(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      if isUnreserved(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Text with its percent escapes decoded; nil for a bad escape, a control character, or what is no
  /// UTF-8. O(n).
  package static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, digits.first != "+", let value = UInt8(digits, radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || "-._~".utf8.contains(byte)
  }

  private static func mayName(_ byte: UInt8, isBracketed: Bool) -> Bool {
    isLetterOrDigit(byte) || (isBracketed ? "[]:.%" : "-._").utf8.contains(byte)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private static func refusal(_ text: String, _ reason: String) -> SpoolError {
    SpoolError("use the address", text, reason: reason, cause: .input, kind: .invalid)
  }
}

extension WebAddress: CustomStringConvertible {
  /// Percent-encoded, without the user.
  package var description: String { origin + (names.isEmpty ? "" : path) }
}
