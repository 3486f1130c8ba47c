import Hashing
import PipelineEngine
import PipelineModel
import Proof

/// Where it is known which time stamps a receipt ought to have: it asks for those that are not
/// there, and takes away those of a receipt that is no more.
struct StampDesk {
  private let testimony: Testimony
  private let receipt: String
  /// Where tokens lie: beside the receipt, and of one in a bag, outside of the payload.
  private let folder: String

  /// - Parameter receipt: the receipt's name.
  init(_ testimony: Testimony, receipt: String) {
    self.testimony = testimony
    self.receipt = receipt
    let content = testimony.enclosure.map { $0.content.utf8.count + 1 } ?? 0
    folder = String(testimony.folder.dropLast(content))
  }

  /// The name under which a token is published: whose it is, and of which receipt.
  static func content(of receipt: Digest, by url: String) -> Digest {
    SHA256.digest(of: "spool-time-stamp-1\n\(receipt)\n\(url)\n")
  }

  /// What the receipt waits for: a token of every authority that is not in its place.
  /// - Parameter digest: of the receipt.
  func awaited(_ digest: Digest) throws(StoreError) -> [AwaitedStamp] {
    var awaited: [AwaitedStamp] = []
    for (index, authority) in testimony.authorities.enumerated() {
      let token = folder + "/" + TimeStampNames.token(of: receipt, number: index + 1)
      let content = Self.content(of: digest, by: authority.url)
      if try testimony.custody.isPublished(content, at: token) { continue }
      awaited.append(
        AwaitedStamp(
          receipt: digest, path: testimony.folder + "/" + receipt, authority: authority,
          token: token, since: testimony.now))
    }
    return awaited
  }

  /// Takes the tokens away that lie there: they are of a receipt that is about to be replaced. One
  /// that somebody else put there stays, and is found not to fit when it is checked.
  func withdrawAll() {
    for token in TimeStampNames.tokens(of: receipt) {
      // The token first: without it, the others say nothing.
      for name in [
        token, TimeStampNames.checksums(of: token), TimeStampNames.certificates(of: token),
      ] {
        try? testimony.custody.withdraw("\(folder)/\(name)", isReplacing: false)
      }
    }
  }
}
