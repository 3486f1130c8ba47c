package import Platform

/// A receipt beside its exports, as needed for quoting.
package struct QuotableReceipt: Sendable {
  /// A lossless export.
  package struct Export: Sendable {
    /// Its path from the receipt's folder.
    package let name: String
    package let samples: SampleSummary
    /// Its step's files in the store, among them the list of leaves, if it still exists.
    package let outputs: [(digest: Digest, byteCount: Int)]
  }

  package let path: String
  /// The receipt, byte for byte.
  package let bytes: [UInt8]
  /// The SHA-256 of `bytes`.
  package let digest: Digest
  /// The signer.
  package let key: VerifyingKey
  package let exports: [Export]
  /// The names of its subjects, by SHA-256.
  package let names: [Digest: String]
  /// The authorities of its time stamps.
  package let authorities: [String]

  package var folder: String { QuotableReceipt.folder(of: path) }
  /// The folder that the names of its subjects start from.
  private let base: String

  /// Reads the receipt at a path and verifies its signature by the named key, if that is known or
  /// lies beside it.
  package init(at path: String, knownKeys: [VerifyingKey]) throws(SpoolError) {
    self.path = path
    let envelope: Envelope
    let statement: JSONValue
    bytes = try SubjectFile.readWhole(path, limit: Envelope.maximumByteCount)
    do throws(SpoolError) { envelope = try Envelope(bytes) } catch {
      throw SpoolError("cannot use the receipt \(path)", reason: error.reason, kind: .broken)
    }
    digest = SHA256.digest(of: bytes)
    let folder = Self.folder(of: path)
    let beside = FilePath.names(in: folder).filter { $0.hasSuffix(".pub") }.compactMap { name in
      SubjectFile(name: name, in: folder).flatMap { try? $0.bytes(limit: 4 << 10) }
        .flatMap { VerifyingKey(pem: String(decoding: $0, as: UTF8.self)) }
    }
    guard let key = (knownKeys + beside).first(where: { $0.id.hex == envelope.keyID }) else {
      throw SpoolError(
        "cannot quote from the receipt \(path)",
        reason: "the public key \(envelope.keyID.prefix(16)) that signed it is not known here",
        advice: "get it from the signer, and \(command: .keyImport) it")
    }
    guard envelope.isSigned(by: key) else {
      throw SpoolError(
        "cannot use the receipt \(path)",
        reason: "the signature does not fit the statement: one was changed", kind: .broken)
    }
    self.key = key
    do throws(JSONSyntaxError) {
      statement = try JSONReader.signedValue(of: envelope.payload)
    } catch {
      throw SpoolError("cannot use the receipt \(path)", reason: "\(error)", kind: .broken)
    }
    base = Self.folder(of: ReceiptSearch.base(of: path, statement))
    let stages = statement["predicate"]?["stages"]?.list ?? []
    let subjects = statement["subject"]?.list ?? []
    exports = subjects.compactMap { subject in
      guard let name = subject["name"]?.text,
        let samples = subject["annotations"]?["samples"].flatMap(SampleSummary.init)
      else { return nil }
      let step = subject["annotations"]?["step"]?.text
      let outputs = stages.first { $0["id"]?.text == step }.map(Self.outputs) ?? []
      return Export(name: name, samples: samples, outputs: outputs)
    }
    authorities = statement.authorities
    names = Dictionary(
      subjects.compactMap { subject in
        guard let name = subject["name"]?.text,
          let digest = subject["digest"]?["sha256"]?.text.flatMap(Digest.init(hex:))
        else { return nil }
        return (digest, name)
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The files of its valid time stamps, beside it or outside its bag, renamed to lie beside
  /// `receipt`, in order.
  /// - Parameter receipt: the receipt's name at the destination.
  package func timeStamps(besideReceipt receipt: String) -> [(name: String, bytes: [UInt8])] {
    let own = ReceiptSearch.name(of: path)
    return (1...TimeStampNames.maximumCount).flatMap { number -> [(name: String, bytes: [UInt8])] in
      let token = TimeStampNames.token(of: own, number: number)
      for place in [folder, folder + "/.."] {
        guard
          let bytes = try? SubjectFile(name: token, in: place)?
            .bytes(limit: TimeStampReply.maximumByteCount),
          let text = try? SubjectFile(name: TimeStampNames.certificates(of: token), in: place)?
            .bytes(limit: TrustedCertificates.maximumByteCount),
          let certificates = try? TrustedCertificates(text, from: token),
          (try? TimeStampReply(bytes).verified(for: digest, by: certificates)) != nil
        else { continue }
        return TimeStampReply(bytes).files(
          certificates, token: TimeStampNames.token(of: receipt, number: number))
      }
      return []
    }
  }

  /// The path of an export; nil if its name leads out of the receipt's folder.
  package func path(of export: Export) -> String? { path(ofFile: export.name) }

  /// The path of a subject; nil if its name leads out of the receipt's folder.
  package func path(ofFile name: String) -> String? {
    SubjectFile(name: name, in: base) == nil ? nil : "\(base)/\(name)"
  }

  /// The receipt that names an export: by name, else any beside it; for a folder, the one in it.
  /// - Throws: if there is none, or several.
  package static func find(
    for export: String, knownKeys: [VerifyingKey]
  ) throws(SpoolError) -> QuotableReceipt {
    if (try? FileStamp(at: export))?.isFolder == true {
      return try only(in: export, knownKeys: knownKeys)
    }
    let folder = folder(of: export)
    let name = export.pathNames.last ?? export
    let names = receipts(in: folder)
    // Most likely the receipt has the export's name.
    let likely = names.filter {
      name.hasPrefix(ReceiptSearch.name(of: $0).dropLast(ReceiptSearch.ending.count))
    }
    for group in [likely, names] {
      var found: [QuotableReceipt] = []
      for receipt in group.sorted() {
        let path = "\(folder)/\(receipt)"
        // Faults of unrelated receipts do not matter here.
        guard group == likely || !likely.contains(receipt) else { continue }
        if let receipt = try? QuotableReceipt(at: path, knownKeys: knownKeys),
          receipt.names.values.contains(name)
        {
          found.append(receipt)
        }
      }
      if found.count == 1 { return found[0] }
      guard found.isEmpty else {
        throw SpoolError(
          "cannot tell which receipt \(export) is to be quoted by",
          reason: "several name it: \(found.map(\.path).joined(separator: ", "))",
          advice: "name the receipt, and the export with \(option: .export)")
      }
    }
    throw SpoolError(
      "no receipt names \(export)",
      reason: "none that lies in \(folder) and is as it was signed does",
      advice: "name the receipt; a proof stage in a pipeline writes one")
  }

  /// The paths of the receipts of a folder's exports, from that folder.
  private static func receipts(in folder: String) -> [String] {
    let own = FilePath.names(in: "\(folder)/\(Receipt.ownFolder)").map {
      "\(Receipt.ownFolder)/\($0)"
    }
    return (FilePath.names(in: folder) + own).filter { $0.hasSuffix(ReceiptSearch.ending) }
  }

  private static func only(
    in folder: String, knownKeys: [VerifyingKey]
  ) throws(SpoolError) -> QuotableReceipt {
    let names = receipts(in: folder)
    guard names.count == 1 else {
      throw SpoolError(
        "cannot tell what in \(folder) is to be quoted",
        reason: names.isEmpty ? "no receipt lies in it" : "\(names.count) receipts lie in it",
        advice: "name an export, or its receipt")
    }
    return try QuotableReceipt(at: "\(folder)/\(names[0])", knownKeys: knownKeys)
  }

  private static func outputs(_ stage: JSONValue) -> [(digest: Digest, byteCount: Int)] {
    guard case .object(let outputs) = stage["outputs"] else { return [] }
    return outputs.values.compactMap { output in
      guard let digest = output["digest"]?["sha256"]?.text.flatMap(Digest.init(hex:)),
        let byteCount = output["byteCount"]?.integer
      else { return nil }
      return (digest, byteCount)
    }
  }

  private static func folder(of path: String) -> String {
    let folder = ReceiptSearch.folder(of: path)
    return folder.isEmpty ? "." : folder == "/" ? "/" : String(folder.dropLast())
  }
}
