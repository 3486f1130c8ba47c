package import Platform

/// The form of a receipt's statement, described in the article Receipts.
package enum ReceiptForm {
  /// The statement's JSON Schema, draft 2020-12.
  package static var schema: JSONValue {
    guard case .object(var members) = statement.schema else { return statement.schema }
    members["$schema"] = .text("https://json-schema.org/draft/2020-12/schema")
    members["$id"] = .text("\(Receipt.predicateType):schema")
    members["title"] = .text("The statement of a Spool receipt")
    members["description"] = .text(
      "What the payload of the DSSE envelope holds. The article Receipts says what it means.")
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
    optional("run", name, "The earlier run that did the work, where that is known."),
    optional("program", program, "What did the work in the earlier run, where that is known."),
    optional("host", host, "The machine that the earlier run was done on, where that is known."),
    optional("begunAt", .time, "When the work on it began, where that is known."),
    optional("finishedAt", .time, "When it was made, where that is known."),
    member("previous", .hex, "The digest of what was stated before it."),
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
  private static let name = JSONForm.text(canBeEmpty: false)
  private static let count = JSONForm.integer(least: 0)
  private static let digestSet = JSONForm.object([member("sha256", .hex)])

  private static let subject = JSONForm.object([
    member("name", name, "The file's path from the receipt's folder."),
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
      "authorities", .list(name, least: 1),
      "The addresses of the authorities that are asked for a time stamp of the receipt."),
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

  private static func member(
    _ name: String, _ form: JSONForm, _ note: String? = nil
  ) -> JSONForm.Member { JSONForm.Member(name: name, form: form, note: note) }

  private static func optional(
    _ name: String, _ form: JSONForm, _ note: String? = nil
  ) -> JSONForm.Member { JSONForm.Member(name: name, form: form, isRequired: false, note: note) }
}
