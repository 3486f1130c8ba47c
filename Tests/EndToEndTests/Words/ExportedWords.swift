import Foundation

/// The words of an exported transcript, as anybody reads its JSON.
struct ExportedWords: Decodable {
  struct Word: Decodable {
    let text: String
    let startTime: Double
    let endTime: Double
    let confidence: Double?
    let speaker: String?
    let flags: [String]?
  }

  struct Segment: Decodable {
    let startTime: Double
    let speaker: String?
  }

  let language: String?
  let isFinal: Bool
  let words: [Word]
  let segments: [Segment]?

  /// Reads a file.
  init(at path: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    self = try JSONDecoder().decode(ExportedWords.self, from: data)
  }
}
