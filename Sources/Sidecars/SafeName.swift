/// A stranger's text made fit to be part of a file's name, on every file system and in every
/// shell: it is never empty, never hidden, leads nowhere and is no option.
public struct SafeName: Hashable, Sendable {
  /// The name, without an ending.
  public let text: String

  /// Cleans a text; nil where nothing is left of it.
  ///
  /// Separators, and the characters that Windows forbids or shells read, become hyphens; what
  /// cannot be seen goes, and so do points, hyphens and spaces at both ends.
  ///
  /// - Parameter byteLimit: how long it may become in UTF-8; it is cut between characters.
  public init?(_ text: String, byteLimit: Int = 120) {
    guard let plain = PlainText(text, limit: 1000) else { return nil }
    var replaced = ""
    for character in plain.text {
      let isForbidden = character.unicodeScalars.contains { Self.forbidden.contains($0) }
      if isForbidden, replaced.hasSuffix("-") { continue }
      replaced.append(isForbidden ? "-" : character)
    }
    var name = Self.trimmed(replaced)
    while name.utf8.count > byteLimit, !name.isEmpty { name.removeLast() }
    name = Self.trimmed(name)
    guard !name.isEmpty else { return nil }
    // Windows opens a device under these names, whatever their ending.
    let base = name.prefix { $0 != "." }.lowercased()
    self.text = Self.devices.contains(base) ? "_" + name : name
  }

  private static func trimmed(_ text: String) -> String {
    var text = text[...]
    while let first = text.first, edges.contains(first) { text.removeFirst() }
    while let last = text.last, edges.contains(last) { text.removeLast() }
    return String(text)
  }

  private static let edges: Set<Character> = [" ", ".", "-", "~"]
  private static let forbidden: Set<Unicode.Scalar> = [
    "/", "\\", ":", "*", "?", "\"", "'", "<", ">", "|", "$", "`", ";", "&", "%", "{", "}",
    "\u{fffd}",
  ]
  private static let devices = Set(
    ["con", "prn", "aux", "nul"] + (1...9).flatMap { ["com\($0)", "lpt\($0)"] })
}

extension SafeName: CustomStringConvertible {
  /// The name itself.
  public var description: String { text }
}
