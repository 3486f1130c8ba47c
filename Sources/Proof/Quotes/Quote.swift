package import Platform

/// A quoted range of a recording with its inclusion proof: `quote.json`, described in the article
/// Quotes.
package struct Quote: Hashable, Sendable {
  /// The statement's type.
  package static let type = "urn:spool:quote:v1"
  /// Bytes of the longest quote that is read, a hundred times the usual.
  package static let maximumByteCount = 1 << 20

  /// The SHA-256 of the receipt's file.
  package let receipt: Digest
  /// The export's name in the receipt.
  package let export: String
  package let samples: SampleSummary
  /// The quoted frames.
  package let range: Range<Int>
  /// The hashes that complete those of the clip.
  package let siblings: [Digest]

  /// The blocks of the clip: those that contain the range.
  package var blocks: Range<Int> { samples.extent.blocks(of: range) }

  ///
  /// - Parameter range: not empty, and within the export.
  package init(_ range: Range<Int>, of export: String, in receipt: Digest, _ tree: SampleTree) {
    precondition(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= tree.extent.frames)
    self.receipt = receipt
    self.export = export
    self.range = range
    samples = tree.summary
    siblings = tree.siblings(of: tree.extent.blocks(of: range))
  }

  /// Canonical JSON on one line.
  package var text: String { json.compact + "\n" }

  private var json: JSONValue {
    .object([
      "type": .text(Self.type), "receipt": .text(receipt.hex), "export": .text(export),
      "samples": samples.json,
      "range": .object(["from": .integer(range.lowerBound), "to": .integer(range.upperBound)]),
      "blocks": .object(["first": .integer(blocks.lowerBound), "count": .integer(blocks.count)]),
      "siblings": .list(siblings.map { .text($0.hex) }),
    ])
  }

  /// Reads the canonical form only.
  /// - Throws: what is wrong with it.
  init(_ bytes: [UInt8]) throws(SubjectFile.Trouble) {
    let line = bytes.last == UInt8(ascii: "\n") ? Array(bytes.dropLast()) : bytes
    let json: JSONValue
    do throws(JSONSyntaxError) { json = try JSONReader.signedValue(of: line) } catch {
      throw SubjectFile.Trouble(reason: "\(error)")
    }
    guard json["type"]?.text == Self.type else {
      throw SubjectFile.Trouble(reason: "it is no \(Self.type)")
    }
    guard let receipt = json["receipt"]?.text.flatMap(Digest.init(hex:)),
      let export = json["export"]?.text, let listed = json["siblings"]?.list
    else { throw SubjectFile.Trouble(reason: "it names no receipt, no export or no siblings") }
    guard let samples = json["samples"].flatMap(SampleSummary.init) else {
      throw SubjectFile.Trouble(reason: "its samples are none that a receipt states")
    }
    guard let from = json["range"]?["from"]?.integer, let to = json["range"]?["to"]?.integer,
      0 <= from, from < to, to <= samples.extent.frames
    else {
      throw SubjectFile.Trouble(
        reason: "its range does not lie within the \(samples.extent.frames) frames")
    }
    self.receipt = receipt
    self.export = export
    self.samples = samples
    range = from..<to
    siblings = listed.compactMap { $0.text.flatMap(Digest.init(hex:)) }
    guard json["blocks"] == self.json["blocks"] else {
      throw SubjectFile.Trouble(
        reason: "its blocks are not those that its range lies in: \(blocks.count) from "
          + "\(blocks.lowerBound)")
    }
    guard Array(text.utf8.dropLast()) == line else {
      throw SubjectFile.Trouble(
        reason: "it has fields that no quote has, or siblings that are no hashes")
    }
  }
}
