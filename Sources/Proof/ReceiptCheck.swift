internal import Hashing
internal import JSONText

/// One receipt, read: what is wrong with it in itself, and which files are to be looked at.
struct ReceiptCheck: Sendable {
  /// A file that it vouches for.
  struct Subject: Sendable {
    let file: SubjectFile
    let digest: String
    let byteCount: Int?
  }

  private(set) var subjects: [Subject] = []
  private var result: VerifiedReceipt

  /// Reads the receipt at a path, and checks its signature, its chain and its time stamps.
  /// - Parameters:
  ///   - certificates: those that time stamps are checked against; nil for those beside them.
  ///   - awaited: the names of the tokens that are still waited for, by the digest of the receipt.
  init(
    _ path: String, keys: [VerifyingKey], certificates: TrustedCertificates?,
    awaited: [Digest: Set<String>] = [:]
  ) {
    result = VerifiedReceipt(path: path)
    let name = ReceiptSearch.name(of: path)
    let folder = ReceiptSearch.folder(of: path)
    let envelope: Envelope
    let stamps: TimeStampCheck
    let digest: Digest
    do throws(ProofError) {
      let bytes = try SubjectFile.readWhole(path, limit: Envelope.maximumByteCount)
      digest = SHA256.digest(of: bytes)
      result.leaf = MerkleTree.leaf(bytes)
      stamps = TimeStampCheck(
        of: name, in: folder.isEmpty ? "." : folder, digest: digest, certificates: certificates)
      checkTimeStamps(stamps)
      envelope = try Envelope(bytes)
    } catch {
      result.add(.receipt, name, error.reason ?? error.message)
      return
    }
    result.keyID = envelope.keyID
    checkSignature(envelope, keys)
    let statement: JSONValue
    do throws(JSONSyntaxError) {
      statement = try JSONReader.signedValue(of: envelope.payload)
    } catch {
      result.add(.statement, name, "\(error)")
      return
    }
    checkStatement(statement, name, folder: folder)
    let awaited = awaited[digest] ?? []
    for (token, problem) in stamps.missing(of: name, from: Receipt.authorities(in: statement)) {
      if awaited.contains(token) {
        result.awaitedStamps.append(token)
      } else {
        result.add(.timeStamp, token, problem)
      }
    }
  }

  /// What is to be said of the receipt, once its files were looked at.
  func verdict(_ found: [SubjectFile: SubjectFile.Content]) -> VerifiedReceipt {
    var result = result
    for subject in subjects {
      let name = subject.file.name
      switch found[subject.file] {
      case .read(let digest, let byteCount):
        result.byteCount += byteCount
        if let expected = subject.byteCount, expected != byteCount {
          result.add(.file, name, "it has \(byteCount) bytes, and \(expected) were signed")
        } else if digest != subject.digest {
          result.add(.file, name, "it holds other bytes than those that were signed")
        }
      case .trouble(let reason): result.add(.file, name, reason)
      case nil: result.add(.file, name, "it was not read")
      }
    }
    return result
  }

  private mutating func checkTimeStamps(_ check: TimeStampCheck) {
    result.timeStamps = check.verified
    for (name, reason) in check.problems { result.add(.timeStamp, name, reason) }
  }

  private mutating func checkSignature(_ envelope: Envelope, _ keys: [VerifyingKey]) {
    guard let key = keys.first(where: { $0.id.hex == envelope.keyID }) else {
      // What a receipt says of its key proves nothing: another one may have signed it.
      if !keys.contains(where: { envelope.isSigned(by: $0) }) {
        result.add(.key, envelope.keyID, "it was not signed by a key that is trusted here")
      } else {
        result.add(.key, envelope.keyID, "it names another key than the one that signed it")
      }
      return
    }
    if !envelope.isSigned(by: key) {
      result.add(
        .signature, envelope.keyID, "the signature does not fit the statement: one was changed")
    }
  }

  /// The plugins among the libraries of all stages.
  private static func plugins(in predicate: JSONValue) -> [String: String] {
    var plugins: [String: String] = [:]
    for stage in predicate["stages"]?.list ?? [] {
      guard case .object(let libraries)? = stage["libraries"] else { continue }
      for (name, version) in libraries where name.hasPrefix("plugin ") {
        plugins[String(name.dropFirst(7))] = version.text
      }
    }
    return plugins
  }

  private mutating func checkStatement(_ statement: JSONValue, _ name: String, folder: String) {
    guard statement["_type"]?.text == Receipt.statementType,
      statement["predicateType"]?.text == Receipt.predicateType,
      let predicate = statement["predicate"], let subjects = statement["subject"]?.list,
      !subjects.isEmpty
    else {
      result.add(.statement, name, "it is no statement of the type \(Receipt.predicateType)")
      return
    }
    if let flaw = ReceiptForm.frame.flaw(in: statement) {
      result.add(.statement, name, "its \(flaw.path) \(flaw.reason)")
    }
    result.run = predicate["origin"]?["run"]?["id"]?.text
    result.sources = (predicate["origin"]?["sources"]?.list ?? []).compactMap { $0["name"]?.text }
    result.stageCount = predicate["stages"]?.list?.count ?? 0
    result.plugins = Self.plugins(in: predicate)
    result.fileCount = subjects.count
    let links = Chain.breaks(in: predicate)
    // A link that is broken is told of once.
    let strangers = Descent.breaks(in: predicate).filter { stranger in
      !links.contains { $0.place == stranger.place }
    }
    for link in links + strangers { result.add(.chain, link.place, link.reason) }
    for stray in Descent.strays(among: subjects, of: predicate) {
      result.add(.file, stray.place, stray.reason)
    }
    checkName(name, subjects)
    for subject in subjects {
      guard let file = subject["name"]?.text, let digest = subject["digest"]?["sha256"]?.text
      else {
        result.add(.statement, name, "it vouches for a file without a name or a digest")
        continue
      }
      guard let path = SubjectFile(name: file, in: folder.isEmpty ? "." : folder) else {
        result.add(.file, file, "its name leads out of the receipt's folder; it was not looked at")
        continue
      }
      self.subjects.append(
        Subject(
          file: path, digest: digest, byteCount: subject["annotations"]?["byteCount"]?.integer))
    }
  }

  /// Holds a receipt's own name against that of its list: one that was put in the place of another
  /// vouches for other files than its name says.
  private mutating func checkName(_ name: String, _ subjects: [JSONValue]) {
    let lists = subjects.filter { $0["annotations"]?["step"] == nil }
      .compactMap { $0["name"]?.text }.filter { $0.hasSuffix(ChecksumList.ending) }
    let owners = lists.map { String($0.dropLast(ChecksumList.ending.utf8.count)) }
    guard let owner = owners.first, !owners.contains(where: { $0 + ReceiptSearch.ending == name })
    else { return }
    result.add(
      .receipt, name,
      "it is the receipt \(owner)\(ReceiptSearch.ending), as the list that it vouches for says: it was "
        + "renamed, or put in the place of another")
  }
}
