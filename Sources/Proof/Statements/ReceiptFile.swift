package import Platform

/// A receipt's file. Neither its signature nor its statement is verified.
package struct ReceiptFile: Sendable {
  /// Byte for byte.
  package let bytes: [UInt8]
  private let folder: String
  private let envelope: Envelope
  private let statement: JSONValue

  /// Nil if there is none or it is unreadable.
  package init?(at path: String) {
    guard let bytes = try? SubjectFile.readWhole(path, limit: Envelope.maximumByteCount) else {
      return nil
    }
    self.init(bytes, at: path)
  }

  /// Nil if this is no receipt.
  package init?(_ bytes: [UInt8], at path: String) {
    guard let envelope = try? Envelope(bytes),
      let statement = try? JSONReader.signedValue(of: envelope.payload)
    else { return nil }
    self.bytes = bytes
    self.envelope = envelope
    self.statement = statement
    folder = ReceiptSearch.base(of: path, statement)
  }

  /// The SHA-256 of its bytes.
  package var digest: Digest { SHA256.digest(of: bytes) }

  /// Its leaf hash in the transparency log.
  package var leaf: Digest { MerkleTree.leaf(bytes) }

  /// Its subjects in its folder or below it: their paths, and the SHA-256 of their bytes.
  package var files: [(path: String, digest: Digest)] {
    (statement["subject"]?.list ?? []).compactMap { subject in
      guard let name = subject["name"]?.text, SubjectFile(name: name, in: folder) != nil,
        let digest = subject["digest"]?["sha256"]?.text.flatMap(Digest.init(hex:))
      else { return nil }
      return (folder + name, digest)
    }
  }

  private var run: JSONValue? { statement["predicate"]?["origin"]?["run"] }

  /// The SHA-256 of the pipeline's text; nil if it has none.
  package var pipelineDigest: Digest? {
    run?["pipelineDigest"]?["sha256"]?.text.flatMap(Digest.init(hex:))
  }

  /// The day of the work, as `2026-11-21` in UTC; nil if it has none.
  package var day: String? { (run?["finishedAt"]?.text?.prefix(10)).map(String.init) }

  /// When the last export was in place, in ISO 8601; nil if it does not say.
  package var finishedAt: String? { run?["finishedAt"]?.text }

  package func isSigned(by key: VerifyingKey) -> Bool { envelope.isSigned(by: key) }

  /// Whether it is signed by this key and states the same recordings, work and results as another
  /// statement, though perhaps of another run, program, host or time, of a pipeline whose text says the
  /// same in other words, and of sound that the store kept then or not: one receipt suffices for both.
  package func says(_ receipt: Receipt, signedBy key: VerifyingKey) -> Bool {
    isSigned(by: key) && statement.substance == receipt.json.substance
  }
}

extension JSONValue {
  /// The digest of what a receipt's statement says of recordings, pipeline, work and exports: without
  /// program, host, run, times and the pipeline's text, and without the files in the store, which are there or not as
  /// room allows.
  var substance: Digest {
    let origin = self["predicate"]?["origin"]
    let stages = self["predicate"]?["stages"]?.list ?? []
    let essence = JSONValue.object(leavingOut: [
      "subject": self["subject"],
      "pipeline": origin?["run"]?["pipeline"],
      "sources": origin?["sources"],
      "receipt": origin?["receipt"],
      "authorities": origin?["authorities"],
      "stages": .list(
        stages.map {
          $0.without([
            "outcome", "run", "program", "host", "begunAt", "finishedAt", "previous",
          ]).changing("outputs") { $0.mapped { $0.without(["digest", "byteCount"]) } }
        }),
    ])
    return SHA256.digest(of: essence.bytes)
  }

  /// What a receipt's statement says of the receipt's own name; nil if nothing.
  var statedName: String? { self["predicate"]?["origin"]?["receipt"]?.text }

  /// The time stamping authorities named in a receipt's statement.
  var authorities: [String] {
    (self["predicate"]?["origin"]?["authorities"]?.list ?? []).map { $0.text ?? "" }
  }

  /// An object with another value of one member, if it has that.
  private func changing(_ name: String, _ change: (JSONValue) -> JSONValue) -> JSONValue {
    guard case .object(var members) = self, let value = members[name] else { return self }
    members[name] = change(value)
    return .object(members)
  }

  /// An object with other values.
  private func mapped(_ change: (JSONValue) -> JSONValue) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.mapValues(change))
  }

  /// An object without some members; other values unchanged.
  private func without(_ names: Set<String>) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !names.contains($0.key) })
  }
}
