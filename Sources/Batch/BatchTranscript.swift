import Hashing
import PipelineModel
import Sidecars

/// What is said in a recording of a batch, as far as somebody wrote it down.
enum BatchTranscript {
  /// The path of its transcript below the batch's folder: what its sidecar names or holds, or what
  /// lies beside it. What this store published is none: words that were recognised are not what was
  /// said.
  static func path(
    of file: FoundFile, _ order: BatchOrder, _ workplace: BatchWorkplace
  ) -> String? {
    guard order.transcriptInput != nil else { return nil }
    // What is wrong with the sidecar is said when the file's turn comes.
    if let path = file.sidecar, let wishes = try? SidecarFile.read(path, of: order) {
      let folder = PathText.folder(of: path)
      let place = wishes.sidecar.transcript { name in
        let full = PathText.join(order.folder, PathText.join(folder, name.description))
        return SidecarFile.beginning(of: full, 1) != nil
      }
      switch place {
      case .file(let name): return PathText.join(folder, name.description)
      case .itself: return path
      case nil: break
      }
    }
    return file.transcripts.first {
      workplace.store.byteCount(ofPublished: PathText.join(order.folder, $0)) == nil
    }
  }

  /// What a sidecar and a transcript say together; nil where there is neither, or one of them cannot
  /// be read.
  static func digest(
    _ sidecar: String?, _ transcript: String?, _ read: (String) -> Digest?
  ) -> Digest? {
    guard let transcript else { return sidecar.flatMap(read) }
    guard let text = read(transcript) else { return nil }
    let other = sidecar.map { read($0)?.hex ?? "?" } ?? "-"
    return SHA256.digest(of: "spool-companions-1\n\(other)\n\(transcript)\n\(text.hex)")
  }
}
