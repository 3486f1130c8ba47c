/// A session file, YAML or JSON.
///
/// Apps write more into their sessions than a mixer needs: unknown keys are ignored, unless they
/// look like a typo.
package typealias ParsedSession = Parsed<SessionDefinition>

extension Parsed where Definition == SessionDefinition {
  /// UTF-8. O(n).
  package init(_ bytes: [UInt8]) { self.init(YAMLDocument(bytes)) }

  /// O(n).
  package init(_ text: String) { self.init(YAMLDocument(text)) }

  private init(_ document: YAMLDocument) {
    self.init(document, empty: SessionDefinition()) { $0.session($1) }
  }
}

extension DocumentReader {
  private static let sessionKeys = Vocabulary(
    ["masterVolume", "sampleRate", "channels"],
    synonyms: [
      "master": "masterVolume", "master-volume": "masterVolume", "sample-rate": "sampleRate",
      "tracks": "channels",
    ])
  private static let channelKeys = Vocabulary(
    ["file", "name", "role", "volume", "gain", "pan", "isMuted", "isSoloed", "isVoice", "offset"],
    synonyms: [
      "path": "file", "mute": "isMuted", "muted": "isMuted", "solo": "isSoloed",
      "soloed": "isSoloed", "voice": "isVoice", "panning": "pan", "kind": "role",
    ])

  fileprivate mutating func session(_ root: DocumentNode) -> SessionDefinition {
    var session = SessionDefinition()
    guard let entries = rootEntries(root, of: "the file", Self.sessionKeys) else { return session }
    for entry in entries {
      switch entry.key {
      case "masterVolume": session.masterVolume = number(entry, .number, 0...1.5) ?? 1
      case "sampleRate":
        session.sampleRate = entry.value.isNull ? nil : number(entry, .hertz, 4000...768_000)
      case "channels":
        session.channels = items(
          entry.value, of: "channels", allowed: "a list: for each track its file and settings"
        ).compactMap { channel($0) }
      default: reportSlip(entry, Self.sessionKeys, of: "a session")
      }
    }
    if !entries.contains(where: { $0.key == "channels" }) {
      report(root.location, "the session has no channels", allowed: "channels: and a list below it")
    }
    return session
  }

  private mutating func channel(_ node: DocumentNode) -> SessionDefinition.Channel? {
    guard let entries = entries(node, of: "a channel", allowed: Self.channelKeys.list) else {
      return nil
    }
    var channel = SessionDefinition.Channel(at: node.location)
    for entry in entries where !entry.value.isNull {
      switch entry.key {
      case "file": channel.file = located(entry)
      case "name":
        channel.name = text(entry.value, of: entry.key)
        if let name = channel.name {
          checkUnique(name, at: entry.value.location, of: "channels", allowed: "another name")
        }
      case "role":
        channel.role = value(
          entry.value, of: entry.key, allowed: TrackRole.words.joined(separator: ", "),
          words: TrackRole.words
        ) { TrackRole(rawValue: $0) }
      case "volume": channel.volume = number(entry, .number, 0...1.5) ?? channel.volume
      case "gain": channel.gain = number(entry, .decibels, -120...24) ?? channel.gain
      case "pan": channel.pan = number(entry, .number, -1...1) ?? channel.pan
      case "isMuted": channel.isMuted = flag(entry.value, of: entry.key) ?? false
      case "isSoloed": channel.isSoloed = flag(entry.value, of: entry.key) ?? false
      case "isVoice": channel.isVoice = flag(entry.value, of: entry.key) ?? false
      case "offset":
        channel.offset =
          value(entry.value, of: entry.key, allowed: TrackOffset.allowed) { TrackOffset($0) }
          ?? channel.offset
      default: reportSlip(entry, Self.channelKeys, of: "a channel")
      }
    }
    if channel.role == .voice { channel.isVoice = true }
    if channel.isVoice { channel.role = channel.role ?? .voice }
    return channel
  }

  /// Reports a probable typo of a key.
  private mutating func reportSlip(
    _ entry: DocumentNode.Entry, _ keys: Vocabulary, of owner: String
  ) {
    if keys.nearest(to: entry.key) != nil { reportUnknown(entry, among: keys, of: owner) }
  }
}
