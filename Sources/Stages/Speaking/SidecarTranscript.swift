import JSONText

/// The transcript that a recording's sidecar holds in its field `transcript`.
enum SidecarTranscript {
  /// The transcript as a file of its own, with a name that tells its format; nil where the bytes are
  /// no such sidecar.
  static func find(in bytes: [UInt8]) -> (bytes: [UInt8], name: String)? {
    guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
      let read = try? JSONReader.value(of: bytes, depthLimit: 32),
      case .object(let fields) = read.value, fields["words"] == nil, fields["segments"] == nil
    else { return nil }
    switch fields["transcript"] {
    case .text(let text): return (Array(text.utf8), "transcript.txt")
    case .object(let object):
      return (Array(JSONValue.object(object).compact.utf8), "transcript.json")
    case .list(let words):
      return (Array(JSONValue.object(["words": .list(words)]).compact.utf8), "transcript.json")
    default: return nil
    }
  }
}
