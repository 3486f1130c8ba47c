package import PipelineModel
package import Platform
package import Proof
package import Store
import Synchronization

/// Signs what destinations have confirmed, and writes it beside the receipts that it belongs to.
package final class ConfirmationWriter: Sendable {
  private let store: DiskStore
  private let keys: Keys
  /// The keys that were opened, by folder: a passphrase is asked for once.
  private let held = Mutex<[String: (key: SigningKey, status: KeyFolder.Status)]>([:])

  /// Gives the folder of the keys of a run.
  package typealias Keys =
    @Sendable (
      _ signing: RunRequest.Signing?, _ mayAsk: Bool
    ) -> KeyFolder

  /// - Parameter keys: called with whether a person may be asked for a passphrase.
  package init(_ store: DiskStore, keys: @escaping Keys) {
    self.store = store
    self.keys = keys
  }

  /// Signs the confirmation of files, and writes it into the folder of its receipt, if that is still
  /// there: under another number where another file has its name. Signed again, it has the same bytes.
  /// - Parameters:
  ///   - confirmation: as it is queued.
  ///   - files: delivered; in their order in the statement.
  /// - Returns: its bytes.
  /// - Throws: if the key cannot be used, such as for a passphrase that is not known.
  package func sign(
    _ confirmation: QueuedDelivery, of files: [QueuedDelivery], _ local: DeliveryDocument.Local
  ) throws(SpoolError) -> [UInt8] {
    let receipt: DeliveryConfirmation.SignedReceipt
    do { receipt = try .init(jsonText: confirmation.document?.about ?? "") } catch {
      throw SpoolError(
        "cannot read the queue",
        reason: "the confirmation \(confirmation.file.name) names no receipt: \(error)",
        advice: "\(command: .repair)", cause: .blocked)
    }
    let confirmed = files.compactMap { file -> DeliveryConfirmation.File? in
      guard let given = file.confirmation else { return nil }
      return DeliveryConfirmation.File(
        path: file.path, digest: given.digest, byteCount: given.byteCount, confirmedAt: given.at,
        identifier: given.identifier)
    }
    guard confirmed.count == files.count, !files.isEmpty else {
      throw SpoolError(
        "sign the confirmation \(confirmation.file.name)",
        reason: "some of its files are not confirmed", cause: .transient)
    }
    let statement = DeliveryConfirmation(
      of: confirmed, by: confirmation.destination, at: confirmation.path, for: receipt)
    let key = try key(of: local, confirmation, mayAsk: false)
    let bytes = Array(statement.signed(by: key).text.utf8)
    try place(
      bytes, receipt.confirmation(by: confirmation.destination), beside: local.receipt, receipt)
    return bytes
  }

  /// Opens the keys that confirmations wait for. Passphrases are asked for here and at no other time,
  /// before anything is drawn on the terminal. A key that cannot be used is reported when it is needed.
  package func unlock() throws(SpoolError) {
    var tried: Set<String> = []
    for confirmation in try store.deliveries.unsigned() {
      guard let local = try store.deliveries.local(of: confirmation.id),
        tried.insert(keys(local.signing, true).path).inserted
      else { continue }
      _ = try? key(of: local, confirmation, mayAsk: true)
    }
  }

  private func key(
    of local: DeliveryDocument.Local, _ confirmation: QueuedDelivery, mayAsk: Bool
  ) throws(SpoolError) -> SigningKey {
    let folder = keys(local.signing, mayAsk)
    do throws(SpoolError) {
      let found = held.withLock { held in
        Result { () throws(SpoolError) in
          if let known = held[folder.path], known.status == folder.status { return known.key }
          // A key that is missing is not made: the receipt was signed with one.
          let key = try folder.standingKey(wasThere: true)
          held[folder.path] = key
          return key.key
        }
      }
      return try found.get()
    } catch {
      let name = confirmation.file.name
      let isLocked = (try? folder.isProtected()) == true
      let options = local.signing?.folder.map { ["\(option: .keys)", $0] } ?? []
      let advice = ShellWords.line(
        ["\(command: .deliverRun)"].flatMap { $0.split(separator: " ").map(String.init) }
          + ["\(option: .once)"] + options)
      throw SpoolError(
        "the confirmation \(name) is not signed yet",
        reason: error.message + (error.reason.map { ": \($0)" } ?? ""),
        advice: isLocked
          ? "type \(advice) \(option: .passphraseFile) FILE, or leave that out and type the passphrase"
          : error.advice.map { "\($0); then \(advice)" } ?? advice,
        cause: .blocked)
    }
  }

  /// Writes it beside its receipt. Where the receipt is not what it was, there is nothing to lie beside:
  /// the store keeps it, and the destination gets it.
  private func place(
    _ bytes: [UInt8], _ name: String, beside path: String,
    _ receipt: DeliveryConfirmation.SignedReceipt
  ) throws(SpoolError) {
    guard path.hasSuffix("/" + receipt.name), let file = ReceiptFile(at: path),
      file.digest.hex == receipt.sha256
    else { return }
    let folder = String(decoding: path.utf8.dropLast(receipt.name.utf8.count), as: UTF8.self)
    let digest = SHA256.digest(of: bytes)
    for number in 1...Self.nameLimit {
      let place = folder + QueuedDelivery.numbered(name, number)
      if FilePath.exists(place) {
        if (try? store.digest(ofFile: place)) == digest { return }
        continue
      }
      do throws(SpoolError) {
        _ = try store.publish(digest, at: place, of: ExportSource(), isReplacing: false) {
          (temporary) throws(SpoolError) in try ReceiptBuilder.write(bytes, to: temporary)
        }
      } catch {
        // A folder that cannot be written to any more keeps nothing from the destination.
        if error.isFullDisk { throw error }
      }
      return
    }
  }

  /// How many names are tried.
  private static let nameLimit = 1000
}
