public import JSONText
internal import Sidecars
public import PipelineModel

/// What custody keeps of the sidecar of a note, for whoever processes the note or shows it.
public struct KeptFacts: Sendable {
  /// What the sidecar asks of the pipeline, its field `spool`; nil where it asks nothing.
  public let request: DocumentNode?
  /// What is wrong with the sidecar, one sentence each.
  public let problems: [String]

  /// Why the recording may not be all that was recorded; nil where nothing says so.
  public let doubt: String?

  /// The name of the file that came with it and says what is said in it; nil where none did.
  public let transcript: String?

  /// What sidecars of copies say otherwise, one sentence each.
  public let differences: [String]

  /// When it was recorded, in ISO 8601; nil where unknown.
  public let createdAt: String?
  /// How long it is, in milliseconds, as its sidecar or its container says; nil where unknown.
  public let milliseconds: Int?
  /// What recorded it; nil where unknown.
  public let recorder: String?
  /// What its sidecar says of the devices, by the names of its fields.
  public let devices: [String: String]
  /// The fields of its sidecar that nobody here knows.
  public let unknown: [String: JSONValue]

  /// Reads what is kept. O(n).
  public init(of note: Note) {
    let fields = CustodyFacts.fields(of: note.facts)
    func text(_ value: JSONValue?) -> String? {
      if case .text(let text)? = value { text } else { nil }
    }
    func fact(_ name: String) -> JSONValue? {
      if case .object(let fact)? = fields[name] { fact["value"] } else { nil }
    }
    if case .object(let unknown)? = fields["unknown"] {
      request = unknown["spool"]?.node
      self.unknown = unknown.filter { $0.key != "spool" }
    } else {
      (request, unknown) = (nil, [:])
    }
    doubt = text(fields["doubt"])
    transcript = text(fields["transcript"])
    createdAt = text(fact("createdAt"))
    recorder = text(fact("recorder"))
    if case .number(let digits)? = fact("durationMs") {
      milliseconds = Int(digits)
    } else {
      milliseconds = nil
    }
    devices = Dictionary(
      uniqueKeysWithValues: CustodyFacts.deviceFields.compactMap { name in
        text(fields[name]).map { (name, $0) }
      })
    if case .list(let differences)? = fields["differences"] {
      self.differences = differences.compactMap(text)
    } else {
      differences = []
    }
    if case .list(let problems)? = fields["problems"] {
      self.problems = problems.compactMap(text)
    } else {
      problems = []
    }
  }

  /// What can be used in the names of a note's exports: names in lower case.
  public func nameFields(of note: Note) -> [String: String] {
    var fields: [String: String] = [:]
    for (name, value) in unknown.sorted(by: { $0.key < $1.key }) {
      switch value {
      case .text(let text), .number(let text): fields[name.lowercased()] = text
      default: break
      }
    }
    for (name, value) in devices { fields[name.lowercased()] = value }
    fields["createdat"] = createdAt
    fields["title"] = note.title
    fields["noteid"] = note.shownID
    return fields
  }
}
