internal import Synchronization

/// How custody stands to its inbox.
struct InboxTenure {
  /// Whether the inbox is to be this custody's alone. Where it is not, others may be at it too: each
  /// step takes the folder's lock for as long as it lasts.
  var isWanted = false
  /// The claim to the folder that was there last; nil where another process has it.
  var claim: InboxClaim?
}

extension Custody {
  /// Makes the inbox this custody's alone, until it ends. From then on nothing is done in the inbox
  /// without it, also not in a folder that comes in the place of this one.
  /// - Throws: where another process watches the folder, by whatever name and with whatever store.
  public func claimInbox() throws(CustodyError) {
    tenure.withLock { $0.isWanted = true }
    let folder = try inboxFolder()
    _ = try lockInbox(folder)
  }

  /// The open inbox, which nobody else has claimed where it is to be this one's alone.
  func ownFolder() throws(CustodyError) -> CustodyFolder {
    let folder = try inboxFolder()
    if tenure.withLock(\.isWanted) { _ = try lockInbox(folder) }
    return folder
  }

  /// The open inbox, whoever has claimed it.
  /// - Throws: of kind `missing` where the folder at its path is another one.
  func inboxFolder() throws(CustodyError) -> CustodyFolder {
    guard isInPlace(inbox) else {
      throw CustodyError(
        "open the inbox", inbox, reason: "it is not where it was", advice: "mount it again",
        kind: .missing)
    }
    return try CustodyFolder(at: inbox, calls: calls)
  }

  /// Makes sure that nobody else is at the inbox's folder: by the claim to it, or by a lock for
  /// as long as the returned descriptor lives.
  func lockInbox(_ folder: borrowing CustodyFolder) throws(CustodyError) -> Descriptor {
    let opened = try folder.opened()
    let isClaimed = try tenure.withLock { (tenure) throws(CustodyError) in
      guard tenure.isWanted else { return false }
      if tenure.claim?.isFor(opened) == true { return true }
      tenure.claim = nil
      tenure.claim = try InboxClaim(try folder.opened(), path: inbox)
      return true
    }
    return isClaimed ? opened : try folder.lock()
  }
}
