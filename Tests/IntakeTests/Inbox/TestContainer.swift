@testable import Intake
import Platform

/// The smallest container that declares its length: the head of RIFF, then any bytes.
enum TestContainer {
  /// A whole one.
  static func bytes(byteCount: Int = 4000) -> [UInt8] {
    head(byteCount: byteCount) + [UInt8](repeating: 0x55, count: byteCount - 8)
  }

  /// Its first eight bytes.
  static func head(byteCount: Int) -> [UInt8] {
    let length = UInt32(byteCount - 8)
    return Array("RIFF".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
  }

  /// Compares the declared length with the file's.
  static func verdict(_ file: borrowing ArrivedFile) -> ContainerVerdict {
    guard let head = try? file.head(count: 8), head.count == 8, head.starts(with: "RIFF".utf8)
    else {
      return .incomplete("there is no head")
    }
    let declared = head[4...].reversed().reduce(0) { $0 << 8 | Int64($1) } + 8
    return declared <= file.stamp.byteCount
      ? .whole : .incomplete("\(file.stamp.byteCount) of \(declared) bytes are there")
  }
}
