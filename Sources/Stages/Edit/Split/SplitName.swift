import PipelineModel
import Platform
import SoundEngine

/// What pieces and their files are called.
struct SplitName: Sendable {
  /// More pieces than this are a mistake rather than a wish.
  static let mostPieces = 999
  /// For how many names the place is looked after before it is known how many pieces there are.
  static let likelyPieces = 99

  private static let placeholder = "{piece}"
  private let template: String

  /// Throws where all pieces would have the same name.
  init(_ template: String) throws(SpoolError) {
    guard template.contains(SplitName.placeholder) else {
      throw SpoolError(
        "split would give every piece the same name, \(template)",
        advice: "name: \"{stem}-{piece}\"")
    }
    self.template = template
  }

  /// The number of a piece, with as many digits as the last one of all has; two at least.
  static func number(_ number: Int, of count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(2, String(count).count) - digits.count) + digits
  }

  /// Where a piece's file comes out: `wav.01`.
  static func port(_ format: PortName, _ number: String) -> PortName {
    PortName("\(format).\(number)")
  }

  /// The format and the number that `port` made a name of; nil for others.
  static func piece(_ port: PortName) -> (format: ExportFormat, number: String)? {
    let parts = port.name.split(separator: ".")
    guard parts.count == 2, let format = ExportFormat(rawValue: String(parts[0])) else {
      return nil
    }
    return (format, String(parts[1]))
  }

  /// The name of a piece's file.
  func file(_ number: String, of recording: String?, _ fileExtension: String) -> String {
    let name = template.replacing(SplitName.placeholder, with: number)
    return ExportName.fill(name, recording: recording) + fileExtension
  }

  /// What is to be said where there are more pieces than there may be.
  static let tooMany = SpoolError(
    "split would write more than \(mostPieces) pieces",
    advice: "a longer minimum or a lower threshold, or fewer markers")
}
