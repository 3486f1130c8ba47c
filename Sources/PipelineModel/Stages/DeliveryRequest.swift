import Platform

/// What a stage asks to have delivered of a run, and where to: one file a destination and content.
package struct DeliveryRequest: Hashable, Sendable {
  /// What of a run is delivered.
  package enum Content: String, Hashable, Sendable, Codable, CaseIterable {
    /// Finished sound, and all other files that its stages gave.
    case exports
    /// The signed receipt, with the files that belong to it.
    case receipt
    /// Words in any format.
    case transcript
    /// The recordings as they arrived.
    case original
    /// The document about the recording, which is delivered behind its files. It cannot be asked for.
    case metadata
    /// The signed confirmation of what was delivered. It cannot be asked for.
    case confirmation

    /// What may be asked for.
    package static let choices: [Content] = [.exports, .receipt, .transcript, .original]
  }

  /// What happens where the destination has a file of the name that Spool did not put there.
  package enum Encounter: String, Hashable, Sendable, Codable, CaseIterable {
    /// The same bytes count as delivered; others are an error.
    case same
    /// The file gets a number: `note (2).m4a`.
    case rename
    /// It is an error.
    case fail
  }

  /// The names of the destinations, in order.
  package var destinations: [String]
  package var contents: Set<Content>
  /// The path at the destination, with fields in braces; see ``DeliveryPath``.
  package var path: String
  /// Whether a recording counts as uploaded only once these destinations have it.
  package var isRequired: Bool
  package var encounter: Encounter

  package static let usualContents = Set(Content.choices)
  package static let usualPath = "{date}/{title}-{noteId}/{name}"

  package init(
    to destinations: [String], _ contents: Set<Content> = Self.usualContents,
    path: String = Self.usualPath, isRequired: Bool = true, encounter: Encounter = .same
  ) {
    self.destinations = destinations
    self.contents = contents
    self.path = path
    self.isRequired = isRequired
    self.encounter = encounter
  }
}

/// The template of a path at a destination: folders and a name, with fields in braces.
package enum DeliveryPath {
  /// The fields, and what each stands for.
  package static let fields: [(name: String, meaning: String)] = [
    ("date", "the day of the recording, as 2025-03-01, or as much of it as is known; else undated"),
    ("time", "its time of day, as 14-05-09, or untimed"),
    ("noteId", "its device's name for it, or its own in the store"),
    ("title", "its title, or its name without the ending"),
    ("stem", "its name without the ending"),
    ("folder", "its folders below the batch's folder or the inbox; alone between slashes"),
    ("name", "the file's name, with the folders that its run made for it; originals in originals/"),
    ("ext", "the file's ending, without the point"),
    ("pipeline", "the pipeline's name"),
    ("what", "exports, receipt, transcript, original or metadata"),
  ]

  /// Why a text is no template; nil if it is one. O(n).
  package static func fault(of template: String) -> String? {
    let names = fields.map(\.name)
    var rest = template[...]
    var plain = ""
    while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else {
        return "it has a brace without its other one"
      }
      let field = String(rest[rest.index(after: open)..<close])
      guard names.contains(field) else { return "there is no field {\(field)}" }
      plain += rest[..<open] + "x"
      rest = rest[rest.index(after: close)...]
    }
    plain += rest
    if plain.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) {
      return "it has a control character"
    }
    let parts = plain.split(separator: "/", omittingEmptySubsequences: false)
    if parts.contains(where: { $0.isEmpty }) {
      return "a folder or the name in it is empty"
    }
    if template.split(separator: "/").contains(where: {
      $0.contains("{folder}") && $0 != "{folder}"
    }) {
      return "{folder} stands for several folders, and not alone between slashes"
    }
    if parts.contains(where: { $0 == "." || $0 == ".." }) { return "it has the folder . or .." }
    guard ["{name}", "{ext}"].contains(where: { template.contains($0) }) else {
      return "it has neither {name} nor {ext}: files of several endings would get one name"
    }
    return nil
  }

  /// The path with the fields' values. What cannot be part of a name everywhere becomes `-`, and no part
  /// is empty, hidden, or longer than 200 bytes; a part that is `{name}` alone stays as the file is
  /// called, since receipts and lists speak of it. O(n).
  package static func fill(_ template: String, _ values: [String: String]) -> String {
    var names: [String] = []
    for part in template.split(separator: "/", omittingEmptySubsequences: false) {
      if part == "{folder}" {
        names += folders(values)
        continue
      }
      // A bag's files have folders of their own, and so have originals.
      if part == "{name}", let name = values["name"] {
        names += name.pathNames
        continue
      }
      var filled = ""
      var rest = part
      while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        filled += rest[..<open]
        let field = String(rest[rest.index(after: open)..<close])
        let value = values[field] ?? ""
        filled +=
          field == "name"
          ? value.pathNames.map(Self.part).joined(separator: "/") : Self.part(value)
        rest = rest[rest.index(after: close)...]
      }
      filled += rest
      names += filled.split(separator: "/", omittingEmptySubsequences: false).map(bounded)
    }
    return names.joined(separator: "/")
  }

  /// How many names of a filled path lead to the folder that is one recording's alone: another version
  /// of the recording's files gets a folder of its own, with a number. Nil where files of several
  /// recordings lie side by side. O(n).
  package static func versionDepth(of template: String, _ values: [String: String]) -> Int? {
    let parts = template.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let own = parts.prefix { !$0.contains("{name}") }
      .lastIndex { part in ["{noteId}", "{title}", "{stem}"].contains { part.contains($0) } }
    return own.map { own in
      parts[...own].reduce(0) { $0 + ($1 == "{folder}" ? folders(values).count : 1) }
    }
  }

  private static func folders(_ values: [String: String]) -> [String] {
    (values["folder"] ?? "").pathNames.map { bounded(part($0)[...]) }
  }

  /// A value as part of a name.
  private static func part(_ value: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      let isUsable =
        switch scalar {
        case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": false
        default: scalar.value >= 0x20 && !(0x7f...0x9f).contains(scalar.value)
        }
      scalars.append(isUsable ? scalar : "-")
    }
    return String(scalars)
  }

  private static func bounded(_ name: Substring) -> String {
    var name = Substring(name.drop { $0 == "." || $0 == " " })
    while let last = name.last, last == " " || last == "." { name.removeLast() }
    if name.isEmpty { return "unnamed" }
    guard name.utf8.count > longestName else { return String(name) }
    // An ending tells programs what a file holds.
    let ending = name.lastIndex(of: ".").map { name[$0...] } ?? ""
    let kept = ending.utf8.count <= 20 ? ending : ""
    var stem = name.dropLast(kept.count)
    while stem.utf8.count + kept.utf8.count > longestName { stem.removeLast() }
    return String(stem + kept)
  }

  /// Bytes of a name, with room for a number and for `.part`.
  private static let longestName = 200
}

extension Plan {
  /// The steps that have the run's files delivered.
  package var deliveringSteps: [BoundStep] { steps.filter { $0.stage.delivery != nil } }
}
