import Glibc
import Hashing
import PipelineModel
import Stages
import Store

/// Cuts what a search has found out of the sound it was found in.
struct SearchClip {
  let store: DiskStore
  /// Seconds that are left before and behind.
  let padding: Double

  /// A clip that was written.
  struct Made {
    let path: String
    let source: String
    let start: Double
    let end: Double

    var text: String {
      "\(Format.visible(path))  \(Format.decimal(end - start, places: 1)) s from "
        + "\(SearchText.time(start)) of \(Format.visible(source))"
    }

    var json: String {
      JSONText.of(Line(clip: path, source: source, startTime: start, endTime: end))
    }

    private struct Line: Encodable {
      let clip: String
      let source: String
      let startTime: Double
      let endTime: Double
    }
  }

  /// Stages that leave every moment of the sound where it was.
  private static let timeKeepers: Set<String> = [
    "decode", "eq", "gate", "compress", "gain", "limit", "normalize", "normalize-survey", "measure",
    "dc", "declip", "dehum", "denoise", "deess", "fade", "mono", "stereo", "channels", "resample",
    "invert",
  ]

  /// Writes the clip of a hit.
  func cut(
    _ hit: SearchHit, to path: String, isReplacing: Bool, mayGoOn: () -> Bool
  ) throws(StageError) -> Made {
    guard let start = hit.start, let end = hit.end else {
      throw StageError(
        "the words have no times", reason: "the transcript of \(hit.name) says none",
        advice: "align gives them: spool run Pipelines/words.yaml RECORDING TRANSCRIPT")
    }
    let (source, name) = try source(of: hit)
    let clip = try SoundClip(
      max(0, start - padding)...end + padding, of: source, to: path, isReplacing: isReplacing,
      mayGoOn: mayGoOn)
    return Made(path: path, source: name, start: clip.start, end: clip.end)
  }

  /// The recording, where its times are those of the words; else the sound that was kept.
  private func source(
    of hit: SearchHit
  ) throws(StageError) -> (SoundClip.Source, name: String) {
    do throws(StoreError) {
      guard let sound = try store.sound(of: hit) else {
        throw StoreError(
          "find the run", path: hit.run, reason: "the store knows it no more",
          advice: "run the pipeline on the recording again")
      }
      let keepsTime = sound.kinds?.isSubset(of: Self.timeKeepers) ?? false
      var changed: String?
      if keepsTime || sound.kept == nil && sound.kinds == nil {
        for path in sound.paths where unsafe access(path, R_OK) == 0 {
          guard let digest = sound.digest, try store.digest(ofFile: path) == digest else {
            changed = changed ?? path
            continue
          }
          return (.recording(path), path == hit.path ? path : hit.name)
        }
      }
      if let kept = sound.kept { return (.kept(kept, store), "the sound kept for \(hit.name)") }
      throw missing(hit, changed, keepsTime)
    } catch { throw StageError(error) }
  }

  private func missing(_ hit: SearchHit, _ changed: String?, _ keepsTime: Bool) -> StoreError {
    if let changed {
      return StoreError(
        "cut from", path: changed, reason: "it is not the recording whose words were found",
        advice: "put the recording back, or run the pipeline on what is there now")
    }
    if !keepsTime, unsafe access(hit.path, R_OK) == 0 {
      return StoreError(
        "cut from", path: hit.path,
        reason: "a stage has moved its sound in time, and what it made is not kept",
        advice: "spool run the pipeline again with --checkpoint every")
    }
    return StoreError(
      "cut from", path: hit.path,
      reason: "the recording is gone, and its sound is not kept in the store",
      advice: "put the recording back there; --json shows all that is known of the place")
  }
}
