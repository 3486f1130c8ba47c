internal import Glibc
internal import Platform

/// Random access to a container file. Bytes beyond its end or unreadable ones are zero.
struct ContainerBytes: ~Copyable {
  private let file: OpenFile
  /// Without what was never written at the end.
  let byteCount: Int
  /// The length of a hole that ends the file, if it is too long for silence: room that was reserved.
  let unwrittenByteCount: Int

  /// The longest hole at the end that may be silence: two hours of two channels with 32 bits at 48 kHz
  /// have less.
  private static let longestHole = 4 << 30

  /// Opens the file at `path`, which may be a pipe without a writer.
  init(path: String) throws(SystemError) {
    let file = try FileOperations.uncounted.open(path, O_RDONLY | O_NONBLOCK)
    let byteCount = Int(try file.stamp.byteCount)
    self.init(file, byteCount: byteCount)
  }

  /// Takes an open file of that length.
  init(_ file: consuming OpenFile, byteCount: Int) {
    let end = file.endOfData(byteCount, beforeHolesOver: Self.longestHole)
    self.file = file
    self.byteCount = end
    unwrittenByteCount = byteCount - end
  }

  /// Names the file in errors.
  var path: String { file.path }

  /// The open file; it is closed with this value.
  var descriptor: Int32 { file.descriptor }

  /// Another descriptor of the same file.
  func copy() throws(SpoolError) -> ContainerBytes {
    ContainerBytes(try file.copy(), byteCount: byteCount + unwrittenByteCount)
  }

  /// Gives the open file away.
  consuming func takeFile() -> OpenFile { file }

  func bytes(at offset: Int, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe bytes.withUnsafeMutableBytes { _ = try? unsafe file.fill($0, at: offset) }
    return bytes
  }

  /// Four characters, with question marks for non-ASCII ones.
  func word(at offset: Int) -> String {
    String(
      String.UnicodeScalarView(
        bytes(at: offset, count: 4).map {
          Unicode.Scalar((0x20..<0x7f).contains($0) ? $0 : 0x3f)
        }))
  }

  /// A big-endian number; saturates at `Int.max`.
  func big(at offset: Int, count: Int) -> Int { Self.number(bytes(at: offset, count: count)) }

  /// A little-endian number.
  func little(at offset: Int, count: Int) -> Int {
    Self.number(bytes(at: offset, count: count).reversed())
  }

  private static func number(_ bytes: some Collection<UInt8>) -> Int {
    Int(clamping: UInt64(bigEndianBytes: bytes))
  }
}
