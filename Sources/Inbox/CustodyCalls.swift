/// One call by which custody changes a folder outside the store, named before it is made.
enum CustodyCall: Hashable, Sendable {
  case makeFolder(InboxPath)
  case create(InboxPath)
  case write(InboxPath)
  case flush(InboxPath)
  case move(from: InboxPath, to: InboxPath)
  case replace(from: InboxPath, to: InboxPath)
  case remove(InboxPath)
  case flushFolder(InboxPath)
}

/// Every call by which custody changes a folder outside the store: the one place where a test can
/// see their order, and make the n-th of them fail.
struct CustodyCalls: Sendable {
  /// Called before each call; what it throws takes the call's place.
  let willPerform: @Sendable (CustodyCall) throws(SystemError) -> Void

  /// The system's own calls.
  static let system = CustodyCalls { _ throws(SystemError) in }
}
