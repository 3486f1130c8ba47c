/// What a template for exported files' names may be made of.
struct FileNameRule {
  /// Beyond this, nothing that names a recording is meant.
  static let maximumLength = 200

  /// What may stand in braces.
  let fields: [String]

  /// Something wrong with a template.
  struct Flaw: Hashable {
    /// What, as the end of a sentence that begins with the parameter.
    let message: String
    let allowed: String
    var suggestion: String?
  }

  /// All that is wrong with a template.
  func flaws(of template: String) -> [Flaw] {
    let choice = fields.map { "{\($0)}" }.joined(separator: ", ")
    var flaws: [Flaw] = []
    if template.count > Self.maximumLength {
      flaws.append(
        Flaw(
          message: "is too long (\(template.count) characters)",
          allowed: "text of at most \(Self.maximumLength) characters"))
    }
    if template.contains("/") || template == "." || template == ".." {
      flaws.append(
        Flaw(
          message: "is one file's name, and \"\(template)\" leads to a folder",
          allowed: "a name without /; --out chooses the folder"))
    }
    var rest = template[...]
    while let opening = rest.firstIndex(of: "{") {
      guard let closing = rest[opening...].firstIndex(of: "}") else {
        flaws.append(
          Flaw(message: "has a brace that is not closed: \"\(template)\"", allowed: choice))
        break
      }
      let field = String(rest[rest.index(after: opening)..<closing])
      if !fields.contains(field) {
        flaws.append(
          Flaw(
            message: "has no field {\(field)}", allowed: choice,
            suggestion: Problem.nearest(to: field, in: fields).map { "{\($0)}" }))
      }
      rest = rest[rest.index(after: closing)...]
    }
    return flaws
  }
}
