internal import Hashing

/// The list of leaves as a file, which the article Quotes describes.
extension SampleTree {
  /// The longest list that is read, in bytes: a leaf for every second of a year.
  public static let maximumFileByteCount = 1 << 30

  private static let magic = Array("SPOOLSMP".utf8)
  private static let headerByteCount = 32

  /// How long the list of some sound's leaves is, in bytes.
  public static func fileByteCount(of extent: SampleExtent) -> Int {
    headerByteCount + 32 * extent.blockCount
  }

  /// The list, byte for byte.
  public var fileBytes: [UInt8] {
    func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      (0..<T.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> T($0 * 8)) }
    }
    let numbers = [1, extent.channels, extent.rate, extent.format.bits].map { UInt32($0) }
    return Self.magic + numbers.flatMap { bytes($0) } + bytes(UInt64(extent.frames))
      + leaves.flatMap(\.bytes)
  }

  /// Reads a list; nil for anything else.
  public init?(fileBytes: [UInt8]) {
    guard fileBytes.count >= Self.headerByteCount, fileBytes.starts(with: Self.magic) else {
      return nil
    }
    func number(_ range: Range<Int>) -> Int? {
      Int(exactly: fileBytes[range].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    guard number(8..<12) == 1, let channels = number(12..<16), let rate = number(16..<20),
      let format = number(20..<24).flatMap(SampleFormat.init(bits:)),
      let frames = number(24..<32),
      let extent = SampleExtent(format: format, rate: rate, channels: channels, frames: frames),
      fileBytes.count == Self.fileByteCount(of: extent)
    else { return nil }
    let leaves = stride(from: Self.headerByteCount, to: fileBytes.count, by: 32).compactMap {
      Digest(bytes: Array(fileBytes[$0..<$0 + 32]))
    }
    self.init(extent, leaves: leaves)
  }

  /// Reads the list in a file; nil where there is none.
  public init?(at path: String) {
    guard let bytes = try? SubjectFile.readWhole(path, limit: Self.maximumFileByteCount) else {
      return nil
    }
    self.init(fileBytes: bytes)
  }
}
