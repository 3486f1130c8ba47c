import PipelineModel
import Platform
import Search
import Store
import Transcripts

/// The words of a recording as they count now: of its transcripts the best, with all corrections.
struct RecordingWords {
  /// The digest of the recording's file.
  let recording: Digest
  /// The recording's file when it was run.
  let path: String
  let run: RunRecord
  /// The unchanged transcript.
  let artifact: Artifact
  /// Oldest first.
  let corrections: [Correction]
  /// The transcript with its corrections.
  let corrected: CorrectedTranscript

  var transcript: Transcript { corrected.transcript }
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// What the last transcript does not have the places of, a line each.
  var missedLines: [String] {
    corrected.missed.map { number, change in
      let place = change.start.map { " at \(SearchText.time($0))" } ?? ""
      return "not applied, as its place is not found: “\(change.removed.joined(separator: " "))” → "
        + "“\(change.inserted.joined(separator: " "))”\(place), by \(corrections[number].author), "
        + corrections[number].time
    }
  }
}

extension DiskStore {
  /// The words of a recording. Of several transcripts aligned ones come before recognised ones, and then
  /// the newest. O(runs).
  /// - Parameter recording: the digest of its file.
  func words(of recording: Digest, named name: String) throws(SpoolError) -> RecordingWords {
    var best: (run: RunRecord, told: RunRecord.ToldTranscript)?
    for run in try runs.newest(limit: .max) where run.state == .done {
      guard run.recordings?.values.contains(recording) == true else { continue }
      let told = try run.transcripts(in: self).filter { told in
        told.input.flatMap { run.recordings?[$0] } == recording
          && file(of: told.artifact.digest) != nil
      }
      if let aligned = told.first(where: \.isAligned) {
        best = (run, aligned)
        break
      }
      if best == nil { best = told.first.map { (run, $0) } }
    }
    guard let best else {
      throw SpoolError(
        "there are no words of \(name)", reason: "no run has found any, or they are not kept",
        advice: "spool run words \(ShellWords.line([name]))")
    }
    let bytes = try doing("read the words of", name) { () throws(SystemError) in
      try FileOperations.system.bytes(of: file(of: best.told.artifact.digest) ?? "")
    }
    let corrections = try corrections.overlay(of: recording)
    return RecordingWords(
      recording: recording, path: best.told.input.flatMap { best.run.inputs[$0] } ?? name,
      run: best.run, artifact: best.told.artifact, corrections: corrections,
      corrected: CorrectedTranscript(try TranscriptFormat.json.read(bytes), with: corrections))
  }
}

extension CorrectionTable {
  /// The corrections of a recording, oldest first.
  func overlay(of recording: Digest) throws(SpoolError) -> [Correction] {
    try all(of: recording).map { (stored) throws(SpoolError) in
      do {
        return Correction(
          author: stored.author, time: stored.time,
          changes: try [WordChange](jsonText: stored.changes))
      } catch {
        throw SpoolError(
          "read a correction of", recording.short, reason: "\(error)",
          advice: "a newer Spool may have written it")
      }
    }
  }
}
