import Glibc

/// The end of what a program wrote to its standard error.
struct ComplaintTail {
  private var bytes: [UInt8] = []
  private static let kept = 8192

  /// Reads what there is now.
  /// - Returns: whether more may come.
  @discardableResult mutating func drain(_ descriptor: Int32) -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    // Who writes faster than this reads must not keep it here.
    for _ in 0..<64 {
      let count = unsafe read(descriptor, &piece, piece.count)
      guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
      bytes += piece.prefix(count)
      if bytes.count > 4 * Self.kept { bytes.removeFirst(bytes.count - Self.kept) }
    }
    return true
  }

  /// What the program wrote of the last thing that it was at.
  var lines: [String] {
    let all = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    let begin = all.lastIndex(of: ComplaintBoundary.line).map { $0 + 1 } ?? 0
    return Array(all[begin...])
  }

  /// The last lines as one, for the reason of an error; empty where there are none.
  var reason: String {
    // What is said twice in a row is said once.
    let told = lines.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
    let tail = told.suffix(6).map { String($0.prefix(400)) }.joined(separator: " | ")
    return tail.isEmpty ? "" : "; the end of what it wrote: \(tail)"
  }
}
