import Platform

/// The bytes of a file of a model, read from front to back. Numbers are little-endian.
struct ModelBytes {
  private let path: String
  private let bytes: [UInt8]
  private var position = 0

  init(of path: String) throws(SpoolError) {
    self.path = path
    do throws(SystemError) {
      bytes = try FileOperations.system.bytes(following: path)
    } catch {
      throw Self.error(path, error.words)
    }
  }

  /// Says that the file is not what it should be.
  func error(_ why: String) -> SpoolError { Self.error(path, why) }

  static func error(_ path: String, _ why: String) -> SpoolError {
    .acousticModel(
      path, why,
      advice:
        "set engine: pocketsphinx, which takes other kinds of model too, or name another model")
  }

  /// The next so many bytes.
  mutating func take(_ count: Int) throws(SpoolError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= bytes.count - position else { throw error("it ends too early") }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// The next integers of 32 bits.
  mutating func integers(_ count: Int) throws(SpoolError) -> [Int] {
    try take(4 * count).withSpan { span in
      (0..<count).map { Int(Int32(bitPattern: Self.word(span, 4 * $0))) }
    }
  }

  /// The next integer of 32 bits.
  mutating func integer() throws(SpoolError) -> Int { try integers(1)[0] }

  /// The next integers of 16 bits.
  mutating func shorts(_ count: Int) throws(SpoolError) -> [Int] {
    try take(2 * count).withSpan { span in
      (0..<count).map {
        Int(Int16(bitPattern: UInt16(span[2 * $0]) | UInt16(span[2 * $0 + 1]) << 8))
      }
    }
  }

  /// The next numbers of single precision.
  mutating func floats(_ count: Int) throws(SpoolError) -> [Float] {
    try take(4 * count).withSpan { span in
      (0..<count).map { Float(bitPattern: Self.word(span, 4 * $0)) }
    }
  }

  /// The next text, which a zero ends.
  mutating func text() throws(SpoolError) -> String {
    guard let end = bytes[position...].firstIndex(of: 0) else { throw error("it ends too early") }
    defer { position = end + 1 }
    return String(decoding: bytes[position..<end], as: UTF8.self)
  }

  /// What has not been read yet.
  mutating func rest() throws(SpoolError) -> ArraySlice<UInt8> {
    try take(bytes.count - position)
  }

  /// Passes over what fills up to a multiple of four.
  mutating func alignToWords() { position = min(bytes.count, (position + 3) / 4 * 4) }

  /// Passes over the head of a file that begins with `s3`: lines up to `endhdr` and the mark of the
  /// byte order.
  mutating func passHead() throws(SpoolError) {
    let mark = Array("endhdr\n".utf8)
    let limit = min(bytes.count, 4096) - mark.count
    guard bytes.starts(with: Array("s3\n".utf8)), limit > 0,
      let place = (0..<limit).first(where: { bytes[$0..<$0 + mark.count].elementsEqual(mark) })
    else { throw error("it is no file of CMU Sphinx") }
    position = place + mark.count
    guard try integer() == 0x1122_3344 else { throw error("its bytes are in another order") }
  }

  private static func word(_ span: Span<UInt8>, _ place: Int) -> UInt32 {
    UInt32(span[place]) | UInt32(span[place + 1]) << 8 | UInt32(span[place + 2]) << 16
      | UInt32(span[place + 3]) << 24
  }
}

extension ArraySlice<UInt8> {
  fileprivate func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result { body(span) }
}
