internal import CPosix
internal import Glibc
internal import Hashing
internal import PipelineModel
internal import Synchronization

/// Chooses under which name a recording's exports go out, so that none ever takes the place of
/// another recording's, or of a file that Spool did not write.
final class ExportNames: Sendable {
  /// A name that is this recording's as long as this value lives.
  struct Choice: ~Copyable {
    /// The name that the recording goes by, its ending included.
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
  private let custody: any FileCustody

  /// Files are in this custody.
  init(_ custody: any FileCustody) { self.custody = custody }

  /// The first name that is free: the recording's own, or that with a mark.
  ///
  /// A name under which exports of this very recording lie already comes before all others, so that
  /// work that was cut off goes on where it was.
  /// - Parameters:
  ///   - mark: what tells the recording from all others.
  ///   - digest: the recording's bytes.
  ///   - excluded: names that proved to be taken.
  ///   - files: the paths of the exports under a name.
  /// - Returns: nil where every name is taken.
  func choose(
    _ name: RecordingName, mark: String, digest: Digest, excluding excluded: Set<String>,
    files: (String) throws -> [String]
  ) rethrows -> Choice? {
    let candidates = [name.fileName(), name.fileName(marked: mark)].filter {
      !excluded.contains($0)
    }
    var found: [(name: String, files: [String], owner: Owner)] = []
    for candidate in candidates {
      let paths = try files(candidate)
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

  /// Whose files lie under some paths.
  private enum Owner {
    /// Nothing is there.
    case nobody
    /// This recording's exports.
    case this
    /// Files of which the store knows nothing. They may be exports of this recording, of which a
    /// process that was killed could not tell the store any more: whoever publishes compares them.
    case unknown
    /// Another recording's exports.
    case other

    /// Whether nothing known speaks against this recording.
    var isPossible: Bool { self == .nobody || self == .unknown }
  }

  private func owner(of paths: [String], _ digest: Digest) -> Owner {
    var owner = Owner.nobody
    for path in paths {
      var status = stat()
      guard unsafe lstat(path, &status) == 0 else { continue }
      guard let recording = try? custody.recording(ofPublished: path) else {
        if owner == .nobody { owner = .unknown }
        continue
      }
      if recording.digest != digest { return .other }
      owner = .this
    }
    return owner
  }
}
