internal import Hashing
internal import JSONText

/// One bundle, looked at: is the clip part of the export whose root was signed? Everything comes from
/// a stranger; no file is looked for but under the names that every bundle has, no link is followed,
/// and nothing is read that is longer than it may be.
struct QuoteCheck {
  private let folder: String
  private let keys: [VerifyingKey]
  private(set) var result: VerifiedQuote

  /// Reads the bundle in a folder. O(bytes of the clip), a block of which is in memory at a time.
  /// - Parameters:
  ///   - keys: whose signatures count.
  ///   - certificates: those that time stamps are checked against; nil for those beside them.
  init(_ folder: String, keys: [VerifyingKey], certificates: TrustedCertificates? = nil) {
    self.folder = folder
    self.keys = keys
    result = VerifiedQuote(path: folder)
    result.hasWords = file(QuoteBundle.wordsName)?.byteCount != nil
    checkScript()
    noteStrangers()
    let key = bytes(QuoteBundle.keyName, limit: 4 << 10)
    guard let receipt = bytes(QuoteBundle.receiptName, limit: Envelope.maximumByteCount),
      let quote = readQuote()
    else { return }
    result.quote = quote
    let stamps = TimeStampCheck(
      of: QuoteBundle.receiptName, in: folder, digest: SHA256.digest(of: receipt),
      certificates: certificates)
    result.timeStamps = stamps.verified
    for (name, reason) in stamps.problems { result.add(name, reason) }
    checkReceipt(receipt, quote, stamps)
    if let key, VerifyingKey(pem: String(decoding: key, as: UTF8.self))?.id.hex != result.keyID {
      result.add(QuoteBundle.keyName, "it is not the key that the receipt names")
    }
    // What nobody trusted has signed says nothing of a clip, and may be made to keep readers busy.
    if result.isSound { checkClip(quote) }
  }

  private func file(_ name: String) -> SubjectFile? { SubjectFile(name: name, in: folder) }

  private mutating func bytes(_ name: String, limit: Int) -> [UInt8]? {
    guard let file = file(name) else { return nil }
    do throws(SubjectFile.Trouble) { return try file.bytes(limit: limit) } catch {
      result.add(name, error.reason)
      return nil
    }
  }

  /// A script that is gone is missed. One of another version of Spool is another one, and so is one that
  /// deceives its readers: it proves nothing here, and is only told of.
  private mutating func checkScript() {
    guard let script = bytes(QuoteBundle.scriptName, limit: 1 << 20) else { return }
    if script != Array(QuoteScript.text.utf8) {
      result.note(
        QuoteBundle.scriptName,
        "it is not the one that this version writes: read it before you run it")
    }
  }

  /// What lies in the folder and is no part of a quote does not touch what the quote shows.
  private mutating func noteStrangers() {
    let strangers = Set(KeyFile.names(in: folder)).subtracting(QuoteBundle.fileNames).sorted()
    for name in strangers.prefix(20) {
      result.note(name, "it is no part of the quote, and was not looked at")
    }
    if strangers.count > 20 {
      result.note("\(strangers.count - 20) more", "they are no part of the quote either")
    }
  }

  private mutating func readQuote() -> Quote? {
    guard let bytes = bytes(QuoteBundle.quoteName, limit: Quote.maximumByteCount) else {
      return nil
    }
    do throws(Quote.Fault) { return try Quote(bytes) } catch {
      result.add(QuoteBundle.quoteName, error.reason)
      return nil
    }
  }

  /// Is the receipt signed, is it the one that is quoted, and does it name the export's root?
  private mutating func checkReceipt(
    _ bytes: [UInt8], _ quote: Quote, _ stamps: TimeStampCheck
  ) {
    let name = QuoteBundle.receiptName
    let statement: JSONValue
    do throws(ProofError) {
      let envelope = try Envelope(bytes)
      result.keyID = envelope.keyID
      checkSignature(envelope)
      statement = try Self.statement(of: envelope)
    } catch {
      return result.add(name, error.reason ?? error.message)
    }
    if SHA256.digest(of: bytes) != quote.receipt {
      result.add(name, "it is not the receipt that is quoted: that is \(quote.receipt)")
    }
    for (token, problem) in stamps.missing(of: name, from: Receipt.authorities(in: statement)) {
      result.add(token, problem)
    }
    let subjects = (statement["subject"]?.list ?? []).filter { $0["name"]?.text == quote.export }
    guard let subject = subjects.first, subjects.count == 1 else {
      return result.add(
        QuoteBundle.quoteName, "the receipt names no export \(quote.export)")
    }
    guard let samples = subject["annotations"]?["samples"] else {
      return result.add(
        QuoteBundle.quoteName, "the receipt states no root over the samples of \(quote.export)")
    }
    if samples != quote.samples.json {
      result.add(
        QuoteBundle.quoteName, "the samples of \(quote.export) are not those that were signed")
    }
  }

  private mutating func checkSignature(_ envelope: Envelope) {
    guard let key = keys.first(where: { envelope.isSigned(by: $0) }) else {
      if keys.contains(where: { $0.id.hex == envelope.keyID }) {
        return result.add(
          QuoteBundle.receiptName, "the signature does not fit the statement: one was changed")
      }
      result.hasStrangeKey = true
      return result.add(
        "key \(envelope.keyID.prefix(16))", "it was not signed by a key that is trusted here")
    }
    if key.id.hex != envelope.keyID {
      result.add(
        QuoteBundle.receiptName, "it names another key than the one that signed it")
    }
  }

  private static func statement(of envelope: Envelope) throws(ProofError) -> JSONValue {
    let statement: JSONValue
    do throws(JSONSyntaxError) {
      statement = try JSONReader.signedValue(of: envelope.payload)
    } catch {
      throw ProofError("cannot read the receipt", reason: "\(error)")
    }
    guard statement["_type"]?.text == Receipt.statementType,
      statement["predicateType"]?.text == Receipt.predicateType
    else {
      throw ProofError(
        "cannot read the receipt",
        reason: "it is no statement of the type \(Receipt.predicateType)")
    }
    return statement
  }

  /// Is the clip the header and the blocks, and do their hashes lead to the root?
  private mutating func checkClip(_ quote: Quote) {
    let name = QuoteBundle.clipName
    guard let clip = QuotedClip(quote.blocks, of: quote.samples.extent) else {
      return result.add(QuoteBundle.quoteName, "no WAV file is as long as its range")
    }
    guard let file = file(name) else { return }
    let leaves: [Digest]
    do throws(SubjectFile.Trouble) { leaves = try file.leaves(of: clip) } catch {
      return result.add(name, error.reason)
    }
    let root = MerkleTree.root(
      size: quote.samples.extent.blockCount, of: quote.blocks, leaves, siblings: quote.siblings)
    guard let root else {
      return result.add(
        QuoteBundle.quoteName, "it has too few or too many siblings for its blocks")
    }
    guard root == quote.samples.root else {
      return result.add(
        name,
        "its blocks and the siblings in \(QuoteBundle.quoteName) do not lead to the root in the "
          + "receipt: one of them was changed, or they stand elsewhere")
    }
  }
}
