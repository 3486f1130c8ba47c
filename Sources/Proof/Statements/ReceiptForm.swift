package import Platform

/// The form of a receipt's statement, described in the article Receipts.
package enum ReceiptForm {
  /// The statement's JSON Schema, draft 2020-12.
  package static var schema: JSONValue {
    schema(of: statement, Receipt.predicateType, called: "receipt", article: "Receipts")
  }

  /// The JSON Schema, draft 2020-12, of the statements of one type.
  static func schema(
    of form: JSONForm, _ type: String, called name: String, article: String
  ) -> JSONValue {
    guard case .object(var members) = form.schema else { return form.schema }
    members["$schema"] = .text("https://json-schema.org/draft/2020-12/schema")
    members["$id"] = .text("\(type):schema")
    members["title"] = .text("The statement of a Spool \(name)")
    members["description"] = .text(
      "What the payload of the DSSE envelope holds. The article \(article) says what it means.")
    return .object(members)
  }

  /// The statement without its stages, which are checked one by one, so that the faulty one is
  /// named.
  static let frame = statement(stages: .list(.anything, least: 1))

  static let stage = JSONForm.object([
    member("id", name), member("kind", name), member("revision", .integer(least: 1)),
    member("parameters", .anything), member("inputs", .map(.hex)),
    member("outputs", .map(output)), member("libraries", .map(text)), member("key", .hex),
    member("outcome", .oneOf(["made", "reused"])),
    optional(
      "damage", damage, "What the recording had lost and was kept, by decode: { damaged: keep }."),
    optional("run", name, "The earlier run that did the work, where that is known."),
    optional("program", program, "What did the work in the earlier run, where that is known."),
    optional("host", host, "The machine that the earlier run was done on, where that is known."),
    optional("begunAt", .time, "When the work on it began, where that is known."),
    optional("finishedAt", .time, "When it was made, where that is known."),
    optional("facts", .list(fact, least: 1), "What had to hold, of a stage that states it."),
    optional(
      "verified", .list(verified, least: 1),
      "What its files were found to hold when they were decoded again, before they were published."),
    member("previous", .hex, "The digest of what was stated before it."),
  ])

  private static let verified = JSONForm.object([
    member("format", name), member("rate", .integer(least: 1), "Frames a second, as it decodes."),
    member("channels", .integer(least: 1)),
    member("frames", count, "Of all files of the format together."),
    optional("files", .integer(least: 2), "How many files of the format there are, of several."),
    member(
      "result", .oneOf(["samples-equal", "decoded"]),
      "Whether every sample came back as it was given to the encoder; lossy formats are decoded and "
        + "measured."),
    optional("truePeak", name, "The true peak of the decoded sound."),
    optional("loudness", name, "The integrated loudness of the decoded sound."),
    optional("ceiling", name, "The true peak that the stages above promise."),
    optional("limit", name, "What the sound was limited to, to decode below the ceiling."),
    member("encodings", .integer(least: 1), "How often it was encoded."),
  ])

  private static let fact = JSONForm.object([
    member("name", name), member("measured", text), member("allowed", text),
    member("result", .oneOf(["holds", "out-of-bounds"])),
  ])

  private static let statement = statement(stages: .list(stage, least: 1))

  private static func statement(stages: JSONForm) -> JSONForm {
    .object([
      member("_type", .constant(Receipt.statementType)),
      member("predicateType", .constant(Receipt.predicateType)),
      member("subject", .list(subject, least: 1)),
      member(
        "predicate",
        .object([
          member("origin", origin), member("stages", stages),
          member("chain", .hex, "The digest of the last stage's statement."),
        ])),
    ])
  }

  private static let text = JSONForm.text(canBeEmpty: true)
  static let name = JSONForm.text(canBeEmpty: false)
  private static let count = JSONForm.integer(least: 0)
  static let digestSet = JSONForm.object([member("sha256", .hex)])

  private static let subject = JSONForm.object([
    member(
      "name", name, "The file's path from the receipt's folder, or from the one above receipts."),
    member("digest", digestSet),
    member(
      "annotations",
      .object([
        member("byteCount", count),
        optional(
          "step", name, "The step that gave it; left out for files that help with checking."),
        optional(
          "samples", samples,
          "The root over the sound of a file without loss. The article Quotes says how it is made."
        ),
      ])),
  ])

  private static let samples = JSONForm.object([
    member("format", .oneOf(["s16le", "s24le", "f32le"])),
    member("rate", .integer(least: 1), "Frames a second, and in a block."),
    member("channels", .integer(least: 1)), member("frames", .integer(least: 1)),
    member("blocks", .integer(least: 1)), member("root", .hex),
  ])

  private static let damage = JSONForm.object([
    member("count", .integer(least: 1), "The number of places."),
    member("filledFrames", count, "Frames of silence in place of lost sound, at all places."),
    member("sampleRate", .integer(least: 1), "Of the decoded sound."),
    member(
      "places",
      .list(
        .object([
          member("frame", count, "Where it begins in the decoded sound."),
          member("filledFrames", count),
          optional("byteOffset", count, "Where in the file, where that is known."),
          member("reason", text),
        ]), least: 1), "The first places."),
    optional(
      "shortfall",
      .object([
        member("decodedFrames", count, "Frames of the decoded sound, with the silence in it."),
        member("declaredFrames", count, "Frames that the file promises, at the same rate."),
      ]), "What is missing at the end of a recording that is cut off."),
  ])

  private static let program = JSONForm.object([member("name", text), member("version", text)])
  private static let host = JSONForm.object([member("name", text), member("system", text)])

  private static let origin = JSONForm.object([
    member("program", program), member("host", host),
    member(
      "run",
      .object([
        member("id", text), member("pipeline", text),
        optional("pipelineDigest", digestSet, "Of the pipeline's text."),
        member("startedAt", .time), member("finishedAt", .time),
      ])),
    member("sources", .list(source, least: 0)),
    optional(
      "receipt", name,
      "The receipt's own name, where it has no list of checksums or lies in a folder receipts. All "
        + "names start from the folder above that one."),
    optional(
      "authorities", .list(name, least: 1),
      "The addresses of the authorities that are asked for a time stamp of the receipt."),
    optional(
      "replaced", .list(.object([member("name", name), member("digest", digestSet)]), least: 1),
      "The receipt that was in this one's place, and the exports that were overwritten."),
  ])

  private static let source = JSONForm.object([
    member("input", text), member("name", text), member("digest", digestSet),
    optional("byteCount", count),
    optional("inbox", text, "The name of the watched folder that it arrived in."),
    optional("arrivedAt", .time),
    optional(
      "sidecar",
      .object([
        member("digest", digestSet), member("byteCount", count), optional("name", text),
        optional("content", .base64, "Its bytes, where they are at most 64 KiB."),
      ])),
  ])

  private static let output = JSONForm.object([
    member("kind", .oneOf(["sound", "file", "transcript", "measurement", "receipt"])),
    member("identity", .hex), optional("digest", digestSet), optional("byteCount", count),
  ])

  static func member(
    _ name: String, _ form: JSONForm, _ note: String? = nil
  ) -> JSONForm.Member { JSONForm.Member(name: name, form: form, note: note) }

  static func optional(
    _ name: String, _ form: JSONForm, _ note: String? = nil
  ) -> JSONForm.Member { JSONForm.Member(name: name, form: form, isRequired: false, note: note) }
}

