import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

/// What files take over of their recording's metadata, and the warnings of what they do not.
extension PublishingContext {
  /// Carries over what refers to times in the recording, as far as these are still where they were
  /// or can be followed, and warns of what is left out.
  func carry(
    _ incoming: BroadcastMetadata, _ time: TimePath, _ frames: Frames?, isWhole: Bool,
    to notes: inout BroadcastMetadata
  ) {
    var lost: [String] = []
    // The end of the whole may be marked; that of a piece is the beginning of the next.
    let end = Frames((frames ?? Frames(.max)).count - (isWhole ? 0 : 1))
    if time.isKnown {
      let cues = incoming.cues?.moved { frame in
        time.place(of: frame).flatMap { $0 <= end ? $0 : nil }
      } length: {
        time.length($0)
      }
      notes.cues = cues.flatMap { $0.isEmpty ? nil : $0 }
    } else if incoming.cues != nil {
      lost.append("cue points")
    }
    // It counts tracks and times of the whole.
    if isWhole {
      notes.iXML = incoming.iXML
    } else if incoming.iXML != nil {
      lost.append("iXML")
    }
    warnOfLost(
      lost,
      "left out of WAV files: "
        + (time.isKnown
          ? "it tells of the recording as it was, and of all of it"
          : "the stages above moved the sound in time"))
    warnOfLost(incoming.otherChunks, "left out of WAV files: Spool does not know these chunks")
  }

  /// Warns of what only WAV files hold, where there is a file without loss and none of them: it may
  /// be meant to take the recording's place.
  func warnOfFieldsMissing(in targets: [ExportTarget], _ tags: ExportTags) {
    let isArchived = targets.contains { $0.format.isLossless }
    guard isArchived, !targets.contains(where: { $0.format == .wav }) else { return }
    let history = ProcessingHistory(upstream.chain(to: step), of: tags.source)
    guard history.isOneRecording else { return }
    var lost = tags.notes.bext?.fieldsBesideTags ?? []
    if tags.notes.iXML != nil { lost.append("iXML") }
    if let detail = tags.notes.cues?.detail { lost.append(detail) }
    let others = tags.notes.otherChunks
    let isWave = !["aiff", "caf"].contains(tags.source?.container)
    warnOfLost(lost + (isWave ? others : []), "left out: only WAV files hold them")
    if !isWave { warnOfLost(others, "left out: Spool does not know these chunks") }
  }

  /// What the step's files were found to hold, by its own report and by their formats; empty before all
  /// files are done. O(bytes of the report).
  var exportChecks: [String: ExportCheck] {
    let report = outputs[.measurement]?.artifact.flatMap { try? store.text(of: $0) }
    let checks = report.map { ExportCheck.checks(report: $0) } ?? []
    return Dictionary(checks.map { ($0.format, $0) }) { $1 }
  }

  /// Says where a file has another bit rate than is asked for, as its format has none such.
  func warnOfBitRate(_ target: ExportTarget, _ check: ExportCheck?) {
    let compromise = check.flatMap {
      target.spec.compromise(at: $0.sampleRate, channelCount: $0.channels)
    }
    if let compromise { warn(compromise) }
  }

  private func warnOfLost(_ lost: [String], _ reason: String) {
    guard let last = lost.last else { return }
    let list = lost.dropLast().joined(separator: ", ")
    let recording = recordings.first?.title ?? "the recording"
    warn("\(list.isEmpty ? last : "\(list) and \(last)") of \(recording) \(reason)")
  }
}

extension BroadcastExtension {
  /// What it tells that tags do not, in words.
  fileprivate var fieldsBesideTags: [String] {
    [
      ("originator", !originator.isEmpty), ("originator reference", !originatorReference.isEmpty),
      ("time reference", timeReference != 0), ("UMID", !materialIdentifier.isEmpty),
      ("coding history", !codingHistory.isEmpty),
    ].filter(\.1).map(\.0)
  }
}
