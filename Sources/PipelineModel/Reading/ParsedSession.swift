/// A session file, YAML or JSON, with every error in it. It can be mixed only if `problems` is
/// empty.
///
/// Apps write more into their sessions than a mixer needs: unknown keys are ignored, unless they
/// look like a typo.
package struct ParsedSession: Hashable, Sendable {
  /// The session, as far as it is readable.
  package let definition: SessionDefinition
  /// In the order of the file, each with its place.
  package let problems: [Problem]

  /// UTF-8. O(n).
  package init(_ bytes: [UInt8]) { self.init(YAMLDocument(bytes)) }

  /// O(n).
  package init(_ text: String) { self.init(YAMLDocument(text)) }

  private init(_ document: YAMLDocument) {
    guard let root = document.root else {
      definition = SessionDefinition()
      problems = document.problems
      return
    }
    var reader = SessionReader()
    definition = reader.read(root)
    problems = (document.problems + reader.findings.problems).inFileOrder
  }
}

struct SessionReader {
  private(set) var findings = Findings()
  private var names: Set<String> = []

  private static let topKeys = Vocabulary(
    ["masterVolume", "sampleRate", "channels"],
    synonyms: [
      "master": "masterVolume", "master-volume": "masterVolume", "sample-rate": "sampleRate",
      "tracks": "channels",
    ])
  private static let channelKeys = Vocabulary(
    [
      "file", "name", "volume", "gain", "pan", "isMuted", "isSoloed", "isVoice", "offset",
    ],
    synonyms: [
      "path": "file", "mute": "isMuted", "muted": "isMuted", "solo": "isSoloed",
      "soloed": "isSoloed", "voice": "isVoice", "panning": "pan",
    ])

  mutating func read(_ root: DocumentNode) -> SessionDefinition {
    var result = SessionDefinition()
    guard case .mapping(let entries) = root.content else {
      findings.report(
        root.location,
        root.isNull ? "the file is empty" : "the file is a mapping, not \(root.summary)",
        allowed: Self.topKeys.list)
      return result
    }
    for entry in entries {
      switch entry.key {
      case "masterVolume":
        result.masterVolume = number(entry, .number, 0...1.5) ?? 1
      case "sampleRate":
        result.sampleRate = entry.value.isNull ? nil : number(entry, .hertz, 4000...768_000)
      case "channels": result.channels = channels(entry.value)
      default: reportSlip(entry, Self.topKeys, of: "a session")
      }
    }
    if !entries.contains(where: { $0.key == "channels" }) {
      findings.report(
        root.location, "the session has no channels", allowed: "channels: and a list below it")
    }
    return result
  }

  private mutating func channels(_ node: DocumentNode) -> [SessionDefinition.Channel] {
    guard case .sequence(let items) = node.content, !items.isEmpty else {
      let isList = if case .sequence = node.content { true } else { false }
      findings.report(
        node.location, isList ? "channels is an empty list" : "channels is \(node.summary)",
        allowed: "a list: for each track its file and settings")
      return []
    }
    return items.compactMap { channel($0) }
  }

  private mutating func channel(_ node: DocumentNode) -> SessionDefinition.Channel? {
    guard
      let entries = findings.entries(node, of: "a channel", allowed: Self.channelKeys.list)
    else { return nil }
    var channel = SessionDefinition.Channel(at: node.location)
    for entry in entries where !entry.value.isNull { read(entry, into: &channel) }
    return channel
  }

  private mutating func read(
    _ entry: DocumentNode.Entry, into channel: inout SessionDefinition.Channel
  ) {
    switch entry.key {
    case "file":
      channel.file = findings.text(entry.value, of: entry.key, allowed: "a path").map {
        Located($0, at: entry.value.location)
      }
    case "name": channel.name = name(entry)
    case "volume": channel.volume = number(entry, .number, 0...1.5) ?? channel.volume
    case "gain": channel.gain = number(entry, .decibels, -120...24) ?? channel.gain
    case "pan": channel.pan = number(entry, .number, -1...1) ?? channel.pan
    case "isMuted": channel.isMuted = findings.flag(entry.value, of: entry.key) ?? false
    case "isSoloed": channel.isSoloed = findings.flag(entry.value, of: entry.key) ?? false
    case "isVoice": channel.isVoice = findings.flag(entry.value, of: entry.key) ?? false
    case "offset":
      guard let text = findings.text(entry.value, of: entry.key, allowed: TrackOffset.allowed)
      else { return }
      if let offset = TrackOffset(text) {
        channel.offset = offset
      } else {
        findings.report(
          entry.value.location, "offset is \"\(text)\"", allowed: TrackOffset.allowed)
      }
    default: reportSlip(entry, Self.channelKeys, of: "a channel")
    }
  }

  /// A channel's name, which must be unique.
  private mutating func name(_ entry: DocumentNode.Entry) -> String? {
    guard let name = findings.text(entry.value, of: entry.key) else { return nil }
    if !names.insert(name).inserted {
      findings.report(
        entry.value.location, "two channels are called \"\(name)\"", allowed: "another name")
    }
    return name
  }

  /// A value within the limits of its unit, in the base unit.
  private mutating func number(
    _ entry: DocumentNode.Entry, _ unit: Unit, _ range: ClosedRange<Double>
  ) -> Double? {
    let allowed = ParameterType.number(unit, range).allowed
    guard let text = findings.text(entry.value, of: entry.key, allowed: allowed) else {
      return nil
    }
    if let number = try? unit.parse(text), range.contains(number) { return number }
    findings.report(entry.value.location, "\(entry.key) is \"\(text)\"", allowed: allowed)
    return nil
  }

  /// Reports a probable typo of a key.
  private mutating func reportSlip(
    _ entry: DocumentNode.Entry, _ keys: Vocabulary, of owner: String
  ) {
    guard let meant = keys.nearest(to: entry.key) else { return }
    findings.report(
      entry.location, "\"\(entry.key)\" is not a part of \(owner)", allowed: keys.list,
      suggestion: meant)
  }
}
