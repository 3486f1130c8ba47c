internal import FoundationEssentials
internal import Hashing
internal import PipelineModel

/// A record as the text of a small file: JSON that vouches for itself.
///
/// `{"digest":"…","record":{…}}`: the digest is the SHA-256 of the text of the record, byte for
/// byte as it stands there, so that one flipped bit is seen and not believed.
enum SealedRecord {
  private static let head = #"{"digest":""#
  private static let middle = #"","record":"#
  private static let tail = "}\n"

  /// The text of the file.
  static func encode(_ value: some Encodable) throws(StoreError) -> String {
    let record = try StoredJSON.encode(value, to: "write a record in")
    return head + SHA256.digest(of: record).hex + middle + record + tail
  }

  /// Reads what `encode` gave; nil for anything else.
  static func decode<Value: Decodable>(_ text: String) -> Value? {
    guard text.hasPrefix(head), text.hasSuffix(tail) else { return nil }
    let body = text.dropFirst(head.count).dropLast(tail.count)
    let (hex, rest) = (body.prefix(64), body.dropFirst(64))
    guard rest.hasPrefix(middle) else { return nil }
    let record = String(rest.dropFirst(middle.count))
    guard SHA256.digest(of: record).hex == hex else { return nil }
    return try? StoredJSON.decode(record)
  }
}
