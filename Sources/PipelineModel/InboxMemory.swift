/// Tells one store from another by what they know of an inbox: a store that is made anew in a mount
/// point where its disk is missing knows nothing of recordings that another has done.
public protocol InboxMemory: Sendable {
  /// The name that the store was given when it was made.
  func storeName() throws(StoreError) -> String

  /// Whether any recording of an inbox was taken in. O(log n).
  func hasNotes(ofInbox path: String) throws(StoreError) -> Bool
}
