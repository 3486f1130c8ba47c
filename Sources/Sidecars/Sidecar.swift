public import JSONText

/// What a device says about a note, in a JSON file beside it. Whatever it says is a stranger's
/// word: nothing of it may become part of a path without `SafeName`.
public struct Sidecar: Hashable, Sendable {
  /// The note's identity: `noteId` or `uuid`.
  public var noteID: NoteID?
  /// When it was recorded: `createdAt`.
  public var createdAt: Timestamp?
  /// How long the device says that it is, in milliseconds: `durationMs`, or `duration` in seconds.
  public var milliseconds: Int?
  /// What the user calls it: `title`.
  public var title: String?
  /// What it was recorded with: `watchModel`.
  public var watchModel: String?
  /// That device's system: `watchOSVersion`.
  public var watchOSVersion: String?
  /// What sent it: `phoneModel`.
  public var phoneModel: String?
  /// That device's system: `iOSVersion`.
  public var iOSVersion: String?
  /// The user's words for it, each once, in the order written: `tags`.
  public var tags: [String] = []
  /// Every field as it is written there.
  public var written: [String: JSONValue] = [:]
  /// All other fields, for whoever knows them.
  public var unknown: [String: JSONValue] = [:]
  /// Everything that was wrong, in the order of the fields' names. What was right is still here.
  public var problems: [SidecarProblem] = []

  /// Whether its text is an object at all. One that is not may be half of one, or nobody's.
  public var isReadable = true

  /// Whether its text ends before its value does, as where only half of it is there yet.
  public var isCutOff = false

  /// Says nothing.
  public init() {}

  /// How many bytes a sidecar may have.
  public static let byteLimit = 1 << 20
  /// How many lists and objects may lie in one another.
  public static let depthLimit = 32

  /// The other fields as canonical JSON, an object; nil where there are none.
  public var unknownJSON: String? {
    unknown.isEmpty ? nil : JSONValue.object(unknown).compact
  }

  /// Whether it holds anything at all.
  public var isEmpty: Bool {
    var bare = self
    (bare.problems, bare.written) = ([], [:])
    (bare.isReadable, bare.isCutOff) = (true, false)
    return bare == Sidecar()
  }
}

extension Sidecar {
  /// Whether it is no device's word about a recording but what was heard in it, as recognisers write it
  /// under the same name: it has words or segments, and not one field of a sidecar.
  public var isTranscript: Bool {
    guard isReadable else { return false }
    var bare = self
    bare.unknown = [:]
    // So do recognisers' answers from afar, in seconds.
    if written["duration"] != nil { bare.milliseconds = nil }
    return bare.isEmpty && problems.isEmpty
      && ["segments", "words", "transcription"].contains { unknown[$0]?.list != nil }
  }

  /// Stands for a sidecar of too many bytes.
  package init(tooLong byteCount: Int) {
    self.init()
    isReadable = false
    problems = [
      SidecarProblem(
        field: nil, found: "\(byteCount) bytes", expected: "at most \(Self.byteLimit) bytes")
    ]
  }

  /// Whether a text that is no JSON may only lack its end: it ends where more is expected, or in the
  /// middle of a word, or goes on with the zeros of a program that makes room first.
  private static func isCutOff(_ bytes: [UInt8], at error: JSONSyntaxError) -> Bool {
    let rest = bytes.dropFirst(error.offset)
    return rest.isEmpty || rest.first == 0
      || ["true", "false", "null"].contains { $0.utf8.starts(with: rest) }
  }

  /// Reads the text of a sidecar. Never fails: what is wrong is among its problems.
  public init(json bytes: [UInt8]) {
    guard bytes.count <= Self.byteLimit else {
      self.init(tooLong: bytes.count)
      return
    }
    self.init()
    do throws(JSONSyntaxError) {
      let read = try JSONReader.value(of: bytes, depthLimit: Self.depthLimit)
      guard case .object(let fields) = read.value else {
        isReadable = false
        problems = [
          SidecarProblem(field: nil, found: read.value.summary, expected: "an object with fields")
        ]
        return
      }
      var reader = SidecarReader(fields)
      self = reader.sidecar()
      written = fields
      problems += read.repeatedNames.map {
        SidecarProblem(field: $0, found: "the name twice", expected: "each name once")
      }
    } catch {
      isReadable = false
      isCutOff = Self.isCutOff(bytes, at: error)
      problems = [
        SidecarProblem(
          field: nil, found: error.found, expected: error.expected, line: error.line,
          column: error.column)
      ]
    }
  }
}
