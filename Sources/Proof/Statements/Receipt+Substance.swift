internal import Platform

extension Receipt {
  /// The digest of the statement without host, run and times: runs with the same inputs, work and
  /// results need only one receipt.
  var substance: Digest { Self.substance(of: json) }

  /// The envelope at a path, if it is signed by this key and has this receipt's substance: a killed
  /// process may have left it there before it was recorded.
  package func status(at path: String, signedBy key: VerifyingKey) -> String? {
    guard
      let bytes = try? SubjectFile.readWhole(path, limit: Envelope.maximumByteCount),
      let envelope = try? Envelope(bytes), envelope.isSigned(by: key),
      let statement = try? JSONReader.signedValue(of: envelope.payload),
      Self.substance(of: statement) == substance
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The day of a receipt's work, as `2026-11-21` in UTC; nil if it is no receipt. The signature is
  /// not checked.
  package static func day(of text: String) -> String? {
    guard let envelope = try? Envelope(Array(text.utf8)),
      let statement = try? JSONReader.signedValue(of: envelope.payload)
    else { return nil }
    return (statement["predicate"]?["origin"]?["run"]?["finishedAt"]?.text?.prefix(10))
      .map(String.init)
  }

  private static func substance(of statement: JSONValue) -> Digest {
    let origin = statement["predicate"]?["origin"]
    let stages = statement["predicate"]?["stages"]?.list ?? []
    let essence = JSONValue.object(leavingOut: [
      "subject": statement["subject"],
      "program": origin?["program"],
      "pipeline": origin?["run"]?["pipeline"],
      "pipelineDigest": origin?["run"]?["pipelineDigest"],
      "sources": origin?["sources"],
      "authorities": origin?["authorities"],
      "stages": .list(
        stages.map {
          $0.without([
            "outcome", "run", "program", "host", "begunAt", "finishedAt", "previous",
          ])
        }),
    ])
    return SHA256.digest(of: essence.bytes)
  }
}

extension JSONValue {
  /// An object without some members; other values unchanged.
  fileprivate func without(_ names: Set<String>) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !names.contains($0.key) })
  }
}
