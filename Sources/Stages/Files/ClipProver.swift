import Glibc
package import PipelineModel
package import Platform
package import Proof
import SoundEngine

/// Where a quote is made: finds the hashes of an export's blocks, cuts out those that are quoted, and
/// writes the bundle. Nothing goes into it that does not lead to the root that was signed.
package struct ClipProver: Sendable {
  private let receipt: QuotableReceipt
  private let export: QuotableReceipt.Export
  private let path: String
  private let stamps: [(name: String, bytes: [UInt8])]

  /// The authorities whose time stamps were asked for, and do not hold or are not there.
  package var authoritiesMissing: [String] {
    let present = Set(stamps.map(\.name))
    return receipt.authorities.enumerated().compactMap { number, authority in
      let name = TimeStampNames.token(of: QuoteBundle.receiptName, number: number + 1)
      return present.contains(name) ? nil : authority
    }
  }

  /// Quotes from an export of a receipt.
  package init(
    _ export: QuotableReceipt.Export, of receipt: QuotableReceipt
  ) throws(SpoolError) {
    guard let path = receipt.path(of: export) else {
      throw SpoolError(
        "cannot quote from \(export.name)",
        reason: "its name leads out of the receipt's folder; it was not looked at", kind: .broken)
    }
    self.receipt = receipt
    self.export = export
    self.path = path
    stamps = receipt.timeStamps(besideReceipt: QuoteBundle.receiptName)
  }

  /// The tree over the export's samples, if its list of leaves is still in the store. O(blocks).
  package func keptTree(in store: any ArtifactStore) -> SampleTree? {
    for file in export.outputs {
      let artifact = Artifact(kind: .file, digest: file.digest, byteCount: file.byteCount)
      guard file.byteCount == SampleTree.fileByteCount(of: export.samples.extent),
        let path = try? store.path(of: artifact), let tree = SampleTree(at: path),
        tree.summary == export.samples
      else { continue }
      return tree
    }
    return nil
  }

  /// The tree over the export's samples, made again from the file. O(bytes).
  /// - Parameter mayGoOn: called with how many blocks of how many are done; false ends the work,
  ///   and gives nil.
  package func remadeTree(_ mayGoOn: (Int, Int) -> Bool) throws(SpoolError) -> SampleTree? {
    let count = export.samples.extent.blockCount
    var isWanted = true
    let tree = try reading { (sound) throws(SpoolError) in
      try sound.tree { done in
        isWanted = mayGoOn(done, count)
        return isWanted
      }
    }
    guard isWanted else { return nil }
    guard let tree, tree.summary == export.samples else {
      throw SpoolError(
        "cannot quote from \(path)", reason: "its samples are not those that were signed",
        advice: "\(command: .verify) \(receipt.path) says what else was changed", kind: .broken)
    }
    return tree
  }

  /// Writes a bundle.
  /// - Parameters:
  ///   - range: the frames that are quoted; at least one, and none beyond the end.
  ///   - tree: that over the export's samples.
  ///   - words: what is said in them.
  ///   - folder: which is not there yet, or empty.
  package func write(
    _ range: Range<Int>, _ tree: SampleTree, words: QuotedWords?, to folder: String
  ) throws(SpoolError) -> Quote {
    let quote = Quote(range, of: export.name, in: receipt.digest, tree)
    guard let clip = QuotedClip(quote.blocks, of: tree.extent) else {
      throw SpoolError(
        "cannot write the clip", reason: "no WAV file is as long",
        advice: "quote less, or in several parts")
    }
    let bundle = try QuoteBundle(at: folder)
    func add(_ bytes: [UInt8], _ name: String) throws(SpoolError) {
      try bundle.append(bytes, to: name)
    }
    try add(clip.header, QuoteBundle.clipName)
    var fault: SpoolError?
    var written = 0
    try reading { (sound) throws(SpoolError) in
      try sound.blocks(quote.blocks) { (block, bytes) throws(SpoolError) in
        do throws(SpoolError) {
          guard MerkleTree.leaf(bytes) == tree.leaves[block] else { throw changed(block) }
          try add(bytes, QuoteBundle.clipName)
          written += 1
        } catch {
          fault = error
        }
        return fault == nil
      }
    }
    if let fault { throw fault }
    guard written == quote.blocks.count else { throw changed(quote.blocks.lowerBound + written) }
    try add([UInt8](repeating: 0, count: clip.padByteCount), QuoteBundle.clipName)
    try add(Array(quote.text.utf8), QuoteBundle.quoteName)
    try add(receipt.bytes, QuoteBundle.receiptName)
    try add(Array(receipt.key.pem.utf8), QuoteBundle.keyName)
    for (name, bytes) in stamps { try add(bytes, name) }
    if let words { try add(Array(words.text.utf8), QuoteBundle.wordsName) }
    try add(Array(QuoteBundle.script.utf8), QuoteBundle.scriptName)
    try bundle.finish()
    return quote
  }

  private func changed(_ block: Int) -> SpoolError {
    SpoolError(
      "cannot quote from \(path)",
      reason: "second \(block + 1) of it is not as it was signed",
      advice: "\(command: .verify) \(receipt.path) says what else was changed", kind: .broken)
  }

  private func reading<Result>(
    _ body: (ExportedSound) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SpoolError) {
      return try body(ExportedSound(path: path, extent: export.samples.extent))
    } catch {
      // What is there and cannot be read as the sound that was signed is not what was signed.
      throw SpoolError(
        "cannot quote from \(path)", reason: error.reason ?? error.message, advice: error.advice,
        kind: FilePath.obstacle(to: path, R_OK) == nil ? .broken : nil)
    }
  }

}
