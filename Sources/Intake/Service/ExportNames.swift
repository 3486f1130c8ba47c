internal import CPosix
internal import Glibc
internal import PipelineModel
internal import Platform
internal import Synchronization

/// Chooses the name of a recording's exports, so that they never replace another recording's
/// exports or a file that Spool did not write.
final class ExportNames: Sendable {
  /// A name that is reserved for this recording while this value lives.
  struct Choice: ~Copyable {
    /// The recording's name, its ending included.
    let name: String
    private let key: String
    private let names: ExportNames

    fileprivate init(name: String, key: String, names: ExportNames) {
      self.name = name
      self.key = key
      self.names = names
    }

    deinit { names.underWay.withLock { _ = $0.remove(key) } }
  }

  fileprivate let underWay = Mutex<Set<String>>([])
  private let exportFolder: any ExportFolder

  init(_ exportFolder: any ExportFolder) { self.exportFolder = exportFolder }

  /// The first free name: the recording's own, or that with a mark.
  ///
  /// A name that this recording's exports already have comes first, so that interrupted work
  /// resumes there.
  /// - Parameters:
  ///   - mark: distinguishes the recording from all others.
  ///   - digest: the recording's bytes.
  ///   - excluded: names that proved to be taken.
  ///   - files: the paths of the exports under a name.
  /// - Returns: nil if every name is taken.
  func choose(
    _ name: RecordingName, mark: String, digest: Digest, excluding excluded: Set<String>,
    files: (String) -> [String]
  ) -> Choice? {
    let candidates = [name.fileName(), name.fileName(marked: mark)].filter {
      !excluded.contains($0)
    }
    var found: [(name: String, files: [String], owner: Owner)] = []
    for candidate in candidates {
      let paths = files(candidate)
      found.append((candidate, paths, owner(of: paths, digest)))
    }
    for candidate in found.filter({ $0.owner == .this }) + found.filter({ $0.owner.isPossible }) {
      let key = candidate.files.sorted().joined(separator: "\n")
      if underWay.withLock({ $0.insert(key).inserted }) {
        return Choice(name: candidate.name, key: key, names: self)
      }
    }
    return nil
  }

  /// The owner of the files at some paths.
  private enum Owner {
    case nobody
    case this
    /// Files that the store does not know. They may be exports of this recording whose process was
    /// killed before it recorded them: publishing compares the bytes.
    case unknown
    case other

    var isPossible: Bool { self == .nobody || self == .unknown }
  }

  private func owner(of paths: [String], _ digest: Digest) -> Owner {
    var owner = Owner.nobody
    for path in paths {
      var status = stat()
      guard unsafe lstat(path, &status) == 0 else { continue }
      guard let recording = try? exportFolder.recording(ofPublished: path) else {
        if owner == .nobody { owner = .unknown }
        continue
      }
      if recording.digest != digest { return .other }
      owner = .this
    }
    return owner
  }
}
