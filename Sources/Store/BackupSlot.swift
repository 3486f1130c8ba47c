/// A copy of the database that the store keeps, as a look at it found it.
public struct BackupSlot: Hashable, Sendable, Codable {
  /// 1 for the newest.
  public let number: Int
  /// Where it lies.
  public let path: String
  /// When it was written, in seconds since 1970.
  public let writtenAt: Double
  /// Its length in bytes.
  public let byteCount: Int
  /// Why it cannot be restored; nil where it was looked through and can be.
  public let fault: String?
}
