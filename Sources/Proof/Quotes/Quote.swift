public import Hashing
internal import JSONText

/// What is quoted of which recording, and the hashes that show that it is part of it: `quote.json`, as
/// the article Quotes describes it.
public struct Quote: Hashable, Sendable {
  /// What kind of statement it is.
  public static let type = "urn:spool:quote:v1"
  /// The longest one that is read, in bytes: a hundred times as long as any is.
  public static let maximumByteCount = 1 << 20

  /// The SHA-256 of the receipt's file.
  public let receipt: Digest
  /// The export, as the receipt names it.
  public let export: String
  /// What the receipt says of its samples.
  public let samples: SampleSummary
  /// The frames that are quoted.
  public let range: Range<Int>
  /// The hashes that are needed besides those of the clip.
  public let siblings: [Digest]

  /// The blocks that the clip holds: those that the range lies in.
  public var blocks: Range<Int> { samples.extent.blocks(of: range) }

  /// Quotes some frames of an export.
  /// - Parameter range: at least one frame, and none beyond the end.
  public init(_ range: Range<Int>, of export: String, in receipt: Digest, _ tree: SampleTree) {
    precondition(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= tree.extent.frames)
    self.receipt = receipt
    self.export = export
    self.range = range
    samples = tree.summary
    siblings = tree.siblings(of: tree.extent.blocks(of: range))
  }

  /// The quote as a file: canonical JSON on one line.
  public var text: String { json.compact + "\n" }

  private var json: JSONValue {
    .object([
      "type": .text(Self.type), "receipt": .text(receipt.hex), "export": .text(export),
      "samples": samples.json,
      "range": .object(["from": .integer(range.lowerBound), "to": .integer(range.upperBound)]),
      "blocks": .object(["first": .integer(blocks.lowerBound), "count": .integer(blocks.count)]),
      "siblings": .list(siblings.map { .text($0.hex) }),
    ])
  }

  /// Reads a quote in the form in which ``text`` writes it, and no other.
  /// - Throws: saying what is wrong with it.
  init(_ bytes: [UInt8]) throws(Fault) {
    let line = bytes.last == UInt8(ascii: "\n") ? Array(bytes.dropLast()) : bytes
    let json: JSONValue
    do throws(JSONSyntaxError) { json = try JSONReader.signedValue(of: line) } catch {
      throw Fault(reason: "\(error)")
    }
    guard json["type"]?.text == Self.type else { throw Fault(reason: "it is no \(Self.type)") }
    guard let receipt = json["receipt"]?.text.flatMap(Digest.init(hex:)),
      let export = json["export"]?.text, let listed = json["siblings"]?.list
    else { throw Fault(reason: "it names no receipt, no export or no siblings") }
    guard let samples = json["samples"].flatMap(SampleSummary.init) else {
      throw Fault(reason: "its samples are none that a receipt states")
    }
    guard let from = json["range"]?["from"]?.integer, let to = json["range"]?["to"]?.integer,
      0 <= from, from < to, to <= samples.extent.frames
    else {
      throw Fault(reason: "its range does not lie within the \(samples.extent.frames) frames")
    }
    self.receipt = receipt
    self.export = export
    self.samples = samples
    range = from..<to
    siblings = listed.compactMap { $0.text.flatMap(Digest.init(hex:)) }
    guard json["blocks"] == self.json["blocks"] else {
      throw Fault(
        reason: "its blocks are not those that its range lies in: \(blocks.count) from "
          + "\(blocks.lowerBound)")
    }
    guard Array(text.utf8.dropLast()) == line else {
      throw Fault(reason: "it has fields that no quote has, or siblings that are no hashes")
    }
  }

  /// Why a text is no quote.
  struct Fault: Error { let reason: String }
}
