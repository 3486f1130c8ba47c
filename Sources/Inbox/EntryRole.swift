internal import Sidecars

/// What a file in an inbox is there for, by its name.
enum EntryRole: Hashable {
  /// To be processed. Whether it really holds sound is seen when it is opened.
  case recording
  /// To say more about a recording.
  case sidecar
  /// To say what is said in a recording.
  case transcript
  /// To say that the recording of the same name is complete.
  case marker
  /// To ask for something.
  case command

  /// The role of a name; nil where the rules leave such a file alone.
  init?(of name: FileName, rules: SettlingRules) {
    if let marker = rules.doneMarker, name.hasSuffix(marker) {
      self = .marker
    } else if name.hasSuffix(CommandReading.ending) {
      self = .command
    } else if name.hasSuffix(".json") {
      if rules.sidecar == .ignored { return nil }
      self = .sidecar
    } else if rules.takesTranscripts, TranscriptName.endings.contains(where: name.hasSuffix) {
      self = .transcript
    } else {
      self = .recording
    }
  }
}
