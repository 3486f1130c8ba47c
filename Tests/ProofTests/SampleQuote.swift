import Foundation
import Platform
@testable import Proof
import TestSupport

/// A bundle of a recording that nobody heard, as `spool proof quote` would leave it.
struct SampleQuote {
  let scratch: ScratchFolder
  let key = SigningKey()
  let extent: SampleExtent
  let sound: [UInt8]
  let tree: SampleTree

  var folder: String { scratch.file("quote") }

  /// Quotes 3.2 s to 6.5 s of 12.34 s.
  init(format: SampleFormat = .s24le, channels: Int = 2, range: Range<Int> = 320..<650) throws {
    scratch = try ScratchFolder()
    guard let extent = SampleExtent(format: format, rate: 100, channels: channels, frames: 1234)
    else { throw CocoaError(.coderInvalidValue) }
    self.extent = extent
    sound = (0..<extent.frames * extent.frameByteCount).map {
      UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13)
    }
    var hasher = SampleLeafHasher(format: format, rate: 100, channels: channels)
    hasher.update(sound)
    _ = hasher.finish()
    guard let tree = SampleTree(extent, leaves: hasher.leaves) else {
      throw CocoaError(.coderInvalidValue)
    }
    self.tree = tree
    let receipt = receipt(of: ["note.wav": tree.summary, "other.wav": nil])
    let quote = Quote(range, of: "note.wav", in: SHA256.digest(of: receipt), tree)
    let clip = QuotedClip(quote.blocks, of: extent)
    let bundle = try QuoteBundle(at: folder)
    try bundle.append((clip?.header ?? []) + samples(of: quote.blocks), to: "clip.wav")
    try bundle.append([UInt8](repeating: 0, count: clip?.padByteCount ?? 0), to: "clip.wav")
    try bundle.append(quote.text, to: "quote.json")
    try bundle.append(receipt, to: "receipt.json")
    try bundle.append(key.verifyingKey.pem, to: "spool.pub")
    try bundle.append(QuoteBundle.script, to: "verify.py")
    try bundle.finish()
  }

  /// A receipt of exports with these samples.
  func receipt(of exports: [String: SampleSummary?]) -> String {
    let subjects = exports.sorted { $0.key < $1.key }.map { name, samples in
      Receipt.Subject(
        name: name, digest: SHA256.digest(of: name), byteCount: 9, step: "export",
        samples: samples)
    }
    return SampleReceipt.receipt(subjects).signed(by: key).text
  }

  /// The bytes of some blocks.
  func samples(of blocks: Range<Int>) -> [UInt8] {
    let frames = extent.frames(of: blocks)
    return Array(
      sound[
        frames.lowerBound * extent.frameByteCount..<frames.upperBound * extent.frameByteCount])
  }

  func bytes(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
  }

  /// Changes a file's bytes.
  func change(_ name: String, _ change: (inout [UInt8]) -> Void) throws {
    var bytes = try bytes(name)
    change(&bytes)
    try write(bytes, to: name)
  }

  /// Changes the quote as one who knows its form does.
  func rewrite(_ change: (inout [String: JSONValue]) -> Void) throws {
    let json = try JSONReader.strictValue(of: bytes("quote.json"), depthLimit: 64)
    guard case .object(var members) = json else { return }
    change(&members)
    try write(Array((JSONValue.object(members).compact + "\n").utf8), to: "quote.json")
  }

  /// What Spool says of it.
  func check(keys: [VerifyingKey]? = nil) -> VerificationResult? {
    Verification(keys: keys ?? [key.verifyingKey], threadCount: 2).check(quotes: [folder])?.first
  }

  /// What its own script says of it, or the one that every bundle has.
  func script(_ arguments: [String] = []) throws -> Program.Result {
    guard let python = Program(named: "python3") else { throw CocoaError(.fileNoSuchFile) }
    return try python.run(["\(folder)/verify.py"] + arguments, folder: "/")
  }
}
