import AudioModel
import Hashing
import Media
import PipelineModel

extension PublishingContext {
  /// What a WAV file is to tell; nil while that is not known yet, as a stage that will know has not
  /// finished.
  /// - Parameters:
  ///   - tags: what is carried over from the recording.
  ///   - start: the frame at which the file begins, of a file that is a piece of the sound; nil for
  ///     the whole.
  func broadcastNotes(
    for artifact: Artifact, _ target: ExportTarget, tags: ExportTags,
    start: Frames? = nil
  ) throws(StageError) -> BroadcastNotes? {
    var loudness = BroadcastLoudness()
    // Figures of the whole say nothing of a piece.
    if start == nil {
      guard case .known(let found) = try KnownLoudness(self) else { return nil }
      loudness = found
    }
    let path: String
    do throws(StoreError) { path = try store.path(of: artifact) } catch {
      throw StageError(error)
    }
    let extent: (format: AudioFormat, frames: Frames)?
    do throws(MediaError) { extent = try BroadcastWave.extent(of: path) } catch {
      throw StageError(error)
    }
    var past = SoundPast(lineage.chain(to: step), of: tags.source)
    if let start { past.begin(at: start) }
    let incoming = past.isOneRecording ? tags.notes : BroadcastNotes()

    var bext = BroadcastExtension()
    let description = [incoming.bext?.description, tags.title].compactMap { $0 }
      .first { !$0.isEmpty }
    bext.description = description ?? ExportName.stem(of: names.first)
    // Who made the recording made what is told in it; what was done since is in the coding history.
    bext.originator =
      incoming.bext.map(\.originator).flatMap { $0.isEmpty ? nil : $0 }
      ?? "\(Release.name) \(Release.version)"
    (bext.originationDate, bext.originationTime) = tags.origination ?? ("", "")
    bext.timeReference = past.time.reference(incoming.bext?.timeReference ?? 0)
    let isUnmeasured = loudness == BroadcastLoudness()
    bext.loudness =
      start == nil && past.isAsRecorded && isUnmeasured
      ? incoming.bext?.loudness ?? loudness : loudness
    var lines = past.lines
    if past.isOneRecording, let source = tags.source {
      lines.insert(CodingHistory.Line(ofRecording: source, incoming.bext), at: 0)
    }
    lines.append(
      CodingHistory.Line(
        format: extent?.format, wordLength: target.depth?.rawValue,
        words: "\(Release.name) \(Release.version); written as \(target.format.rawValue)"))
    bext.codingHistory = CodingHistory.text(lines, after: incoming.bext?.codingHistory ?? "")

    var notes = BroadcastNotes()
    notes.bext = bext
    carry(
      incoming, past.time, extent?.frames, isWhole: start == nil && past.time.isUnchanged,
      to: &notes)
    // A piece, or sound that stands elsewhere in time, is not the material that these name.
    let isSameMaterial = start == nil && past.time.isUnchanged
    let given = isSameMaterial ? incoming.bext : nil
    bext.materialIdentifier = given?.materialIdentifier ?? []
    notes.bext = bext
    bext.originatorReference =
      given.map(\.originatorReference).flatMap { $0.isEmpty ? nil : $0 }
      ?? reference(artifact, notes)
    notes.bext = bext
    return notes
  }

  /// Carries over what tells of moments of the recording, as far as these are still where they were
  /// or can be followed, and tells of what is left out.
  private func carry(
    _ incoming: BroadcastNotes, _ time: TimePath, _ frames: Frames?, isWhole: Bool,
    to notes: inout BroadcastNotes
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
    guard !lost.isEmpty else { return }
    let recording = recordings.first?.split(separator: "/").last ?? "the recording"
    warn(
      "\(lost.joined(separator: " and ")) of \(recording) left out of WAV files: "
        + (time.isKnown
          ? "it tells of the recording as it was, and of all of it"
          : "the stages above moved the sound in time"))
  }

  /// The file's own name, which no other has, and which is the same for the same content: half of a
  /// SHA-256, in hexadecimal digits.
  private func reference(_ artifact: Artifact, _ notes: BroadcastNotes) -> String {
    let digest = SHA256.digest(
      of: "spool-broadcast-reference-1\n\(artifact.digest.hex)\n\(notes.digest.hex)")
    return String(digest.hex.prefix(32))
  }
}
