internal import FoundationEssentials
internal import PipelineModel

/// Values as the JSON in the database's columns: sorted keys, so that equal values are equal text.
enum StoredJSON {
  static func encode(_ value: some Encodable, to action: String) throws(StoreError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      throw StoreError(action, path: "the store", reason: "\(error)")
    }
  }

  static func decode<Value: Decodable>(_ text: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }
}
