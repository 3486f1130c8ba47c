import Glibc
import Sidecars
import PipelineModel

/// Looks for recordings in a folder and the folders below it.
///
/// Hidden files and folders are left out, and so are links that lead out of the folder or to other
/// folders, whatever is no file, the batch's own output folder, and folders that other batches put
/// their exports into. Nothing is read but the beginning of JSON beside a recording, which may be a
/// sidecar or a transcript.
public struct TreeWalk: Sendable {
  /// What is in a folder.
  public struct Finding: Hashable, Sendable {
    /// The recordings, in the order of their paths' bytes.
    public internal(set) var files: [FoundFile] = []
    /// What could not be taken, and why.
    public internal(set) var troubles: [Trouble] = []
    /// Folders with the exports of other batches, which were left out.
    public internal(set) var exportFolders: [String] = []
    /// What else is there.
    public internal(set) var skipped = SkippedFiles()
  }

  /// Something that could not be taken although it may be a recording.
  public struct Trouble: Hashable, Sendable {
    /// The path below the folder, as well as it can be written.
    public let path: String
    /// The same, from which its bytes can be read: those that are no text are written as `%E4`.
    public let exactPath: String
    /// Why.
    public let reason: String
    /// What the user can do.
    public let advice: String
  }

  private let root: String
  private let outputFolder: String
  private let selection: FileSelection
  private let takesTranscripts: Bool

  /// Looks below `root`, but not in `outputFolder`; both are absolute, without links.
  ///
  /// - Parameter takesTranscripts: whether what is said is taken from files beside the recordings.
  public init(
    root: String, outputFolder: String, selection: FileSelection, takesTranscripts: Bool = false
  ) {
    self.root = root
    self.outputFolder = outputFolder
    self.selection = selection
    self.takesTranscripts = takesTranscripts
  }

  /// Everything there is. O(n log n) for n files.
  public func find() -> Finding {
    var finding = Finding()
    var folders = [""]
    while let folder = folders.popLast() { look(in: folder, &finding, &folders) }
    finding.files.sort { PathText.isBefore($0.path, $1.path) }
    finding.troubles.sort { PathText.isBefore($0.path, $1.path) }
    finding.exportFolders.sort { PathText.isBefore($0, $1) }
    finding.skipped.sort()
    return finding
  }

  private func look(in folder: String, _ finding: inout Finding, _ folders: inout [String]) {
    guard let entries = names(in: PathText.join(root, folder)) else {
      finding.troubles.append(
        Trouble(
          path: folder.isEmpty ? "." : folder, exactPath: EscapedText.of(folder.utf8),
          reason: unsafe String(cString: strerror(errno)).lowercased(),
          advice: "check who may read the folder: ls -ld"))
      return
    }
    var candidates: [(path: String, status: stat)] = []
    var beside: Set<ExactText> = []
    var skipped: [(path: String, bytes: [UInt8], reason: SkippedFiles.Reason)] = []
    var below: [String] = []
    for entry in entries where entry != [UInt8(ascii: ".")] && entry != Array("..".utf8) {
      let path = PathText.join(folder, String(decoding: entry, as: UTF8.self))
      let bytes = folder.isEmpty ? entry : folder.utf8 + [UInt8(ascii: "/")] + entry
      guard entry.first != UInt8(ascii: ".") else {
        skipped.append((path, bytes, .hidden))
        continue
      }
      guard String(validating: entry, as: UTF8.self) != nil else {
        if !selection.excludes(path) { finding.troubles.append(unnameable(path, bytes)) }
        continue
      }
      if entry == Array(BatchReport.fileName.utf8), !folder.isEmpty {
        finding.exportFolders.append(folder)
        return
      }
      guard let status = status(of: path) else {
        if isLink(path) { skipped.append((path, bytes, .link)) }
        continue
      }
      switch status.st_mode & S_IFMT {
      case S_IFDIR where PathText.join(root, path) == outputFolder: break
      case S_IFDIR where selection.excludes(path): skipped.append((path, bytes, .excluded))
      case S_IFDIR: below.append(path)
      case S_IFREG where selection.takes(path): candidates.append((path, status))
      case S_IFREG:
        skipped.append((path, bytes, selection.excludes(path) ? .excluded : .noRecording))
      default: skipped.append((path, bytes, .special))
      }
      if status.st_mode & S_IFMT == S_IFREG { beside.insert(ExactText(path)) }
    }
    folders += below
    var used: Set<ExactText> = []
    for (path, status) in candidates {
      let companions = FileName(PathText.name(of: path)).map { name in
        Companions(of: name) { name in
          beside.contains(ExactText(PathText.join(folder, name.description)))
        } beginning: { name, byteCount in
          SidecarFile.beginning(
            of: PathText.join(root, PathText.join(folder, name.description)), byteCount)
        }
      }
      let sidecar = companions?.sidecar.map { PathText.join(folder, $0.description) }
      let transcripts =
        takesTranscripts
        ? companions?.transcripts.map { PathText.join(folder, $0.description) } ?? [] : []
      used.formUnion(([sidecar].compactMap(\.self) + transcripts).map { ExactText($0) })
      finding.files.append(
        FoundFile(
          path: path, byteCount: Int(status.st_size),
          modifiedAt: Double(status.st_mtim.tv_sec), sidecar: sidecar, transcripts: transcripts))
    }
    // A recording's sidecar is read with it.
    for (path, bytes, reason) in skipped where !used.contains(ExactText(path)) {
      finding.skipped.add(path, bytes, reason)
    }
  }

  private func unnameable(_ path: String, _ bytes: [UInt8]) -> Trouble {
    Trouble(
      path: path, exactPath: EscapedText.of(bytes),
      reason: "its name is not UTF-8 text, and shows here as well as it can be written",
      advice: "rename it: convmv -f latin1 -t utf8 helps with many")
  }

  /// The names in a folder as bytes; nil where it cannot be read.
  private func names(in path: String) -> [[UInt8]]? {
    guard let folder = unsafe opendir(path) else { return nil }
    defer { unsafe closedir(folder) }
    var names: [[UInt8]] = []
    while let entry = unsafe readdir(folder) {
      names.append(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          unsafe pointer.withMemoryRebound(to: UInt8.self, capacity: 256) { bytes in
            unsafe Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes)))
          }
        })
    }
    return names
  }

  private func isLink(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(PathText.join(root, path), &status) == 0
      && status.st_mode & S_IFMT == S_IFLNK
  }

  /// What is at a path: of a link, the file that it leads to inside the folder; nil for anything
  /// else that is a link, or is gone.
  private func status(of path: String) -> stat? {
    var status = stat()
    let full = PathText.join(root, path)
    guard unsafe lstat(full, &status) == 0 else { return nil }
    guard status.st_mode & S_IFMT == S_IFLNK else { return status }
    guard let resolved = unsafe realpath(full, nil) else { return nil }
    defer { unsafe free(resolved) }
    guard unsafe String(cString: resolved).hasPrefix(root == "/" ? root : root + "/"),
      unsafe stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return status
  }
}
