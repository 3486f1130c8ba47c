internal import Glibc
import PipelineModel
package import Platform
package import Store

/// Recordings that were cut off, and what came with them.
extension InboxProcessor {
  /// The fewest bytes by which a file is known to be the beginning of another: headers of different
  /// recordings may be equal.
  private static let leastBeginning = 4096

  /// The quarantined recordings of the same name that the arrival begins with, the newest first.
  /// O(bytes of these).
  func cutVersions(of arrival: RecordingArrival) throws(SpoolError) -> [Recording] {
    let spoiled = try store.recordings.spoiled(
      at: arrival.path, inbox: inbox, pipeline: pipeline
    ).filter {
      $0.content.byteCount >= Self.leastBeginning
        && $0.content.byteCount < arrival.recording.byteCount
    }
    guard !spoiled.isEmpty, let path = try? store.path(of: arrival.recording) else { return [] }
    return spoiled.filter { Self.begins(path, with: $0.content) }
  }

  /// Whether a file begins with the bytes of an artifact. A file that cannot be read does not.
  private static func begins(_ path: String, with beginning: Artifact) -> Bool {
    let files = FileOperations.system
    guard let file = try? files.open(path, O_RDONLY) else { return false }
    let hash = try? files.hash(of: file, upTo: Int64(beginning.byteCount))
    return hash?.current == beginning.digest
  }

  /// Has an arrival without a sidecar or a transcript take over those of its cut-off version, if they
  /// are in quarantine still.
  /// - Returns: the sidecar.
  func inherit(
    from cut: [Recording], for arrival: inout RecordingArrival, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Sidecar? {
    var sidecar: Sidecar?
    for version in cut {
      for file in try store.recordings.files(of: version.key) where file.place == .quarantine {
        guard let location = InboxPath(escaped: file.location),
          let stamp = try folder.stamp(of: location), RecordingFileStamp(stamp) == file.stamp
        else { continue }
        switch file.role {
        case .sidecar where arrival.sidecar == nil && sidecar == nil:
          guard let artifact = version.sidecar, artifact.byteCount <= Sidecar.byteLimit,
            artifact.byteCount == file.stamp.byteCount, let path = try? store.path(of: artifact),
            let bytes = try? FileOperations.system.bytes(of: path),
            case let read = Sidecar(json: bytes), read.isReadable
          else { continue }
          sidecar = read
          arrival.inheritedSidecar = artifact
          arrival.inherited.append(file)
        case .transcript where arrival.transcripts.isEmpty: arrival.inherited.append(file)
        default: continue
        }
      }
      if !arrival.inherited.isEmpty { break }
    }
    return sidecar
  }

  /// Whether a recording has the sidecar of its cut-off version, and none that came with it or later.
  func hasInheritedSidecar(_ recording: Recording) throws(SpoolError) -> Bool {
    guard recording.sidecar != nil else { return false }
    let files = try store.recordings.files(of: recording.key)
    guard let own = files.first(where: { $0.role == .recording }) else { return false }
    let sidecars = files.filter { $0.role == .sidecar }
    return !sidecars.isEmpty && sidecars.allSatisfy { $0.id < own.id }
  }
}

extension RecordingRepository {
  /// Sidecars and transcripts in quarantine that came with an earlier file of a recording's name, which
  /// was not whole, and that the recording does not use: it has none of its own. Files that are there
  /// no more are left out.
  /// - Parameter files: the recording's.
  package func companionsQuarantined(
    besides recording: Recording, _ files: [RecordingFile]
  ) throws(SpoolError) -> [RecordingFile] {
    var found: [RecordingFile] = []
    let isWithoutTranscript = !files.contains { $0.role == .transcript }
    for own in files where own.role == .recording {
      let earlier = try spoiled(at: own.path, inbox: own.inbox, pipeline: recording.pipeline)
        .filter { $0.key != recording.key && $0.receivedAt <= recording.changedAt }
      for version in earlier {
        for file in try self.files(of: version.key)
        where file.place == .quarantine && !found.contains(file)
          && (file.role == .sidecar && recording.sidecar == nil
            || file.role == .transcript && isWithoutTranscript)
        {
          guard let path = InboxPath(escaped: file.location),
            let folder = try? ProcessedFolder(at: file.inbox),
            let stamp = try? folder.stamp(of: path), RecordingFileStamp(stamp) == file.stamp
          else { continue }
          found.append(file)
        }
      }
    }
    return found
  }
}
