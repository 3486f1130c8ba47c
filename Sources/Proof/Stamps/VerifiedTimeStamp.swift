/// A time stamp beside a receipt that is what it says.
public struct VerifiedTimeStamp: Hashable, Sendable {
  /// The token's name, from the receipt's folder.
  public let name: String
  /// What it says.
  public let stamp: TimeStamp
  /// The certificates that it was checked against, by their name from the receipt's folder; nil for
  /// those that the user named.
  public let certificates: String?
}
