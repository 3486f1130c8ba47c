internal import Hashing
internal import JSONText

extension Receipt {
  /// The digest of what the receipt says apart from who said so, where and when: two runs that
  /// took, did and gave the same have the same, and one receipt is enough for both.
  var substance: Digest { Self.substance(of: json) }

  /// The text of the envelope at a path, if a key's owner signed it and it has this receipt's
  /// substance: a process that was killed may have left it there before that was noted anywhere.
  public func standing(at path: String, signedBy key: VerifyingKey) -> String? {
    guard
      let bytes = try? SubjectFile.readWhole(path, limit: Envelope.maximumByteCount),
      let envelope = try? Envelope(bytes), envelope.isSigned(by: key),
      let statement = try? JSONReader.signedValue(of: envelope.payload),
      Self.substance(of: statement) == substance
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The day on which the work was done that a receipt tells of, as `2026-11-21` in UTC; nil for
  /// what is no receipt. The signature is not looked at.
  public static func day(of text: String) -> String? {
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
  /// An object without some of its members; anything else as it is.
  fileprivate func without(_ names: Set<String>) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !names.contains($0.key) })
  }
}
