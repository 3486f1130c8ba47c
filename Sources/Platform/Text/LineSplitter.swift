/// Cuts what a program or a server writes into lines, as it comes.
package struct LineSplitter {
  private var rest: [UInt8] = []
  private let limit: Int

  /// - Parameter limit: the most bytes of a line.
  package init(limit: Int = 16 << 10) { self.limit = limit }

  /// Takes the next bytes. O(n).
  /// - Returns: the lines that they complete, without their ends; nil if one is longer than the limit.
  package mutating func take(_ bytes: RawSpan) -> [[UInt8]]? {
    unsafe bytes.withUnsafeBytes { unsafe rest.append(contentsOf: $0) }
    var parts = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest = parts.popLast().map(Array.init) ?? []
    guard rest.count <= limit, parts.allSatisfy({ $0.count <= limit }) else { return nil }
    return parts.map(Array.init)
  }

  /// The last line, if no end of a line came behind it.
  package var last: [UInt8]? { rest.isEmpty ? nil : rest }
}
