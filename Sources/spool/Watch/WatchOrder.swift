import Watching

/// What a watch was told to do, read and checked.
struct WatchOrder {
  /// The inboxes, each with its pipeline.
  let inboxes: [InboxSettings]
  /// The store's folder as it was given; nil where it goes without saying.
  let store: String?
  /// How many recordings are worked on at once.
  let jobs: Int
}
