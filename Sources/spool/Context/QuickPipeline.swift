import Platform
import SoundEngine

/// The pipeline of a quick command as YAML text, as a user would write it. A pure value.
struct QuickPipeline {
  /// One stage. Parameters are YAML; those that are nil are left out.
  struct Stage {
    let kind: String
    let id: String?
    let parameters: [(name: String, value: String)]

    init(
      _ kind: String, id: String? = nil, _ parameters: KeyValuePairs<String, String?> = [:]
    ) {
      self.kind = kind
      self.id = id
      self.parameters = parameters.compactMap { name, value in value.map { (name, $0) } }
    }

    private init(_ kind: String, id: String?, all parameters: [(name: String, value: String)]) {
      self.kind = kind
      self.id = id
      self.parameters = parameters
    }

    /// The stage with another parameter.
    func adding(_ name: String, _ value: String) -> Self {
      Self(kind, id: id, all: parameters + [(name, value)])
    }
  }

  /// The name of the command, which is the pipeline's.
  let name: String
  /// Its inputs in YAML: `recording: sound`.
  let inputs: String
  let stages: [Stage]

  /// The whole pipeline.
  var text: String {
    let head = """
      # What spool \(name) does. To run it:  spool run THIS_FILE RECORDING --out FOLDER
      pipeline: \(name)
      inputs: { \(inputs) }
      stages:

      """
    return head + stages.map { "  - \($0.text)\n" }.joined()
  }

  /// A text as a YAML scalar in double quotes, in printable characters only. O(n).
  static func quoted(_ text: String) -> String {
    var scalar = ""
    for character in text.unicodeScalars {
      switch character {
      case "\"", "\\": scalar += "\\\(character)"
      case _ where character.isSteering || [0xFEFF, 0xFFFE, 0xFFFF].contains(character.value):
        let digits = String(character.value, radix: 16, uppercase: true)
        scalar += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      default: scalar.unicodeScalars.append(character)
      }
    }
    return "\"\(scalar)\""
  }
}

extension QuickPipeline.Stage {
  /// In one line, or in one for each parameter if a value has several.
  fileprivate var text: String {
    let members = parameters.map { "\($0.name): \($0.value)" }
    let isLong = members.contains { $0.contains("\n") }
    let body =
      isLong
      ? members.map { "\n      \($0)" }.joined()
      : members.isEmpty ? " {}" : " { \(members.joined(separator: ", ")) }"
    return "\(kind):\(body)" + (id.map { "\n    id: \($0)" } ?? "")
  }

  /// The stage that writes the files.
  /// - Parameters:
  ///   - name: of the files, without an ending; nil for the recording's.
  ///   - bits: of the formats without loss; nil for the stage's default.
  ///   - bitRate: of the formats that have one; nil for the stage's default.
  ///   - tags: in the place of the recording's.
  ///   - cover: the path of a picture in the place of the recording's.
  static func export(
    _ formats: [ExportFormat], name: String?, bits: String?, bitRate: String?,
    tags: [(name: String, text: String)] = [], cover: String? = nil
  ) -> Self {
    func group(_ format: ExportFormat, _ member: String, _ value: String?) -> String? {
      formats.contains(format) ? value.map { "{ \(member): \($0) }" } : nil
    }
    let metadata = tags.map { "\($0.name): \(QuickPipeline.quoted($0.text))" }
      .joined(separator: ", ")
    return Self(
      "export",
      [
        "formats": "[\(formats.map(\.rawValue).joined(separator: ", "))]",
        "wav": group(.wav, "bits", bits),
        "alac": group(.alac, "bits", bits),
        "flac": group(.flac, "bits", bits),
        "m4a": group(.m4a, "bit-rate", bitRate),
        "mp3": group(.mp3, "bit-rate", bitRate),
        "opus": group(.opus, "bit-rate", bitRate),
        "name": name.map(QuickPipeline.quoted),
        "metadata": tags.isEmpty ? nil : "{ \(metadata) }",
        "cover": cover.map(QuickPipeline.quoted),
      ])
  }

  /// The stage that measures the files as they decode, and warns of those above a ceiling.
  /// - Parameter ceiling: the one that the user asked for; nil for that above which files clip.
  static func measureExports(_ formats: [ExportFormat], ceiling: String?) -> Self {
    let files = formats.map { "export.\($0.port)" }.joined(separator: ", ")
    return Self("measure-exports", ["files": "[\(files)]", "true-peak": ceiling ?? "0 dBTP"])
  }

  /// The stage that brings sound to a level.
  /// - Parameters:
  ///   - loudness: such as `-16 LUFS`.
  ///   - truePeak: the ceiling, such as `-1 dBTP`.
  ///   - isDualMono: whether mono is measured as both speakers play it.
  static func normalize(loudness: String, truePeak: String, isDualMono: Bool = false) -> Self {
    Self(
      "normalize",
      [
        "loudness": loudness, "true-peak": truePeak, "dual-mono": isDualMono ? "true" : nil,
      ])
  }
}
