internal import Glibc
internal import Hashing
public import PipelineEngine
public import PipelineModel
public import Proof
internal import Synchronization

/// Signs what runs did: gathers what the engine knows into a receipt, and publishes it with all
/// that is needed to check it.
public final class ReceiptWitness: RunWitness {
  let keys: KeyFolder
  let receipts: any ReceiptLedger
  private let stamps: any StampQueue
  private let ledger: LedgerClerk
  private let program: Receipt.Named
  private let held = Mutex<(key: SigningKey, standing: KeyFolder.Standing)?>(nil)

  /// Signs with the key that lies in `keys`, which is made when it is first needed, and adds every
  /// receipt to the ledger and those to the queue that wait for a time stamp.
  /// - Parameter version: the program's.
  public init(
    keys: KeyFolder, ledger: any ReceiptLedger & StampQueue & RunLog, version: String
  ) {
    self.keys = keys
    stamps = ledger
    receipts = ledger
    self.ledger = LedgerClerk(ledger, runs: ledger, keys: keys)
    program = Receipt.Named(name: "spool", version: version)
  }

  /// This program, and the machine that it runs on.
  public var workplace: Workplace {
    let host = Self.host
    return Workplace(
      program: program.name, version: program.version, host: host.name, system: host.version)
  }

  /// Finds the key, or makes it, and looks at the ledger.
  public func prepare() throws(StageError) {
    _ = try signingKey()
    try ledger.prepare()
  }

  /// Whether the key can be used, and, once the ledger was found to be another than was signed, whether
  /// it still is: O(1), and O(receipts) then.
  public func obstacle() -> StageError? {
    do throws(StageError) { _ = try signingKey() } catch { return error }
    return ledger.obstacle()
  }

  /// Opens the key, where a passphrase protects it: asks for that. What else may be wrong with it
  /// shows when it is needed.
  public func unlock() throws(StageError) {
    if (try? keys.isProtected()) == true { _ = try signingKey() }
  }

  /// The names of a receipt that is called after a recording.
  public func fileNames(for recording: String) -> [String] {
    ReceiptNames(stem: ExportName.stem(of: recording)).all
  }

  /// Writes the public key, the script, the list of checksums and, last, the receipt.
  public func testify(_ testimony: Testimony) throws(StageError) -> [PublishedFile] {
    guard let names = ReceiptNames(testimony.fileNames), !testimony.run.published.isEmpty else {
      return []
    }
    let key = try signingKey()
    let desk = ReceiptDesk(testimony)
    let keyName = desk.keyName(for: key.verifyingKey)
    let script = VerificationScript.text(
      receipt: names.receipt, checksums: names.checksums, key: keyName,
      isInBag: testimony.enclosure != nil, stampCount: testimony.authorities.count)
    let helping = [(keyName, key.verifyingKey.pem), (names.script, script)]
    let listed = try desk.exports() + helping.map(desk.subject)
    let list = ChecksumList.text(of: listed.map { ($0.name, $0.digest) })
    let receipt = Receipt(
      subjects: listed + [desk.subject(names.checksums, list)],
      origin: try desk.origin(of: program, on: Self.host), stages: try desk.stages())
    let standing = try standing(receipt, by: key, at: testimony.folder + "/" + names.receipt)
    let text = standing ?? receipt.signed(by: key).text
    // All or none: a new list beside an old receipt would break what was whole.
    for (name, text) in [(names.script, script), (names.checksums, list), (names.receipt, text)] {
      try desk.checkPlace(of: text, as: name)
    }
    var files = [
      try desk.publish(key.verifyingKey.pem, as: keyName, of: nil),
      try desk.publish(script, as: names.script),
      try desk.publish(list, as: names.checksums),
      try desk.publish(text, as: names.receipt),
    ]
    files[3].leaf = MerkleTree.leaf(Array(text.utf8))
    let digest = SHA256.digest(of: text)
    let stampDesk = StampDesk(testimony, receipt: names.receipt)
    // Killed before this, the run does it when it is gone on with.
    stampDesk.withdrawOthers(than: digest)
    try ledger.add(text, at: files[3].path, signedBy: key, now: testimony.now)
    do throws(StoreError) { try stamps.awaitStamps(stampDesk.awaited(digest)) } catch {
      throw StageError(error)
    }
    let bag = try testimony.enclosure.map { (enclosure) throws(StageError) in
      try BagDesk(testimony, enclosure, of: program).seal(
        receipt.subjects + [desk.subject(names.receipt, text)], day: Receipt.day(of: text) ?? "")
    }
    return files + (bag ?? [])
  }

  /// The text of the receipt that lies there, if it says the same, was not withdrawn, and the ledger
  /// has none that came there after it: what was put back is signed anew, so that the ledger ends with
  /// what lies there.
  private func standing(
    _ receipt: Receipt, by key: SigningKey, at path: String
  ) throws(StageError) -> String? {
    guard let text = receipt.standing(at: path, signedBy: key.verifyingKey) else { return nil }
    let leaf = MerkleTree.leaf(Array(text.utf8))
    let (known, statements): ([ReceiptEntry], [ReceiptEntry])
    do throws(StoreError) {
      (known, statements) = (try receipts.receipts(at: path), try receipts.statements())
    } catch {
      throw StageError(error)
    }
    guard known.contains(where: { $0.leaf == leaf }) else { return text }
    let withdrawn = try WithdrawnReceipts(known + statements, keys: keys.trusted())
    return known.last?.leaf == leaf && withdrawn[leaf] == nil ? text : nil
  }

  /// The key, as its file stands now: one that was rotated, taken away or opened to others since it was
  /// read last signs nothing more.
  private func signingKey() throws(StageError) -> SigningKey {
    // One at a time: several runs may need the first key at once.
    let found = held.withLock { held in
      Result { () throws(ProofError) in
        if let held, held.standing == keys.standing { return held.key }
        let found = try keys.standingKey(wasThere: held != nil)
        held = found
        return found.key
      }
    }
    do throws(ProofError) { return try found.get() } catch { throw StageError(error) }
  }

  /// The machine's name and system.
  private static var host: Receipt.Named {
    var names = utsname()
    guard unsafe uname(&names) == 0 else { return Receipt.Named(name: "", version: "") }
    let parts = [
      text(names.nodename), text(names.sysname), text(names.release), text(names.machine),
    ]
    return Receipt.Named(name: parts[0], version: parts.dropFirst().joined(separator: " "))
  }

  private static func text<Characters>(_ characters: Characters) -> String {
    unsafe withUnsafeBytes(of: characters) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

extension StageError {
  /// What cannot be signed, as a stage's trouble. Keys are mended by hand, and then the same work
  /// goes on.
  init(_ error: ProofError) {
    self.init(
      error.message, reason: error.reason, advice: error.advice, cause: .blocked)
  }
}
