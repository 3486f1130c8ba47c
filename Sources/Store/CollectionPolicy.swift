/// What may be freed.
public struct CollectionPolicy: Hashable, Sendable {
  /// How old a run must be, in seconds, before what only it needs may go; nil for 30 days, or, where
  /// `keptBytes` or `isSoundOnly` says how much, any age.
  public var age: Double?
  /// How many bytes of artifacts may stay: runs go, the least recent first, until no more are there.
  /// Nil for no such limit.
  public var keptBytes: Int?
  /// Whether only kept sound goes, which can be streamed again; checkpoints and all else stay.
  public var isSoundOnly = false

  /// For how long what was wanted or written is left alone, in seconds: a run that has just found it
  /// counts on it.
  public var grace: Double = 3600

  /// What no run of the last 30 days refers to.
  public init() {}

  /// 30 days, in seconds.
  public static let usualAge: Double = 30 * 86400

  /// The age that counts, in seconds.
  var effectiveAge: Double {
    age ?? (keptBytes == nil && !isSoundOnly ? Self.usualAge : 0)
  }
}
