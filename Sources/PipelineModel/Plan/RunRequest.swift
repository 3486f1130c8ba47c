import Platform

/// A run's request besides its pipeline's name, its inputs and its overrides: enough to resume it,
/// although the pipeline's file may have changed or gone and the current folder may be another.
package struct RunRequest: Hashable, Sendable, Codable {
  /// The pipeline's text.
  package let pipelineText: String
  /// The folder for exports, an absolute path.
  package let folder: String
  /// Whether files that Spool did not write may be replaced (`--replace`).
  package let isReplacing: Bool
  /// Whether the sound after every step is kept (`--checkpoint every`).
  package let keepsEverything: Bool
  /// The recordings' names for exports, by input; nil for their own.
  package let names: [String: String]?
  /// The results for the batch's album steps; nil if there are none.
  package let album: AlbumFigures?
  /// The folder of `--plugins`, an absolute path; nil if there was none.
  package let pluginFolder: String?
  /// The chapters of recordings whose sidecar has some, by input; they take the place of the
  /// recording's own. Nil if there are none.
  package let chapters: [String: [Chapter]]?
  /// The titles of recordings whose sidecar has one, by input, for those that have none of their own.
  /// Nil if there are none.
  package let titles: [String: String]?
  /// The folders of the recording below the folder of its batch; nil if there are none.
  package private(set) var recordingFolder: String?
  /// The name of its files without an ending, where a quick command gave them one. Nil for a pipeline.
  package let fileName: String?
  /// Where the key of its receipts is; nil if it was not named, or it writes none.
  package private(set) var signing: Signing?

  /// The folder of a user's keys, and the file of its passphrase: absolute paths, each nil if it was not
  /// named.
  package struct Signing: Hashable, Sendable, Codable {
    package let folder: String?
    package let passphraseFile: String?

    /// Nil if neither is named.
    package init?(folder: String?, passphraseFile: String?) {
      if folder == nil, passphraseFile == nil { return nil }
      self.folder = folder
      self.passphraseFile = passphraseFile
    }

    /// The options that name them.
    package var options: [String] {
      (folder.map { ["\(option: .keys)", $0] } ?? [])
        + (passphraseFile.map { ["\(option: .passphraseFile)", $0] } ?? [])
    }
  }

  /// A chapter of a recording, as its sidecar tells.
  package struct Chapter: Hashable, Sendable, Codable {
    /// In seconds from the beginning of the recording.
    package let start: Double
    /// Nil if it has none.
    package let title: String?

    package init(start: Double, title: String?) {
      self.start = start
      self.title = title
    }
  }

  package init(
    pipelineText: String, folder: String, isReplacing: Bool, keepsEverything: Bool,
    names: [String: String]? = nil, album: AlbumFigures? = nil, pluginFolder: String? = nil,
    chapters: [String: [Chapter]]? = nil, titles: [String: String]? = nil,
    recordingFolder: String? = nil, fileName: String? = nil, signing: Signing? = nil
  ) {
    self.pipelineText = pipelineText
    self.folder = folder
    self.isReplacing = isReplacing
    self.keepsEverything = keepsEverything
    self.names = names
    self.album = album
    self.pluginFolder = pluginFolder
    self.chapters = chapters
    self.titles = titles
    self.recordingFolder = recordingFolder
    self.fileName = fileName
    self.signing = signing
  }

  /// Everything but what decides on no work: where the key and the recording are.
  fileprivate var work: RunRequest {
    var work = self
    (work.signing, work.recordingFolder) = (nil, nil)
    return work
  }
}

extension RunRecord {
  /// Whether it stopped in the middle of its work and is worth resuming.
  package var isUnfinished: Bool {
    switch state {
    case .cutOff, .interrupted, .paused: true
    case .running, .done, .failed, .refused, .dropped: false
    }
  }

  /// Whether resuming it can succeed: it stopped in the middle of its work, or failed for a reason
  /// outside its recordings and parameters. The one place that decides where resuming is offered; a
  /// user who has mended something may resume any run by its name.
  package var isResumable: Bool {
    switch state {
    case .cutOff, .interrupted, .paused: true
    case .failed, .refused: failureCause != .input
    case .running, .done, .dropped: false
    }
  }

  /// Whether there is nothing to resume: it is done, or the same was run again later.
  /// - Parameter later: the runs that were recorded after this one.
  package func isSettled(by later: some Sequence<RunRecord>) -> Bool {
    state == .done || state == .dropped || later.contains { isTakenUp(by: $0) }
  }

  /// Whether a later run resumes this one, has the same request, or has done the same in a batch.
  package func isTakenUp(by later: RunRecord) -> Bool {
    later.resumes == id || isSameWork(as: later) || isDone(by: later)
  }

  /// Whether another run has made the same exports of the same files: one of a batch gives names where
  /// a run by itself has those of the files.
  private func isDone(by other: RunRecord) -> Bool {
    guard other.state == .done, let own = request, let request = other.request else { return false }
    return own.pipelineText == request.pipelineText && own.folder == request.folder
      && own.album == request.album && own.pluginFolder == request.pluginFolder
      && pipelinePath == other.pipelinePath && inputs == other.inputs
      && overrides == other.overrides && exportNames == other.exportNames
  }

  /// What the exports of each input are called, by its name: as wanted, or as its file.
  private var exportNames: [String: String] {
    inputs.reduce(into: [:]) { names, input in
      names[input.key] = ExportName.stem(of: request?.names?[input.key] ?? input.value)
    }
  }

  /// Whether both have the same request.
  private func isSameWork(as other: RunRecord) -> Bool {
    request != nil && request?.work == other.request?.work && pipelinePath == other.pipelinePath
      && inputs == other.inputs && overrides == other.overrides
  }
}
