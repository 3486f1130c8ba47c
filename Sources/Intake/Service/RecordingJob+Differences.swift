internal import PipelineEngine
internal import PipelineModel
internal import Platform
import Store

/// What a recording whose sound is known says beside it.
extension RecordingJob {
  /// Records what a duplicate's file says that the recording of its sound does not.
  /// - Returns: why that is ignored, and what does the recording again with it; nil if there is
  ///   nothing.
  func tellDifferences(
    of copy: Recording, from original: RecordingKey
  ) throws(SpoolError) -> String? {
    guard let known = try engine.store.recordings.recording(original),
      let file = try? engine.store.path(of: known.content),
      let other = try? engine.store.path(of: copy.content)
    else { return nil }
    let own = engine.probe.metadata(SourceFile(file, named: known.fileName))
    let fields = engine.probe.metadata(SourceFile(other, named: copy.fileName))
      .filter { own[$0.key] != $0.value }.sorted { $0.key < $1.key }
    if fields.isEmpty { return nil }
    let sentences = fields.map { name, value in
      let shown = own[name].flatMap { PrintableText.plain($0, limit: 200) } ?? "none"
      return "\(name): \(shown), and \(PrintableText.plain(value, limit: 200) ?? "") by this file"
    }
    _ = try engine.store.recordings.change(
      copy.key, .differ(facts: FactsText.json(copy.facts, addingDifferences: sentences)))
    let names = fields.map(\.key).joined(separator: ", ")
    return "; what this file says (\(names)) is ignored; to do the recording again with it, "
      + settings.recordingRules.bringingBack(original, copy.key, option: engine.option)
      // Else it is taken in again, and this one is its copy once more.
      + (settings.recordingRules.keep == .leave ? "take \(known.fileName) out of the inbox, " : "")
      + "move the exports of \(original) away, type "
      + engine.option.completing("\(command: .inboxForget) \(original) \(copy.key)")
      + ", and deliver this file again"
  }

  /// Reports what waits for a person because the recording is sensitive: an upload that does not begin
  /// would seem to hang.
  func tellHeld(_ recording: Recording) throws(SpoolError) {
    guard StoredFacts(of: recording).isSensitive else { return }
    var query = DeliveryQueue.Query(states: [.held])
    query.owner = .recording(recording.key)
    let count = try engine.store.deliveries.matching(query).count
    guard count > 0 else { return }
    engine.record(
      WatchEvent(
        .warning, at: engine.clock.now, inbox: settings.path, recording: recording.key.name,
        file: recording.fileName,
        text: "it is sensitive: \(count) \(count == 1 ? "file" : "files") for destinations "
          + "\(count == 1 ? "is" : "are") held until "
          + engine.option.completing("\(command: .deliverRelease) \(recording.key)")))
  }
}
