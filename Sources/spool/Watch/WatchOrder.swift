import Watching

/// What a watch was told to do, read and checked.
struct WatchOrder {
  /// The inboxes, each with its pipeline, and how they are worked through.
  let settings: WatchSettings
  /// The store's folder as it was given; nil where it goes without saying.
  let store: String?
}
