import FoundationEssentials
import PipelineModel

/// How findings are written down.
enum Findings {
  /// JSON with sorted keys, so that equal findings have equal bytes.
  static func json(_ findings: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(findings), as: UTF8.self)
  }

  /// Reads what `json` wrote.
  static func decode<T: Decodable>(_ type: T.Type, from text: String) throws(StageError) -> T {
    do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch {
      throw StageError("the store holds findings that cannot be read", reason: "\(error)")
    }
  }
}
