import Glibc
internal import PipelineModel

/// The files that are still being written. Each is named after the process that writes it, which
/// holds its lock, so that those of dead processes can be told and removed.
struct DraftFolder: Sendable {
  let path: String
  let files: FileOperations

  /// Makes an empty file that nobody else touches.
  func makeFile() throws(StoreError) -> OpenFile {
    try doing("start an artifact in", path) { () throws(SystemError) in
      while true {
        let file = try files.open(
          "\(path)/\(AbandonedFiles.newName(for: .current))",
          O_RDWR | O_CREAT | O_EXCL | O_APPEND, mode: 0o600)
        // Another process that cannot see this one may have taken the file for abandoned before
        // it was locked.
        if file.tryLock(), try file.stamp.hasName { return file }
      }
    }
  }

  /// Removes what dead processes left behind. Never fails: what cannot be removed now stays for
  /// the next time.
  func sweep() {
    for name in FilePath.names(in: path) {
      if let owner = AbandonedFiles.owner(inName: name) {
        AbandonedFiles.remove("\(path)/\(name)", of: owner, files: files)
      }
    }
  }
}
