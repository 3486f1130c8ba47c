internal import Glibc
internal import Hashing
public import PipelineEngine
public import PipelineModel
internal import Proof

/// What may be replaced where a receipt is to go.
extension ReceiptWitness {
  /// Refuses, before any work, a place whose receipt is none that Spool wrote there. What an earlier
  /// receipt of the ledger vouches for is taken as published again, whatever became of its times.
  public func inspect(_ place: ReceiptPlace) throws(StageError) {
    guard let names = ReceiptNames(place.fileNames) else { return }
    let path = place.folder + "/" + names.receipt
    guard Self.isTaken(path) else { return }
    guard let standing = StandingReceipt(at: path) else { throw Self.isForeign(path) }
    guard try isOwn(standing, at: path, place) else {
      // A process that was killed may have left it there before it was noted anywhere.
      guard standing.pipelineDigest == place.pipelineDigest,
        let key = try? keys.existingVerifyingKey(), standing.isSigned(by: key)
      else { throw Self.isForeign(path) }
      return
    }
    for file in standing.files where place.custody.byteCount(ofPublished: file.path) == nil {
      // What was changed stays unknown, and is not replaced.
      _ = try? place.custody.recognize(file.path, holding: file.digest)
    }
    guard place.isWorkPending else { return }
    for other in [names.script, names.checksums].map({ place.folder + "/" + $0 })
      + StampDesk.files(of: names.receipt, in: place.stampFolder)
    where Self.isTaken(other) && place.custody.byteCount(ofPublished: other) == nil {
      throw Self.isForeign(other)
    }
  }

  /// Whether this store wrote a receipt there.
  private func isOwn(
    _ standing: StandingReceipt, at path: String, _ place: ReceiptPlace
  ) throws(StageError) -> Bool {
    if place.custody.byteCount(ofPublished: path) != nil { return true }
    do throws(StoreError) {
      let known = try receipts.receipts(at: path)
      guard known.contains(where: { $0.leaf == standing.leaf }) else { return false }
      return try place.custody.recognize(path, holding: standing.digest)
    } catch {
      throw StageError(error)
    }
  }

  private static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  static func isForeign(_ path: String) -> StageError {
    StageError(
      "cannot write \(path)",
      reason: "another file is there, which Spool did not write or which was changed since",
      advice: "add --replace to overwrite it, or choose another folder with --out")
  }
}
