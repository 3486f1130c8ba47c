import Intake
import PipelineModel
import Platform
import SoundEngine
import Store

extension Recording {
  /// What is known of a recording beyond its own row.
  struct Page {
    let events: [RecordingEvent]
    let files: [RecordingFile]
    /// The recordings that came later with its sound, in files with other bytes.
    let duplicates: [Recording]
    /// The names that other devices gave it.
    let aliases: [String]
    /// The last run that processed it, for its watch or of its file where the watch has put it; nil if
    /// none did. Other runs of the same bytes are not its own.
    let run: RunRecord?
    /// Files beside it that would be its sidecar or transcript and were not taken in: absolute paths,
    /// printable.
    let leftFiles: [String]
    /// Sidecars and transcripts in quarantine that came with an earlier, incomplete file of its name.
    let unusedFiles: [RecordingFile]
    /// Whether its original is nowhere as it arrived: it is not in the store, and lies nowhere else.
    let isOriginalLost: Bool
    /// The destinations that have confirmed all of it, by name.
    let places: [String]
    /// If it is lost: the lossless exports that lie there and were made of its samples as they are.
    let copies: [PublishedFile]

    init(of recording: Recording, in store: DiskStore) throws(SpoolError) {
      events = try store.recordings.events(of: recording.key)
      files = try store.recordings.files(of: recording.key)
      duplicates = try store.recordings.duplicates(of: recording.key)
      aliases = Array(try store.recordings.acknowledgementNames(of: recording).dropFirst())
      let isElsewhere = files.contains { $0.isThere(recording.content) }
      isOriginalLost = !isElsewhere && !store.hasIntactOriginal(of: recording)
      leftFiles = store.recordings.companionsLeft(beside: files)
      unusedFiles = try store.recordings.companionsQuarantined(besides: recording, files)
      let digest = recording.content.digest
      let kept = Set(
        files.filter { $0.role == .recording && $0.place != .inbox }.map(\.printablePath))
      run =
        events.contains { $0.state == .processing }
        ? try store.runs.mentioning([digest]).first { run in
          run.pipeline == recording.pipeline && run.recordings?.values.contains(digest) == true
            && (store.isOfInbox(run)
              || run.state == .done && !kept.isDisjoint(with: run.inputs.values))
        } : nil
      places = try store.deliveries.copies(of: recording.key).destinations
      copies = isOriginalLost ? run.map { Self.copies(of: recording, in: $0) } ?? [] : []
    }

    private static func copies(of recording: Recording, in run: RunRecord) -> [PublishedFile] {
      guard let sound = recording.sound else { return [] }
      let steps = Set(
        run.steps.filter { $0.inputs?.values.contains(sound) == true }.map(\.id))
      return run.published.filter { file in
        guard steps.contains(file.step), let port = file.port,
          ExportFormat(rawValue: port.name)?.isLossless == true,
          let stamp = try? FileStamp(following: file.path)
        else { return false }
        return stamp.isRegularFile && stamp.byteCount == Int64(file.byteCount)
      }
    }
  }

  /// Where in its inbox it arrived, printable.
  /// - Parameter path: the same, exactly; nil if it is not known.
  func shownPath(_ path: String?) -> String {
    let folders = path?.pathNames.dropLast() ?? []
    return (folders + [fileName]).joined(separator: "/")
  }

  /// The recording as `--json` shows it.
  /// - Parameters:
  ///   - page: nil in a list.
  ///   - option: the store option for suggested commands.
  ///   - paths: in a list, the paths in their inboxes by which it and its copies arrived.
  ///   - isForgotten: whether no command knows it any more.
  func line(
    _ page: Page? = nil, _ option: StoreOption, paths: [String]? = nil, isForgotten: Bool = false
  ) -> JSONLine {
    let facts = StoredFacts(of: self)
    func paged<Part: Collection & Encodable>(_ part: Part) -> Part? {
      page == nil || part.isEmpty ? nil : part
    }
    return JSONLine([
      "key": key.name, "noteId": shownID, "aliases": page?.aliases, "file": fileName,
      "exactFile": exactFileName, "paths": paths,
      "title": title, "tags": tags, "state": state.rawValue, "isCancelled": isCancelled,
      "since": DateTime(secondsSince1970: stateSince), "reason": reason, "attempts": attempts,
      "nextAttempt": nextAttempt.map(DateTime.init(secondsSince1970:)),
      "pipeline": pipeline, "inbox": inbox, "receivedAt": DateTime(secondsSince1970: receivedAt),
      "acceptedAt": acceptedAt.map(DateTime.init(secondsSince1970:)),
      "uploadedAt": uploadedAt.map(DateTime.init(secondsSince1970:)), "recording": content,
      "original": original?.name, "duplicates": paged(page?.duplicates.map(\.key.name) ?? []),
      "conflict": conflict?.name, "createdAt": facts.createdAt, "durationMs": facts.milliseconds,
      "recorder": facts.recorder, "devices": paged(facts.devices),
      "unknown": paged(facts.unknown), "sidecarProblems": paged(facts.problems),
      "doubt": facts.doubt, "run": page?.run?.id.name,
      "exports": page?.run?.published.map(\.path), "copies": paged(page?.copies.map(\.path) ?? []),
      "findings": page?.run?.findings,
      "history": page?.events.map {
        JSONLine([
          "at": DateTime(secondsSince1970: $0.at), "state": $0.state.rawValue, "reason": $0.reason,
        ])
      },
      "files": page?.files.map {
        JSONLine([
          "role": $0.role.rawValue, "inbox": $0.inbox, "path": $0.path,
          "location": $0.isInPlace ? $0.location : nil, "place": $0.place.rawValue,
        ])
      },
      "leftFiles": paged((page?.leftFiles ?? []) + (page?.unusedFiles.map(\.printablePath) ?? [])),
      "differences": paged(facts.differences),
      "next": isForgotten ? [] : nextCommands.map(option.completing),
    ])
  }
}
