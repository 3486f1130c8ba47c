/// The time stamps that receipts wait for. Every method may be called from any thread and is durable
/// on return.
public protocol StampQueue: Sendable {
  /// Notes that receipts wait: one stamp for each receipt and authority, however often it is noted.
  /// What waits for another receipt at the same path is dropped, for that receipt is no more.
  func awaitStamps(_ stamps: [AwaitedStamp]) throws(StoreError)

  /// All that wait, those that are due first at the front. O(n).
  func awaitedStamps() throws(StoreError) -> [AwaitedStamp]

  /// When the next one is due, in seconds since 1970; nil where none waits.
  func nextStampAttempt() throws(StoreError) -> Double?

  /// Keeps the answer that an authority gave, until it is in its place.
  /// - Returns: false where the stamp does not wait any more.
  func keep(_ reply: [UInt8], for stamp: AwaitedStamp) throws(StoreError) -> Bool

  /// Notes that an attempt came to nothing.
  /// - Parameters:
  ///   - attempts: how often it was tried by now.
  ///   - attempt: when it is tried again, in seconds since 1970.
  ///   - isForAll: whether all others that want an answer of the same authority wait as long.
  func postpone(
    _ stamp: AwaitedStamp, after attempts: Int, because trouble: String, until attempt: Double,
    isForAll: Bool
  ) throws(StoreError)

  /// Strikes one whose answer is in its place.
  func settle(_ stamp: AwaitedStamp) throws(StoreError)

  /// Drops all that waits for the receipt at an absolute path. - Returns: how many there were.
  func forgetStamps(ofReceipt path: String) throws(StoreError) -> Int

  /// Calls `body`, while no other process and no other thread does the same.
  /// - Returns: false, without a call, where somebody else is at it.
  func whileStamping(_ body: () -> Void) throws(StoreError) -> Bool
}
