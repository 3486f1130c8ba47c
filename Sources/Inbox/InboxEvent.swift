/// What a look at the inbox found.
enum InboxEvent: Hashable {
  /// Something is there that was not, or that was something else: look at it.
  case found(InboxPath, FileStamp)
  /// Something is there no longer.
  case gone(InboxPath)
  /// Somebody has written to a file and has not closed it since.
  case written(InboxPath)
  /// Whoever has written to a file has closed it.
  case closed(InboxPath)
  /// Events were lost: nothing is known of writers any more.
  case writersLost
  /// What is left alone for its name for too long is this now.
  case overlooked(OverlookedFiles)
  /// The inbox cannot be reached. What was in it may well come back with it.
  case inboxLost(InboxError)
  /// The inbox can be reached again.
  case inboxBack
  /// A folder cannot be looked through.
  case trouble(InboxError)
}
