import Foundation
import Platform
@testable import Proof
import TestSupport

/// A receipt with its files in a folder of its own, as a run would leave them.
struct SampleReceipt {
  let scratch: ScratchFolder
  let key = SigningKey()
  let statement: JSONValue
  let subjects: [Receipt.Subject]

  var path: String { scratch.file("note.receipt.json") }

  /// - Parameters:
  ///   - exports: the names and texts of the exports.
  ///   - stampCount: how many time stamps its script expects.
  init(
    _ exports: [String: String] = ["note.wav": "sound", "it's \"one\".m4a": "more"],
    stampCount: Int = 0
  ) throws {
    scratch = try ScratchFolder()
    var files = exports
    files["spool.pub"] = key.verifyingKey.pem
    files["note.verify.sh"] = VerificationScript.text(
      receipt: "note.receipt.json", checksums: "note.sha256", key: "spool.pub",
      stampCount: stampCount)
    files["note.sha256"] = ChecksumList.text(
      of: files.sorted { $0.key < $1.key }.map { ($0.key, SHA256.digest(of: $0.value)) })
    for (name, text) in files { try scratch.write(text, to: name) }
    subjects = files.sorted { $0.key < $1.key }.map { name, text in
      let extent = SampleExtent(format: .s24le, rate: 48_000, channels: 2, frames: 480_001)
      return Receipt.Subject(
        name: name, digest: SHA256.digest(of: text), byteCount: text.utf8.count,
        step: exports[name] == nil ? nil : "export",
        samples: name.hasSuffix(".wav")
          ? extent.map { SampleSummary(extent: $0, root: SHA256.digest(of: "root")) } : nil)
    }
    statement = Self.receipt(subjects).json
    try write(statement)
  }

  /// Signs a statement, and puts it in the receipt's place.
  func write(_ statement: JSONValue) throws {
    try scratch.write(
      Envelope(statement.bytes, signedBy: key).text, to: "note.receipt.json")
  }

  /// What `Verification` says of it.
  func check(keys: [VerifyingKey]? = nil) -> VerificationResult? {
    Verification(keys: keys ?? [key.verifyingKey], threadCount: 2).check([path])?.first
  }

  /// What is wrong with it, as `kind name`.
  func complaints(keys: [VerifyingKey]? = nil) -> [String]? {
    check(keys: keys)?.problems.map { "\($0.kind?.rawValue ?? "-") \($0.name)" }
  }

  static func receipt(_ subjects: [Receipt.Subject], finishedAt: Double = 1_790_000_002.25)
    -> Receipt
  {
    let digests = ["a", "b", "c", "d"].map { SHA256.digest(of: $0) }
    let source = Receipt.source(
      input: "note", name: "note.m4a", digest: digests[0], byteCount: 1234, inbox: "inbox",
      arrivedAt: 1_790_000_000,
      sidecar: Receipt.sidecar(
        name: "note.json", digest: SHA256.digest(of: "{}"), byteCount: 2,
        content: Array("{}".utf8)))
    func stage(_ id: String, _ input: Digest, _ output: Digest) -> JSONValue {
      Receipt.stage(
        id: id, kind: id, revision: 2,
        parameters: .object(["frequency": .decimal(80.5), "bands": .list([.integer(3)])]),
        inputs: ["sound": input],
        outputs: [
          "sound": Receipt.output(kind: "sound", identity: output, file: (digests[3], 9))
        ],
        libraries: ["libavcodec": "59.37.100"], key: digests[3], isReused: id == "decode",
        finishedAt: id == "decode" ? nil : finishedAt,
        verified: id == "export"
          ? [
            Receipt.verified(
              "wav", rate: 48_000, channels: 2, frames: 480_001, files: nil, isEqual: true,
              truePeak: nil, loudness: nil, ceiling: nil, limit: nil, encodings: 1),
            Receipt.verified(
              "m4a", rate: 48_000, channels: 2, frames: 480_001, files: 2, isEqual: false,
              truePeak: "-1.2 dBTP", loudness: "-16.1 LUFS", ceiling: "-1 dBTP",
              limit: "-2.4 dBTP", encodings: 2),
          ] : nil)
    }
    return Receipt(
      subjects: subjects,
      origin: Receipt.origin(
        program: ("spool", "1"), host: ("host", "Linux"),
        run: Receipt.run(
          id: "run-1", pipeline: "quick", pipelineDigest: digests[1], startedAt: 1_790_000_000.12,
          finishedAt: finishedAt),
        sources: [source]),
      stages: [
        stage("decode", digests[0], digests[1]), stage("eq", digests[1], digests[2]),
        stage("export", digests[2], digests[3]),
      ])
  }
}