/// The required form of untrusted JSON. The shipped JSON Schema is generated from it, so that both
/// agree.
indirect enum JSONForm: Sendable {
  struct Member: Sendable {
    let name: String
    let form: JSONForm
    var isRequired = true
    var note: String?
  }

  /// Exactly this text.
  case constant(String)
  /// One of these texts.
  case oneOf([String])
  /// Any text.
  case text(canBeEmpty: Bool)
  /// Base64.
  case base64
  /// A SHA-256: 64 lower-case hexadecimal digits.
  case hex
  /// A time in UTC with milliseconds, as ``DateTime`` writes it.
  case time
  case integer(least: Int)
  /// An object with exactly these members.
  case object([Member])
  /// An object with any names and members of one form.
  case map(JSONForm)
  /// Any object.
  case anything
  /// An array of elements of one form.
  case list(JSONForm, least: Int)

  /// A deviation from the form.
  struct Flaw: Hashable {
    /// The path of names and indices to it; empty for the value itself.
    var path: String
    let reason: String
  }

  /// The first deviation; nil if there is none. O(n).
  func flaw(in value: JSONValue) -> Flaw? {
    switch (self, value) {
    case (.constant(let wanted), .text(let text)):
      return wanted == text ? nil : Flaw(path: "", reason: "is not \(wanted)")
    case (.oneOf(let wanted), .text(let text)):
      return wanted.contains(text)
        ? nil : Flaw(path: "", reason: "is none of \(wanted.joined(separator: ", "))")
    case (.text(let canBeEmpty), .text(let text)):
      return canBeEmpty || !text.isEmpty ? nil : Flaw(path: "", reason: "is empty")
    case (.base64, .text): return nil
    case (.hex, .text(let text)):
      return DigestAlgorithm.sha256.digest(text.utf8) == text
        ? nil : Flaw(path: "", reason: "is no SHA-256")
    case (.time, .text(let text)):
      return Self.isTime(text) ? nil : Flaw(path: "", reason: "is no moment in UTC")
    case (.integer(let least), .number):
      return value.integer.map { $0 >= least } == true
        ? nil : Flaw(path: "", reason: "is no whole number from \(least) on")
    case (.object(let members), .object(let values)): return Self.flaw(of: members, in: values)
    case (.map(let form), .object(let values)):
      return values.sorted { $0.key < $1.key }.lazy.compactMap { name, value in
        form.flaw(in: value).map { Flaw(path: Self.join(name, $0.path), reason: $0.reason) }
      }.first
    case (.anything, .object): return nil
    case (.list(let form, let least), .list(let values)):
      if values.count < least { return Flaw(path: "", reason: "has too few entries") }
      return values.enumerated().lazy.compactMap { index, value in
        form.flaw(in: value).map {
          Flaw(path: Self.join("\(index + 1)", $0.path), reason: $0.reason)
        }
      }.first
    default: return Flaw(path: "", reason: "is of another kind than it has to be")
    }
  }

  private static func flaw(of members: [Member], in values: [String: JSONValue]) -> Flaw? {
    for member in members {
      guard let value = values[member.name] else {
        if member.isRequired { return Flaw(path: member.name, reason: "is missing") }
        continue
      }
      if let flaw = member.form.flaw(in: value) {
        return Flaw(path: join(member.name, flaw.path), reason: flaw.reason)
      }
    }
    let known = Set(members.map(\.name))
    return values.keys.sorted().first { !known.contains($0) }
      .map { Flaw(path: $0, reason: "is a member that no receipt has") }
  }

  private static func join(_ name: String, _ path: String) -> String {
    path.isEmpty ? name : "\(name).\(path)"
  }

  private static func isTime(_ text: String) -> Bool {
    let pattern = "0000-00-00T00:00:00.000Z"
    return text.utf8.count == pattern.utf8.count
      && zip(text.utf8, pattern.utf8).allSatisfy { byte, wanted in
        wanted == UInt8(ascii: "0")
          ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
      }
  }

  /// As JSON Schema, draft 2020-12.
  var schema: JSONValue {
    switch self {
    case .constant(let text): .object(["const": .text(text)])
    case .oneOf(let texts): .object(["enum": .list(texts.map { .text($0) })])
    case .text(let canBeEmpty):
      .object(leavingOut: [
        "type": .text("string"), "minLength": canBeEmpty ? nil : .integer(1),
      ])
    case .base64: .object(["type": .text("string"), "contentEncoding": .text("base64")])
    case .hex: Self.pattern("^[0-9a-f]{64}$")
    case .time:
      Self.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$")
    case .integer(let least):
      .object(["type": .text("integer"), "minimum": .integer(least)])
    case .object(let members):
      .object([
        "type": .text("object"),
        "properties": .object(
          Dictionary(members.map { ($0.name, $0.schema) }, uniquingKeysWith: { one, _ in one })),
        "required": .list(members.filter(\.isRequired).map { .text($0.name) }),
        "additionalProperties": .boolean(false),
      ])
    case .map(let form):
      .object(["type": .text("object"), "additionalProperties": form.schema])
    case .anything: .object(["type": .text("object")])
    case .list(let form, let least):
      .object(leavingOut: [
        "type": .text("array"), "items": form.schema,
        "minItems": least > 0 ? .integer(least) : nil,
      ])
    }
  }

  private static func pattern(_ pattern: String) -> JSONValue {
    .object(["type": .text("string"), "pattern": .text(pattern)])
  }
}

extension JSONForm.Member {
  fileprivate var schema: JSONValue {
    guard let note, case .object(var members) = form.schema else { return form.schema }
    members["description"] = .text(note)
    return .object(members)
  }
}
