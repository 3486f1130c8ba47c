import Glibc
package import PipelineEngine
package import PipelineModel
package import Platform
package import Proof
package import Store
import Synchronization

/// Writes a signed receipt of each run, with the files needed to verify it.
package final class SignedReceiptWriter: ReceiptWriter {
  package let keys: KeyFolder
  package let receipts: TransparencyLog
  private let stamps: StampQueue
  private let log: LogSigner
  private let program: Receipt.Named
  private let held = Mutex<(key: SigningKey, status: KeyFolder.Status)?>(nil)
  private let note: @Sendable (String) -> Void
  /// The files that receipts name, by the receipts' paths: a folder may hold thousands of them.
  private let named = Mutex<[String: (stamp: FileStamp, files: [String: Digest])]>([:])

  /// Signs with the key in `keys`, generated when first needed; appends every receipt to the
  /// transparency log and queues its time stamps.
  /// - Parameter version: the program's.
  package init(
    keys: KeyFolder, store: DiskStore, version: String
  ) {
    self.keys = keys
    stamps = store.stamps
    receipts = store.receipts
    log = LogSigner(store, keys: keys)
    program = ("spool", version)
    note = { [store] in store.note($0) }
  }

  /// The program and the machine.
  package var host: Host {
    let machine = Self.machine
    return Host(
      program: program.name, version: program.version, host: machine.name, system: machine.version)
  }

  /// Loads or generates the key, and verifies the transparency log.
  package func prepare() throws(SpoolError) {
    _ = try signingKey()
    try log.prepare()
  }

  /// Why signing is not possible: the key, or a log found to be changed. O(1); O(receipts) in the
  /// latter case.
  package func obstacle() -> SpoolError? {
    do throws(SpoolError) { _ = try signingKey() } catch { return error }
    return log.obstacle()
  }

  /// The receipts beside a file that name it. O(receipts), and their bytes where they are new.
  package func receipts(covering path: String) -> [(path: String, digest: Digest)] {
    ReceiptSearch.receipts(covering: path) { receipt in
      guard let stamp = try? FileStamp(following: receipt) else { return [] }
      let known = named.withLock { $0[receipt] }
      if let known, known.stamp == stamp { return known.files[path].map { [(path, $0)] } ?? [] }
      let files = ReceiptFile(at: receipt)?.files ?? []
      named.withLock {
        $0[receipt] = (stamp, Dictionary(files.map { ($0.path, $0.digest) }) { first, _ in first })
      }
      return files
    }
  }

  package func files(coveredBy receipt: String) -> [String] {
    ReceiptFile(at: receipt)?.files.map(\.path) ?? []
  }

  /// Asks for the key's passphrase, if it has one. Other faults show when the key is needed.
  package func unlock() throws(SpoolError) {
    if (try? keys.isProtected()) == true { _ = try signingKey() }
  }

  /// Writes the public key, the script and the checksums, if wanted, and, last, the receipt.
  package func write(_ context: ReceiptContext) throws(SpoolError) -> [PublishedFile] {
    guard let names = ReceiptNames(context.fileNames), !context.run.published.isEmpty else {
      return []
    }
    let key = try signingKey()
    let builder = ReceiptBuilder(context)
    let keyName = builder.keyName(for: key.verifyingKey, in: names)
    var helping: [(name: String, text: String)] = []
    var subjects = try builder.exports() + [builder.subject(keyName, key.verifyingKey.pem)]
    if let script = names.script, let checksums = names.checksums {
      let text = VerificationScript.text(
        receipt: names.receipt, checksums: checksums, key: keyName,
        isInBag: context.enclosure != nil, stampCount: context.authorities.count)
      subjects.append(builder.subject(script, text))
      let list = ChecksumList.text(of: subjects.map { ($0.name, $0.digest) })
      subjects.append(builder.subject(checksums, list))
      helping = [(script, text), (checksums, list)]
    }
    let receipt = Receipt(
      subjects: subjects,
      origin: try builder.origin(of: program, on: Self.machine, as: names),
      stages: try builder.stages())
    let text =
      try existing(receipt, by: key, at: context.folder + "/" + names.receipt)
      ?? receipt.signed(by: key).text
    // All or none: a new list beside an old receipt would break a complete set.
    for (name, text) in helping + [(names.receipt, text)] {
      try builder.checkPlace(of: text, as: name)
    }
    if !names.folder.isEmpty {
      try context.exportFolder.makeFolder("\(context.folder)/\(names.folder)")
    }
    var files = [try builder.publish(key.verifyingKey.pem, as: keyName, of: nil)]
    for (name, text) in helping { files.append(try builder.publish(text, as: name)) }
    var published = try builder.publish(text, as: names.receipt)
    published.leaf = MerkleTree.leaf(Array(text.utf8))
    files.append(published)
    let digest = SHA256.digest(of: text)
    // After a crash before this, the resumed run does it.
    context.removeStamps(of: names.receipt, otherThan: digest)
    try log.add(text, at: published.path, signedBy: key, now: context.now)
    try stamps.add(context.awaitedStamps(of: names.receipt, digest))
    let tags = try context.enclosure.map { (enclosure) throws(SpoolError) in
      let bag = String(context.folder.dropLast(enclosure.content.count + 1))
      return try ReceiptBuilder(context, in: bag).seal(
        enclosure, receipt.subjects + [builder.subject(names.receipt, text)], by: program,
        day: ReceiptFile(Array(text.utf8), at: names.receipt)?.day ?? "")
    }
    return files + (tags ?? [])
  }

  /// The existing receipt if it says the same, was not withdrawn, and is the log's last entry for
  /// its path: a restored older receipt is signed again, so that the log ends with the present one.
  private func existing(
    _ receipt: Receipt, by key: SigningKey, at path: String
  ) throws(SpoolError) -> String? {
    guard let file = ReceiptFile(at: path), file.says(receipt, signedBy: key.verifyingKey) else {
      return nil
    }
    let (text, leaf) = (String(decoding: file.bytes, as: UTF8.self), file.leaf)
    let known = try receipts.entries(at: path)
    guard known.contains(where: { $0.leaf == leaf }) else { return text }
    let withdrawals = try (known + receipts.statements()).withdrawals(signedBy: keys.knownKeys())
    return known.last?.leaf == leaf && withdrawals[leaf] == nil ? text : nil
  }

  /// The key as its file is now: a key that was rotated, removed or made readable by others no
  /// longer signs.
  private func signingKey() throws(SpoolError) -> SigningKey {
    // Serialized: several runs may need the first key at once.
    let found = held.withLock { held in
      Result { () throws(SpoolError) in
        if let held, held.status == keys.status { return held.key }
        var isLost = false
        if held == nil, !keys.status.hasKey { isLost = try hasSigned }
        let found = try keys.standingKey(wasThere: held != nil)
        if isLost { note(Self.loss(of: keys, found.key)) }
        held = found
        return found.key
      }
    }
    return try found.get()
  }

  /// Whether anything was signed or verified here before, so that a missing key is a lost one.
  private var hasSigned: Bool {
    get throws(SpoolError) {
      if try !keys.knownKeys().isEmpty { return true }
      return try !receipts.records().entries.receipts.isEmpty
    }
  }

  private static func loss(of keys: KeyFolder, _ key: SigningKey) -> String {
    "a new signing key was made, \(key.verifyingKey.id.hex.prefix(16)): there was none in \(keys.path), "
      + "though something was signed or verified before; if the old one still exists, "
      + "\(command: .keyImport) FILE takes it back"
  }

  private static var machine: Receipt.Named {
    var names = utsname()
    guard unsafe uname(&names) == 0 else { return ("", "") }
    let system = [text(names.sysname), text(names.release), text(names.machine)]
    return (text(names.nodename), system.joined(separator: " "))
  }

  private static func text<Characters>(_ characters: Characters) -> String {
    unsafe withUnsafeBytes(of: characters) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

/// What may be replaced in a receipt's place.
extension SignedReceiptWriter {
  /// Refuses, before any work, a place with a receipt that Spool did not write there. Files named
  /// by an earlier receipt in the log count as published, whatever their times.
  package func inspect(_ place: ReceiptPlace) throws(SpoolError) -> Set<String> {
    guard let names = ReceiptNames(place.fileNames) else { return [] }
    let path = place.folder + "/" + names.receipt
    guard Self.isTaken(path) else { return [] }
    guard let file = ReceiptFile(at: path) else { throw SpoolError(isForeign: path) }
    let isOwn = try self.isOwn(file, at: path, place)
    // A killed process may have left it before it was recorded, or it was copied with its exports.
    guard isOwn || (file.pipelineDigest == place.pipelineDigest && isSignedHere(file)) else {
      throw refusal(toReplace: file, at: path)
    }
    var signed: Set<String> = []
    for subject in file.files {
      if isOwn, place.exportFolder.byteCount(ofPublished: subject.path) == nil {
        // A changed file stays unknown and is not replaced.
        _ = try? place.exportFolder.recognize(subject.path, holding: subject.digest)
      }
      if !isOwn, (try? place.exportFolder.digest(ofFile: subject.path)) == subject.digest {
        signed.insert(subject.path)
      }
    }
    guard isOwn, place.isWorkPending else { return signed }
    for other in names.all.dropLast().map({ place.folder + "/" + $0 })
      + ReceiptContext.stampFiles(of: names.receipt, in: place.stampFolder)
    where Self.isTaken(other) && place.exportFolder.byteCount(ofPublished: other) == nil {
      throw SpoolError(isForeign: other)
    }
    return signed
  }

  private func refusal(toReplace file: ReceiptFile, at path: String) -> SpoolError {
    guard !isSignedHere(file),
      let signer = (try? keys.knownKeys())?.first(where: { file.isSigned(by: $0) })
    else { return SpoolError(isForeign: path) }
    return SpoolError(
      "\(path) is a receipt of another signer",
      reason: "the imported key \(signer.id.hex.prefix(16)) has signed it, and this run would sign "
        + "with its own key",
      advice: "choose another folder with \(option: .out); with \(option: .replace) this run's "
        + "receipt takes its place, and the other signer's store then calls that broken",
      kind: .occupied)
  }

  /// Whether it was signed with the present key, or an earlier one.
  private func isSignedHere(_ file: ReceiptFile) -> Bool {
    let present = (try? keys.existingVerifyingKey()).map { [$0] } ?? []
    let earlier = (try? keys.earlierKeys()) ?? []
    return (present + earlier).contains { file.isSigned(by: $0) }
  }

  /// Whether this store wrote the receipt there.
  private func isOwn(
    _ file: ReceiptFile, at path: String, _ place: ReceiptPlace
  ) throws(SpoolError) -> Bool {
    if place.exportFolder.byteCount(ofPublished: path) != nil { return true }
    let (known, leaf) = (try receipts.entries(at: path), file.leaf)
    guard known.contains(where: { $0.leaf == leaf }) else { return false }
    return try place.exportFolder.recognize(path, holding: file.digest)
  }

  private static func isTaken(_ path: String) -> Bool { (try? FileStamp(at: path)) != nil }
}
