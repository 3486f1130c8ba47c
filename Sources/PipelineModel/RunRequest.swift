/// What a run was told besides its pipeline's name, its inputs and its overrides: enough to go on
/// with it later, although the pipeline's file may have changed or gone and the current folder may
/// be another.
public struct RunRequest: Hashable, Sendable, Codable {
  /// The pipeline's text as it was read.
  public let pipelineText: String
  /// The folder for exports, an absolute path.
  public let folder: String
  /// Whether files that Spool did not write may be replaced (`--replace`).
  public let isReplacing: Bool
  /// Whether the sound after every step is kept (`--checkpoint every`).
  public let keepsEverything: Bool
  /// What exports call a recording, by input; nil where they are called as the recordings are.
  public let names: [String: String]?
  /// What was settled for the whole batch that the run belongs to; nil where nothing was.
  public let album: AlbumFigures?
  /// The folder of `--plugins`, an absolute path; nil where there was none.
  public let pluginFolder: String?

  /// Describes what was told.
  public init(
    pipelineText: String, folder: String, isReplacing: Bool, keepsEverything: Bool,
    names: [String: String]? = nil, album: AlbumFigures? = nil, pluginFolder: String? = nil
  ) {
    self.pipelineText = pipelineText
    self.folder = folder
    self.isReplacing = isReplacing
    self.keepsEverything = keepsEverything
    self.names = names
    self.album = album
    self.pluginFolder = pluginFolder
  }
}

extension RunRecord {
  /// Whether it stopped in the middle of its work, so that going on with it is worth while.
  public var isUnfinished: Bool {
    switch state {
    case .cutOff, .interrupted, .paused: true
    case .running, .done, .failed, .refused, .dropped: false
    }
  }

  /// Whether there is nothing to go on with: it is done, or the same was run again later.
  /// - Parameter later: the runs that were recorded after this one.
  public func isSettled(by later: some Sequence<RunRecord>) -> Bool {
    state == .done || state == .dropped || later.contains { isTakenUp(by: $0) }
  }

  /// Whether a later run goes on with this one, or was told the same.
  public func isTakenUp(by later: RunRecord) -> Bool {
    later.resumes == id || isSameWork(as: later)
  }

  /// Whether both were told the same.
  private func isSameWork(as other: RunRecord) -> Bool {
    request != nil && request == other.request && pipelinePath == other.pipelinePath
      && inputs == other.inputs && overrides == other.overrides
  }
}
