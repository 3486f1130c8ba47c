import PipelineEngine
import PipelineModel
import Platform
import Proof
import Store

/// Determines the time stamps of a receipt: requests missing ones and removes those of replaced
/// receipts.
struct TimestampRequests {
  private let context: ReceiptContext
  private let receipt: String
  /// The folder of tokens: beside the receipt, or outside a bag's payload.
  private let folder: String

  ///
  /// - Parameter receipt: the receipt's name.
  init(_ context: ReceiptContext, receipt: String) {
    self.context = context
    self.receipt = receipt
    let content = context.enclosure.map { $0.content.utf8.count + 1 } ?? 0
    folder = String(context.folder.dropLast(content))
  }

  /// The name under which a token is published: its authority and receipt.
  static func content(of receipt: Digest, by url: String) -> Digest {
    SHA256.digest(of: "spool-time-stamp-1\n\(receipt)\n\(url)\n")
  }

  /// The missing tokens, one per authority.
  /// - Parameter digest: of the receipt.
  func awaited(_ digest: Digest) throws(SpoolError) -> [AwaitedStamp] {
    var awaited: [AwaitedStamp] = []
    for (index, authority) in context.authorities.enumerated() {
      let token = folder + "/" + TimeStampNames.token(of: receipt, number: index + 1)
      let content = Self.content(of: digest, by: authority.url)
      if try context.exportFolder.isPublished(content, at: token) { continue }
      awaited.append(
        AwaitedStamp(
          receipt: digest, path: context.folder + "/" + receipt, authority: authority,
          token: token, since: context.now))
    }
    return awaited
  }

  /// Removes time stamps of a receipt that this one replaced. Foreign files stay unless files are
  /// replaced, and fail verification.
  /// - Parameter digest: of the present receipt.
  func withdrawOthers(than digest: Digest) {
    for (index, token) in TimeStampNames.tokens(of: receipt).enumerated() {
      let path = folder + "/" + token
      if index < context.authorities.count {
        let content = Self.content(of: digest, by: context.authorities[index].url)
        if (try? context.exportFolder.isPublished(content, at: path)) == true { continue }
      }
      // The token first: the others are meaningless without it.
      for path in Self.files(of: path) {
        try? context.exportFolder.withdraw(path, isReplacing: context.isReplacing)
      }
    }
  }

  /// The paths of all possible time stamp files of a receipt.
  static func files(of receipt: String, in folder: String) -> [String] {
    TimeStampNames.tokens(of: receipt).flatMap { files(of: folder + "/" + $0) }
  }

  /// The token and its companions.
  private static func files(of token: String) -> [String] {
    [token, TimeStampNames.checksums(of: token), TimeStampNames.certificates(of: token)]
  }
}
