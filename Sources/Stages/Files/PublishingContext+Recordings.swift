import PipelineModel
import Platform
import SoundEngine

/// Which recordings the tags of a step's files come from.
extension PublishingContext {
  /// Whether the step's sound is that of one recording alone.
  var isOneRecording: Bool { Set(upstream.ways(to: step).map(\.recording)).count <= 1 }

  /// What files take over of their recording: of the one that the step names, else what all say of
  /// which the sound is made.
  func carriedTags(_ reader: RecordingTags) throws(SpoolError) -> ExportTags {
    let ways = upstream.ways(to: step)
    // The named recording is the nearest.
    let isNamed = upstream.recordingNamed(by: step) != nil
    let files = isNamed || ways.isEmpty ? Array(recordings.prefix(1)) : ways.map(\.recording)
    var tags: [ExportTags] = []
    for file in files { tags.append(try reader.of(file)) }
    return ExportTags(sharedBy: tags)
  }

  /// The title that a sidecar gives to files: that of the recording that the step names, else the only
  /// one that sidecars of the sound's recordings have. Warns of others.
  func title() -> String? {
    let named = upstream.recordingNamed(by: step)
    let told = upstream.ways(to: step).filter { titles[$0.input] != nil }
    let texts = Set(told.compactMap { titles[$0.input] })
    let title = named.map { titles[$0] } ?? (texts.count == 1 ? texts.first : nil)
    let others = told.filter { titles[$0.input] != title }.map(\.recording.title)
    if let first = others.first {
      let count = Set(others).count
      warn(
        "the title in the sidecar of \(first)\(count > 1 ? " and of \(count - 1) more" : "") is left "
          + "out: " + (named.map { "recording: $\($0) counts" } ?? "recording: $input chooses one"))
    }
    return title
  }

  /// Warns of tags that the recordings of the sound do not share.
  func warnOfDifferences(_ tags: ExportTags) {
    let names = tags.differences
    guard !names.isEmpty else { return }
    warn(
      "\(ExportTags.listed(names)) of the recordings "
        + (names.count > 1 ? "differ and are" : "differs and is") + " left out: recording: $input "
        + "takes those of one, metadata and cover state others")
  }
}
