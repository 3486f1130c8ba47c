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

  /// Takes away what lies there of time stamps of another receipt than this one, which took its
  /// place; what somebody else put there stays unless files are replaced, and is found not to fit when
  /// it is checked.
  /// - Parameter digest: of the receipt that lies in its place now.
  func withdrawOthers(than digest: Digest) {
    for (index, token) in TimeStampNames.tokens(of: receipt).enumerated() {
      let path = folder + "/" + token
      if index < testimony.authorities.count {
        let content = Self.content(of: digest, by: testimony.authorities[index].url)
        if (try? testimony.custody.isPublished(content, at: path)) == true { continue }
      }
      // The token first: without it, the others say nothing.
      for path in Self.files(of: path) {
        try? testimony.custody.withdraw(path, isReplacing: testimony.isReplacing)
      }
    }
  }

  /// The paths of all files that time stamps of a receipt can be in.
  static func files(of receipt: String, in folder: String) -> [String] {
    TimeStampNames.tokens(of: receipt).flatMap { files(of: folder + "/" + $0) }
  }

  /// The token, and what lies beside it.
  private static func files(of token: String) -> [String] {
    [token, TimeStampNames.checksums(of: token), TimeStampNames.certificates(of: token)]
  }
}
