import Delivery
import PipelineModel
import Platform
import Proof
import Store

/// What no document names: confirmations, which come after it, and files from before Spool wrote
/// documents.
extension DestinationRestoration {
  /// Brings the signed confirmations back that lie in the folder of a document or below. Those of an
  /// encrypted destination have no names there that say what they are.
  mutating func restoreConfirmations(beside path: RemotePath) throws(SpoolError) -> [Kept] {
    let place = path.names.dropLast()
    let found = unnamed.keys.filter { other in
      other.names.starts(with: place)
        && other.names.last?.contains(DeliveryConfirmation.mark) == true
    }
    var kept: [Kept] = []
    for other in found.sorted(by: { $0.description < $1.description }) {
      unnamed[other] = nil
      do throws(SpoolError) {
        let expected = try reader.look(at: other, limit: Self.documentLimit)
        _ = try reader.fetch(expected, into: folder)
        told(expected)
        kept.append((Self.confirmation(expected), .confirmation))
      } catch {
        try report(other.description, error)
      }
    }
    return kept
  }

  mutating func restoreUnnamed() throws(SpoolError) {
    var foreignCount = 0
    for (path, byteCount) in unnamed.sorted(by: { $0.key.description < $1.key.description }) {
      guard path.names.indices.contains(where: { folders.contains(Array(path.names[..<$0])) })
      else {
        foreignCount += 1
        continue
      }
      do throws(SpoolError) {
        if try restoreConfirmation(sealedAt: path, byteCount) { continue }
        let limit = byteCount ?? Self.fileLimit
        let expected = try reader.look(at: path, limit: limit)
        _ = try reader.fetch(expected, into: folder)
        told(expected)
        unnamedCount += 1
        say(
          path.description, "unnamed",
          "no document names it, so nothing says whether its bytes are right; it is in \(folder)")
      } catch {
        try report(path.description, error)
      }
    }
    if foreignCount > 0, !context.isJSON, !context.isQuiet {
      meter.clear()
      context.console.report(
        "note: \(Count.of(foreignCount, "file")) there \(foreignCount == 1 ? "lies" : "lie") apart "
          + "from what Spool delivered, and \(foreignCount == 1 ? "was" : "were") left alone"
      )
    }
  }

  /// Brings an encrypted confirmation back, under its own name: beside its receipt, or into the folder
  /// itself where the receipt was not delivered. Its signature is not verified: it is put where a
  /// receipt of a document lies, and replaces nothing.
  /// - Parameter byteCount: of the encrypted file; nil if unknown.
  /// - Returns: false if it is no confirmation.
  private mutating func restoreConfirmation(
    sealedAt path: RemotePath, _ byteCount: Int?
  ) throws(SpoolError) -> Bool {
    guard destination.encryption != nil, byteCount ?? 0 <= Self.documentLimit else { return false }
    let bytes: [UInt8]
    do throws(SpoolError) {
      bytes = try reader.bytes(of: path, limit: Self.documentLimit)
    } catch {
      if error.kind == .broken { return false }
      throw error
    }
    guard let confirmation = DeliveryConfirmation(unverified: bytes),
      let signed = confirmation.receipt
    else { return false }
    let receipt = receipts[signed.sha256]
    let beside = receipt.flatMap { confirmation.path(besideReceiptAt: $0.path) }
    guard let name = beside ?? confirmation.path(besideReceiptAt: signed.name),
      (try? RemotePath(name)) != nil
    else { return false }
    for number in 1...Self.nameLimit {
      let place = try RemotePath(QueuedDelivery.numbered(name, number))
      let expected = DestinationReader.Expectation(
        path, byteCount: bytes.count, digest: SHA256.digest(of: bytes), at: place)
      do throws(SpoolError) {
        _ = try reader.fetch(expected, into: folder)
      } catch {
        if error.kind == .occupied, number < Self.nameLimit { continue }
        throw error
      }
      told(expected)
      if let receipt {
        try record(
          receipt.recording, receipt.document, [(Self.confirmation(expected), .confirmation)],
          of: receipt.digest)
      }
      return true
    }
    return false
  }

  /// How many names are tried.
  private static var nameLimit: Int { 100 }

  /// A confirmation as a file of its recording.
  private static func confirmation(
    _ file: DestinationReader.Expectation
  ) -> DeliveredRecording.File {
    var own = DeliveredRecording.File(
      path: file.path.description, name: file.place.names.last ?? "",
      contentType: "application/json", byteCount: file.byteCount, sha256: file.digest.hex)
    if file.place != file.path { own.clearPath = file.place.description }
    return own
  }
}
