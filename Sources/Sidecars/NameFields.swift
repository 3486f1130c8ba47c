/// What is known of a recording for its exports' names: what its sidecar says, then its tags, then
/// its file name.
public struct NameFields: Sendable {
  private let path: String
  private let sidecar: [String: String]
  private let tags: [String: String]

  /// Collects what is known of the recording at `path`, below the batch's folder or the inbox. Names of fields
  /// are in lower case.
  public init(path: String, sidecar: [String: String] = [:], tags: [String: String] = [:]) {
    self.path = path
    self.sidecar = sidecar
    self.tags = tags
  }

  /// The names of the folders it lies in.
  var folders: [String] {
    PathText.folder(of: path).split(separator: "/").map(String.init)
  }

  /// A field's text; `unknown album` where nobody knows the album.
  subscript(name: String) -> String {
    switch name {
    case "stem": return stem
    case "folder": return folders.last ?? ""
    case "date": return date
    case "title": return given("title") ?? stem
    case _ where name.hasPrefix(NameField.sidecarMark):
      return given(name, by: NameField.sidecarMark, in: [sidecar])
    case _ where name.hasPrefix(NameField.tagMark):
      return given(name, by: NameField.tagMark, in: [tags])
    default: return given(name) ?? "unknown \(name)"
    }
  }

  private var stem: String { PathText.stem(of: PathText.name(of: path)) }

  private func given(_ name: String, by mark: String, in sources: [[String: String]]) -> String {
    let name = String(name.dropFirst(mark.count))
    return given(name, in: sources) ?? "unknown \(name)"
  }

  private func given(_ name: String) -> String? { given(name, in: [sidecar, tags]) }

  private func given(_ name: String, in sources: [[String: String]]) -> String? {
    for source in sources {
      let text = source[name] ?? source[name.replacing("-", with: "_")]
      if let text, text.contains(where: { !$0.isWhitespace }) { return text }
    }
    return nil
  }

  /// Where a date is looked for, in this order.
  private static let dateFields = ["date", "createdat", "creation_time", "year"]

  /// `2026-03-14`: the first whole day that the sidecar gives, then the tags, then the stem; else a
  /// year alone, of the sidecar or the tags; else `undated`.
  private var date: String {
    let said = [sidecar, tags].flatMap { source in
      Self.dateFields.compactMap { given($0, in: [source]) }
    }
    for text in said + [stem] { if let day = Self.day(in: text) { return day } }
    return said.first { $0.count == 4 && $0.allSatisfy(\.isNumber) } ?? "undated"
  }

  /// The first `2026-03-14` or `20260314` in a text, as the former.
  package static func day(in text: String) -> String? {
    let bytes = Array(text.utf8)
    func isDigit(_ index: Int) -> Bool {
      bytes.indices.contains(index) && (48...57).contains(bytes[index])
    }
    func number(_ start: Int, _ count: Int) -> Int? {
      let places = start..<start + count
      guard places.allSatisfy(isDigit) else { return nil }
      return places.reduce(0) { $0 * 10 + Int(bytes[$1] - 48) }
    }
    for start in bytes.indices where !isDigit(start - 1) {
      for gap in [1, 0] {
        let (monthAt, dayAt) = (start + 4 + gap, start + 6 + 2 * gap)
        let isParted =
          gap == 0
          || [monthAt, dayAt].allSatisfy {
            bytes.indices.contains($0 - 1) && bytes[$0 - 1] == UInt8(ascii: "-")
          }
        guard isParted, let year = number(start, 4), let month = number(monthAt, 2),
          let day = number(dayAt, 2), !isDigit(dayAt + 2), (1900...2199).contains(year),
          (1...12).contains(month), (1...31).contains(day)
        else { continue }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))"
      }
    }
    return nil
  }
}
