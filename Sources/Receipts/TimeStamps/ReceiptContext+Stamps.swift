import PipelineEngine
import PipelineModel
import Platform
import Proof
import Store

/// The time stamps of a receipt: requests missing ones and removes those of replaced receipts.
extension ReceiptContext {
  /// The folder of tokens: beside the receipt, or outside a bag's payload.
  private var stampFolder: String {
    String(folder.dropLast(enclosure.map { $0.content.utf8.count + 1 } ?? 0))
  }

  /// The name under which a token is published: its authority and receipt.
  static func stampContent(of receipt: Digest, by url: String) -> Digest {
    SHA256.digest(of: "spool-time-stamp-1\n\(receipt)\n\(url)\n")
  }

  /// The missing tokens, one per authority.
  /// - Parameters:
  ///   - receipt: the receipt's name.
  ///   - digest: of the receipt.
  func awaitedStamps(of receipt: String, _ digest: Digest) throws(SpoolError) -> [AwaitedStamp] {
    var awaited: [AwaitedStamp] = []
    for (index, authority) in authorities.enumerated() {
      let token = stampFolder + "/" + TimeStampNames.token(of: receipt, number: index + 1)
      let content = Self.stampContent(of: digest, by: authority.url)
      if try exportFolder.isPublished(content, at: token) { continue }
      awaited.append(
        AwaitedStamp(
          receipt: digest, path: folder + "/" + receipt, authority: authority,
          token: token, since: now))
    }
    return awaited
  }

  /// Removes time stamps of a receipt that this one replaced. Foreign files stay unless files are
  /// replaced, and fail verification.
  /// - Parameters:
  ///   - receipt: the receipt's name.
  ///   - digest: of the present receipt.
  func removeStamps(of receipt: String, otherThan digest: Digest) {
    for (index, token) in TimeStampNames.tokens(of: receipt).enumerated() {
      let path = stampFolder + "/" + token
      if index < authorities.count {
        let content = Self.stampContent(of: digest, by: authorities[index].url)
        if (try? exportFolder.isPublished(content, at: path)) == true { continue }
      }
      // The token first: the others are meaningless without it.
      for path in Self.stampFiles(of: path) {
        try? exportFolder.withdraw(path, isReplacing: isReplacing)
      }
    }
  }

  /// The paths of all possible time stamp files of a receipt.
  static func stampFiles(of receipt: String, in folder: String) -> [String] {
    TimeStampNames.tokens(of: receipt).flatMap { stampFiles(of: folder + "/" + $0) }
  }

  /// The token and its companions.
  private static func stampFiles(of token: String) -> [String] {
    [token, TimeStampNames.checksums(of: token), TimeStampNames.certificates(of: token)]
  }
}
