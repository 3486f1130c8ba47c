import Glibc
import PipelineModel
import Platform

/// Finds the recordings in a folder and the folders below it.
///
/// Leaves out hidden entries, links to folders or out of the folder, special files, the batch's own
/// output folder, and folders with other batches' exports. Reads only the beginning of JSON beside
/// a recording, which may be a sidecar or a transcript.
struct TreeWalk: Sendable {
  struct Finding: Hashable, Sendable {
    /// By the bytes of their paths.
    var files: [FoundFile] = []
    /// Unreadable entries, with the reason.
    var troubles: [Trouble] = []
    /// Folders with the exports of other batches, which were left out.
    var exportFolders: [String] = []
    /// The other files.
    var skipped = SkippedFiles()
  }

  /// An unreadable entry that may be a recording.
  struct Trouble: Hashable, Sendable {
    /// The path below the folder, with invalid bytes replaced.
    let path: String
    /// The same in lossless form: invalid bytes are written as `%E4`.
    let exactPath: String
    let reason: String
    let advice: String
  }

  /// Where to search: an absolute path without links.
  let root: String
  /// Where not to search: an absolute path without links.
  let outputFolder: String
  let selection: FileSelection
  /// Whether to find transcripts beside the recordings.
  var takesTranscripts = false

  /// O(n log n) for n files.
  func find() -> Finding {
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
          path: folder.isEmpty ? "." : folder, exactPath: PrintableText.escaped(folder.utf8),
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
          SidecarSettings.beginning(
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
      path: path, exactPath: PrintableText.escaped(bytes),
      reason: "its name is not UTF-8 text, and shows here as well as it can be written",
      advice: "rename it: convmv -f latin1 -t utf8 helps with many")
  }

  /// The names in a folder as bytes; nil if it is unreadable.
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

  /// The status of a path, through a link only to a file inside the folder; nil for any other link,
  /// or none.
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

/// Which files of a folder are recordings for a batch.
package struct FileSelection: Sendable {
  private let included: [Glob]
  private let excluded: [Glob]

  /// Takes files whose name is a recording's and those that match one of `included`, but none that
  /// match one of `excluded`.
  package init(including included: [Glob] = [], excluding excluded: [Glob] = []) {
    self.included = included
    self.excluded = excluded
  }

  /// Whether the file at a path below the folder is taken.
  func takes(_ path: String) -> Bool {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
    let dot = name.lastIndex(of: UInt8(ascii: "."))
    let isSound = dot.map { dot in
      SoundSign.endings.contains(String(Substring(name[name.index(after: dot)...])).lowercased())
    }
    return (isSound == true || included.contains { $0.matches(path) }) && !excludes(path)
  }

  /// Whether a file or a whole folder is left out.
  func excludes(_ path: String) -> Bool { excluded.contains { $0.matches(path) } }
}
