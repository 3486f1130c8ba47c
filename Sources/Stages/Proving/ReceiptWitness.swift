internal import Glibc
internal import Hashing
public import PipelineEngine
public import PipelineModel
public import Proof
internal import Synchronization

/// Signs what runs did: gathers what the engine knows into a receipt, and publishes it with all
/// that is needed to check it.
public final class ReceiptWitness: RunWitness {
  private let keys: KeyFolder
  private let stamps: any StampQueue
  private let ledger: LedgerClerk
  private let program: Receipt.Named
  private let key = Mutex<SigningKey?>(nil)

  /// Signs with the key that lies in `keys`, which is made when it is first needed, and adds every
  /// receipt to the ledger and those to the queue that wait for a time stamp.
  /// - Parameter version: the program's.
  public init(keys: KeyFolder, ledger: any ReceiptLedger & StampQueue, version: String) {
    self.keys = keys
    stamps = ledger
    self.ledger = LedgerClerk(ledger)
    program = Receipt.Named(name: "spool", version: version)
  }

  /// Finds the key, or makes it.
  public func prepare() throws(StageError) { _ = try signingKey() }

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
    let publicKey = try desk.publish(key.verifyingKey.pem, as: keyName, of: nil)
    let script = try desk.publish(
      VerificationScript.text(
        receipt: names.receipt, checksums: names.checksums, key: keyName,
        isInBag: testimony.enclosure != nil, stampCount: testimony.authorities.count),
      as: names.script)
    let exports = try desk.exports()
    let listed =
      exports + [desk.subject(publicKey), desk.subject(script)].compactMap { $0 }
    let checksums = try desk.publish(
      ChecksumList.text(of: listed.map { ($0.name, $0.digest) }), as: names.checksums)
    let receipt = Receipt(
      subjects: listed + [desk.subject(checksums)].compactMap { $0 },
      origin: try desk.origin(of: program, on: Self.host), stages: try desk.stages())
    let (file, text) = try desk.publish(receipt, signedBy: key, as: names.receipt)
    do throws(StoreError) {
      try ledger.add(text, at: file.path, signedBy: key, now: testimony.now)
      try stamps.awaitStamps(
        StampDesk(testimony, receipt: names.receipt).awaited(SHA256.digest(of: text)))
    } catch {
      throw StageError(error)
    }
    let bag = try testimony.enclosure.map { (enclosure) throws(StageError) in
      try BagDesk(testimony, enclosure, of: program).seal(
        receipt.subjects + [
          Receipt.Subject(
            name: names.receipt, digest: SHA256.digest(of: text), byteCount: file.byteCount)
        ], day: Receipt.day(of: text) ?? "")
    }
    return [publicKey, script, checksums, file] + (bag ?? [])
  }

  private func signingKey() throws(StageError) -> SigningKey {
    // One at a time: several runs may need the first key at once.
    let found = key.withLock { key in
      Result { () throws(ProofError) in
        if let key { return key }
        let found = try keys.signingKey()
        key = found
        return found
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
      error.message, reason: error.reason, advice: error.advice, cause: .environment)
  }
}
