import Glibc
import PipelineModel
import Platform
import Store

/// Finds the recordings in a folder and the folders below it.
///
/// Leaves out hidden entries, links to folders or out of the folder, special files, the batch's own
/// output folder, stores, and folders with other batches' exports. Reads only the beginning of JSON
/// beside a recording, which may be a sidecar or a transcript.
package struct TreeWalk: Sendable {
  package struct Finding: Hashable, Sendable {
    /// By the bytes of their paths.
    var files: [FoundFile] = []
    /// Unreadable entries, with the reason.
    var troubles: [Trouble] = []
    /// Folders with the exports of other batches, which were left out.
    var exportFolders: [String] = []
    /// The other files.
    var skipped = SkippedFiles()

    /// Whether there is nothing to work on and nothing to report.
    var isEmpty: Bool { files.isEmpty && troubles.isEmpty }
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
    let listing: FolderListing
    do throws(SystemError) {
      let opened = try FileOperations.system.open(
        PathText.join(root, folder), O_RDONLY | O_DIRECTORY)
      listing = try FolderListing(opened, skipsUnreadable: true) { _, _ in true }
    } catch {
      finding.troubles.append(
        Trouble(
          path: folder.isEmpty ? "." : folder, exactPath: PrintableText.escaped(folder.utf8),
          reason: error.words.lowercased(), advice: "check who may read the folder: ls -ld"))
      return
    }
    let entries: [(name: FileName, stamp: FileStamp?)] =
      listing.folders.map { ($0, nil) } + listing.files.map { ($0, $1) }
    if !folder.isEmpty, entries.contains(where: { $0.name.text == BatchReport.fileName }) {
      finding.exportFolders.append(folder)
      return
    }
    if !folder.isEmpty, entries.contains(where: { $0.name.text == DiskStore.databaseName }) {
      finding.skipped.add(folder, Array(folder.utf8), .store)
      return
    }
    var candidates: [(path: String, stamp: FileStamp)] = []
    var beside: Set<ExactText> = []
    var skipped: [(path: String, bytes: [UInt8], reason: SkippedFiles.Reason)] = []
    var below: [String] = []
    for (name, stamp) in entries.sorted(by: { $0.name < $1.name }) {
      let path = PathText.join(folder, String(decoding: name.bytes, as: UTF8.self))
      let bytes = folder.isEmpty ? name.bytes : folder.utf8 + [FileName.slash] + name.bytes
      guard name.bytes.first != UInt8(ascii: ".") else {
        skipped.append((path, bytes, .hidden))
        continue
      }
      guard name.text != nil else {
        if !selection.excludes(path) { finding.troubles.append(unnameable(path, bytes)) }
        continue
      }
      guard let stamp else {
        if PathText.join(root, path) == outputFolder { continue }
        if selection.excludes(path) {
          skipped.append((path, bytes, .excluded))
        } else {
          below.append(path)
        }
        continue
      }
      guard let stamp = stamp.isLink ? target(of: path) : stamp else {
        skipped.append((path, bytes, .link))
        continue
      }
      if !stamp.isRegularFile {
        skipped.append((path, bytes, .special))
        continue
      }
      beside.insert(ExactText(path))
      if selection.takes(path) {
        candidates.append((path, stamp))
      } else {
        skipped.append((path, bytes, selection.excludes(path) ? .excluded : .noRecording))
      }
    }
    folders += below
    var used: Set<ExactText> = []
    for (path, stamp) in candidates {
      let companions = FileName(PathText.name(of: path)).map { name in
        Companions(of: name) { name in
          beside.contains(ExactText(PathText.join(folder, name.description)))
        } beginning: { name, byteCount in
          try? FileOperations.system.beginning(
            of: PathText.join(root, PathText.join(folder, name.description)), byteCount: byteCount)
        }
      }
      let sidecar = companions?.sidecar.map { PathText.join(folder, $0.description) }
      let transcripts =
        takesTranscripts
        ? companions?.transcripts.map { PathText.join(folder, $0.description) } ?? [] : []
      used.formUnion(([sidecar].compactMap(\.self) + transcripts).map { ExactText($0) })
      finding.files.append(
        FoundFile(
          path: path, byteCount: Int(stamp.byteCount),
          modifiedAt: Double(stamp.modified / 1_000_000_000), sidecar: sidecar,
          transcripts: transcripts))
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
      advice: "rename it, by hand or with the program convmv, which renames many at once")
  }

  /// The stamp of the file inside the folder that a link leads to; nil for any other link.
  private func target(of link: String) -> FileStamp? {
    guard let resolved = try? FilePath.resolved(PathText.join(root, link)),
      resolved.hasPrefix(root == "/" ? root : root + "/"),
      let stamp = try? FileStamp(following: resolved), stamp.isRegularFile
    else { return nil }
    return stamp
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
  func takes(_ path: String) -> Bool { wants(path) && !excludes(path) }

  /// Whether a file would be taken if none was excluded.
  func wants(_ path: String) -> Bool {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
    let dot = name.lastIndex(of: UInt8(ascii: "."))
    let isSound = dot.map { dot in
      SoundSign.endings.contains(String(Substring(name[name.index(after: dot)...])).lowercased())
    }
    return isSound == true || includes(path)
  }

  /// Whether a file was asked for by `--include`.
  func includes(_ path: String) -> Bool { included.contains { $0.matches(path) } }

  /// Whether a file or a whole folder is left out.
  func excludes(_ path: String) -> Bool { excluded.contains { $0.matches(path) } }
}

extension TreeWalk.Finding {
  /// Leaves out what runs have made of recordings in the same folder: a batch is of the recordings.
  /// Exports that lie without their recordings are taken, as the work of another pipeline may go on
  /// with them.
  func withoutExports(
    of order: BatchOrder, in workplace: BatchEnvironment
  ) throws(SpoolError) -> TreeWalk.Finding {
    let folder = order.folder == "/" ? "/" : order.folder + "/"
    var finding = self
    finding.files = []
    for file in files {
      try workplace.stop.check()
      let path = PathText.join(order.folder, file.path)
      if !order.selection.includes(file.path),
        let recording = try workplace.store.recording(ofPublished: path),
        let source = try? FilePath.resolved(recording.path), source.hasPrefix(folder)
      {
        finding.skipped.add(file.path, Array(file.path.utf8), .export)
      } else {
        finding.files.append(file)
      }
    }
    finding.skipped.sort()
    if finding.isEmpty {
      throw SpoolError(
        "there is no recording in \(order.folder)",
        reason: "what is there are exports of earlier runs",
        advice: "name another folder, or take them too with \(option: .include) '*.EXT'")
    }
    return finding
  }
}
