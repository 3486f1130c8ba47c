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

  /// What lseek(2) searches for: SEEK_DATA and SEEK_HOLE, which Swift's module of the C library lacks.
  private static let (seekData, seekHole): (CInt, CInt) = (3, 4)

  /// Opens the file at `path`, which may be a pipe without a writer.
  init(path: String) throws(SystemError) {
    let file = try FileOperations.uncounted.open(path, O_RDONLY | O_NONBLOCK)
    let byteCount = Int(try file.stamp.byteCount)
    self.init(file, byteCount: byteCount)
  }

  /// Takes an open file of that length.
  init(_ file: consuming OpenFile, byteCount: Int) {
    let end = Self.endOfData(of: file, byteCount)
    self.file = file
    self.byteCount = end
    unwrittenByteCount = byteCount - end
  }

  /// Where a long hole begins that ends the file, else the end. O(holes) calls of the kernel.
  private static func endOfData(of file: borrowing OpenFile, _ byteCount: Int) -> Int {
    // Where the kernel knows no holes, all is data.
    guard byteCount > longestHole,
      lseek(file.descriptor, byteCount - longestHole, Self.seekData) < 0, errno == ENXIO
    else { return byteCount }
    var end = 0
    for _ in 0..<100_000 {
      let start = lseek(file.descriptor, end, Self.seekData)
      guard start >= 0 else { return end }
      end = lseek(file.descriptor, start, Self.seekHole)
      guard end > start else { break }
    }
    return byteCount
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
