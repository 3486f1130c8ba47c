internal import Platform

/// Verifies one bundle: whether the clip is part of the export whose root is signed. All input is
/// untrusted: only the fixed names are read, no links are followed, and lengths are limited.
struct QuoteCheck {
  private let folder: String
  private let keys: [VerifyingKey]
  private(set) var result: VerificationResult

  /// Reads the bundle in a folder. O(bytes of the clip), with one block in memory.
  /// - Parameters:
  /// - keys: the keys whose signatures count.
  /// - certificates: the trusted roots of time stamps; nil for those beside them.
  init(_ folder: String, keys: [VerifyingKey], certificates: TrustedCertificates? = nil) {
    self.folder = folder
    self.keys = keys
    result = VerificationResult(path: folder)
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
    for problem in stamps.problems { result.add(problem.name, problem.reason) }
    checkReceipt(receipt, quote, stamps)
    if let key, VerifyingKey(pem: String(decoding: key, as: UTF8.self))?.id.hex != result.keyID {
      result.add(QuoteBundle.keyName, "it is not the key that the receipt names")
    }
    // Without a trusted signature the clip proves nothing, and may be made to waste time.
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

  /// A missing script is a fault. A different one may be of another version or malicious: it is
  /// reported only.
  private mutating func checkScript() {
    guard let script = bytes(QuoteBundle.scriptName, limit: 1 << 20) else { return }
    if script != Array(QuoteBundle.script.utf8) {
      result.note(
        QuoteBundle.scriptName,
        "it is not the one that this version writes: read it before you run it")
    }
  }

  /// Additional files do not affect the quote.
  private mutating func noteStrangers() {
    let strangers = Set(FilePath.names(in: folder)).subtracting(QuoteBundle.fileNames).sorted()
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
    do throws(SubjectFile.Trouble) { return try Quote(bytes) } catch {
      result.add(QuoteBundle.quoteName, error.reason)
      return nil
    }
  }

  /// Verifies the receipt's signature and digest, and finds the export's root in it.
  private mutating func checkReceipt(
    _ bytes: [UInt8], _ quote: Quote, _ stamps: TimeStampCheck
  ) {
    let name = QuoteBundle.receiptName
    let statement: JSONValue
    do throws(SpoolError) {
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
    for (token, problem) in stamps.missing(of: name, from: statement.authorities) {
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
      return result.add(
        envelope.keyID, "it was not signed by a key that is trusted here", .key)
    }
    if key.id.hex != envelope.keyID {
      result.add(
        QuoteBundle.receiptName, "it names another key than the one that signed it")
    }
  }

  private static func statement(of envelope: Envelope) throws(SpoolError) -> JSONValue {
    let statement: JSONValue
    do throws(JSONSyntaxError) {
      statement = try JSONReader.signedValue(of: envelope.payload)
    } catch {
      throw SpoolError("cannot read the receipt", reason: "\(error)", cause: .blocked)
    }
    guard statement["_type"]?.text == Receipt.statementType,
      statement["predicateType"]?.text == Receipt.predicateType
    else {
      throw SpoolError(
        "cannot read the receipt",
        reason: "it is no statement of the type \(Receipt.predicateType)", cause: .blocked)
    }
    return statement
  }

  /// Verifies the clip's header and blocks against the root.
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

extension Verification {
  /// Verifies quotes. Blocks.
  /// - Parameters:
  /// - folders: the bundles' folders.
  /// - mayGoOn: called before every bundle; false stops.
  /// - Returns: the results in the order of `folders`; nil if stopped.
  package func check(
    quotes folders: [String], mayGoOn: @escaping @Sendable () -> Bool = { true }
  ) -> [VerificationResult]? {
    let (keys, certificates) = (keys, certificates)
    return each(folders, mayGoOn) { QuoteCheck($0, keys: keys, certificates: certificates).result }
  }
}

extension ReceiptSearch {
  /// The folders of all quotes, incomplete ones included, sorted, with the folder itself.
  package var quotes: [String] {
    let rest: Set = [QuoteBundle.clipName, QuoteBundle.receiptName, QuoteBundle.scriptName]
    var found: [String: Set<String>] = [:]
    for path in paths {
      let name = Self.name(of: path)
      guard name == QuoteBundle.quoteName || rest.contains(name) else { continue }
      found[String(path.utf8.dropLast(name.utf8.count)) ?? "", default: []].insert(name)
    }
    return found.filter { $0.value.contains(QuoteBundle.quoteName) || rest.isSubset(of: $0.value) }
      .keys.sorted().map { place in
        let inner = place.hasSuffix("/") ? String(place.dropLast()) : place
        return inner.isEmpty
          ? folder : folder.hasSuffix("/") ? folder + inner : "\(folder)/\(inner)"
      }
  }
}
