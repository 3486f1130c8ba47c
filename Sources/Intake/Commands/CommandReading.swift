import PipelineModel
import Platform
import Store

/// Reads a device's command. Its content is untrusted: none of it becomes part of a path as it is.
enum CommandReading {
  /// The largest command in bytes.
  static let byteLimit = 1 << 16

  static let ending = ".command.json"

  /// The command's identity: the file's name up to `.command.json`.
  static func id(of name: FileName) -> String {
    String(decoding: name.bytes.dropLast(ending.utf8.count), as: UTF8.self)
  }

  /// Reads a command.
  /// - Parameters:
  ///   - name: the file's.
  ///   - fallbackTime: the file's modification time, for devices that give no time, in seconds
  ///     since 1970.
  static func command(
    json bytes: [UInt8], name: FileName, pipeline: String, fallbackTime: Double
  ) throws(SpoolError) -> RecordingCommand {
    let id = id(of: name)
    guard AcknowledgementName.isPlain(id) else {
      throw SpoolError(
        "the name before .command.json is not made of letters, digits, -, _ and . alone")
    }
    let fields = try fields(of: bytes)
    if let written = fields["id"], written != .text(id) {
      throw SpoolError("its id is \(written.summary), and its file's name says \"\(id)\"")
    }
    guard let recording = (fields["noteId"] ?? fields["note"])?.text else {
      throw SpoolError("noteId: \(found(fields["noteId"])), expected a recording's UUID or name")
    }
    // A UUID in canonical form; a name in the store as it is.
    let known = NoteID(recording)?.text ?? recording
    guard AcknowledgementName.isPlain(known) else {
      throw SpoolError("noteId: \(JSONValue.text(recording).summary) names no recording")
    }
    return RecordingCommand(
      id: id, pipeline: pipeline, recording: known, request: try request(fields),
      issuedAt: try time(fields) ?? fallbackTime)
  }

  private static func fields(of bytes: [UInt8]) throws(SpoolError) -> [String: JSONValue] {
    do throws(JSONSyntaxError) {
      let read = try JSONReader.value(of: bytes, depthLimit: 8)
      guard case .object(let fields) = read.value else {
        throw JSONSyntaxError(found: read.value.summary, expected: "an object with fields")
      }
      return fields
    } catch {
      throw SpoolError(error.description)
    }
  }

  private static func request(
    _ fields: [String: JSONValue]
  ) throws(SpoolError) -> RecordingCommand.Request {
    guard let name = fields["command"]?.text else {
      throw SpoolError(
        "command: \(found(fields["command"])), expected retry, cancel, rename or tag")
    }
    switch name {
    case "retry": return .retry
    case "cancel": return .cancel
    case "rename":
      guard let title = fields["title"]?.text.flatMap({ PrintableText.plain($0, limit: 1000) })
      else { throw SpoolError("title: \(found(fields["title"])), expected a text") }
      return .rename(title)
    case "tag":
      guard let values = fields["tags"]?.list, values.count <= 100 else {
        throw SpoolError(
          "tags: \(found(fields["tags"])), expected a list of at most 100 texts")
      }
      var tags: [String] = []
      for value in values {
        guard let tag = value.text.flatMap({ PrintableText.plain($0, limit: 100) }) else {
          throw SpoolError("tags: \(value.summary) among them, expected texts")
        }
        if !tags.contains(tag) { tags.append(tag) }
      }
      return .tag(tags)
    default:
      throw SpoolError(
        "command: \(JSONValue.text(name).summary), expected retry, cancel, rename or tag")
    }
  }

  private static func time(_ fields: [String: JSONValue]) throws(SpoolError) -> Double? {
    guard let written = fields["issuedAt"], written != .null else { return nil }
    guard let time = written.text.flatMap({ DateTime(iso8601: $0) }) else {
      throw SpoolError(
        "issuedAt: \(written.summary), expected a time such as 2026-11-21T14:05:33Z")
    }
    return time.seconds
  }

  private static func found(_ value: JSONValue?) -> String {
    value.map { "found \($0.summary)" } ?? "is missing"
  }
}
