/// Bytes that somebody else chose, as text from which every one of them can be read again.
package enum EscapedText {
  /// Text as it is; control characters, percent signs and bytes that are no text as `%0A`. O(n).
  package static func of(_ bytes: some Collection<UInt8>) -> String {
    var result = ""
    var rest = Array(bytes)[...]
    while let first = rest.first {
      var parser = Unicode.UTF8.ForwardParser()
      var iterator = rest.makeIterator()
      if case .valid(let encoded) = parser.parseScalar(from: &iterator), first >= 0x20,
        first != 0x7f, first != UInt8(ascii: "%")
      {
        result.unicodeScalars.append(Unicode.UTF8.decode(encoded))
        rest.removeFirst(encoded.count)
      } else {
        let digits = String(first, radix: 16, uppercase: true)
        result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
        rest.removeFirst()
      }
    }
    return result
  }
}
