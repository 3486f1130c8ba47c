import Foundation
import TestSupport

/// Recordings whose words somebody timed by hand, where they lie beside the package.
enum HandTimedSpeech {
  /// The recordings and the tier of each that holds the words.
  private static let tiers = [
    ("msajc003", "Text"), ("msajc010", "Text"), ("msajc012", "Text"), ("msajc015", "Text"),
    ("tobi", "words"), ("mary", "word"), ("bobby", "word"),
  ]

  /// What there is: the path of each recording, its length in seconds, and its words.
  static func all() -> [(path: String, seconds: Double, words: [TimedSpeech.Word])] {
    tiers.compactMap { name, tier in
      guard let path = PackageFiles.sharedData("speech/hand-timed/\(name).wav"),
        let grid = PackageFiles.sharedData("speech/hand-timed/\(name).TextGrid"),
        let data = FileManager.default.contents(atPath: grid)
      else { return nil }
      let words = TextGridTier(named: tier, in: String(decoding: data, as: UTF8.self)).words
      return (path, seconds(of: path), words)
    }
  }

  /// The length of a WAV file: its size over the bytes of a second, which its head has.
  private static func seconds(of path: String) -> Double {
    guard let data = FileManager.default.contents(atPath: path), data.count > 44 else { return 0 }
    let rate = (0..<4).reduce(0) { $0 | Int(data[28 + $1]) << (8 * $1) }
    return Double(data.count - 44) / Double(max(1, rate))
  }
}

/// A tier of a TextGrid, in its long form and in its short one: what counts in either are the
/// numbers and texts that stand alone.
private struct TextGridTier {
  private(set) var words: [TimedSpeech.Word] = []

  init(named name: String, in text: String) {
    let tokens = text.matches(of: /"(?:[^"]|"")*"|[^\s"]+/).map { String($0.0) }
      .filter { $0.hasPrefix("\"") || Double($0) != nil }
    guard let start = tokens.firstIndex(of: "\"\(name)\"") else { return }
    // Its beginning, its end and the number of its intervals follow.
    var place = start + 4
    while place + 2 < tokens.count, let begin = Double(tokens[place]) {
      let label = tokens[place + 2].trimmingCharacters(in: CharacterSet(charactersIn: "\"., "))
      if !label.isEmpty { words.append(TimedSpeech.Word(text: label, start: begin)) }
      place += 3
    }
  }
}
