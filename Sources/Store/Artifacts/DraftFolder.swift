import Glibc
import PipelineModel
import Platform

/// The folder of files being written. Each is named after the process that writes it and holds its
/// lock, so that files of dead processes can be removed.
struct DraftFolder: Sendable {
  let path: String
  let files: FileOperations

  /// Makes an empty file under a unique name.
  func makeFile() throws(SpoolError) -> OpenFile {
    try doing("start an artifact in", path) { () throws(SystemError) in
      while true {
        let file = try files.open(
          "\(path)/\(AbandonedFiles.newName(for: .current))",
          O_RDWR | O_CREAT | O_EXCL | O_APPEND, mode: 0o600)
        // A process in another PID namespace may have removed the file before it was locked.
        if file.tryLock(), try file.stamp.hasName { return file }
      }
    }
  }

  /// Replaces a small file, durably.
  func replace(_ target: String, by text: String) throws(SpoolError) {
    let draft = try makeFile()
    do throws(SpoolError) {
      try doing("write", target) { () throws(SystemError) in
        try files.write(Array(text.utf8), to: draft)
        try files.flush(draft)
        try files.rename(draft.path, to: target)
        try files.flushFolder(FilePath.folder(of: target))
      }
    } catch {
      try? files.unlink(draft.path)
      throw error
    }
  }

  /// Removes files of dead processes. Never fails; what cannot be removed stays until the next
  /// call.
  func sweep() {
    for name in FilePath.names(in: path) {
      if let owner = AbandonedFiles.owner(inName: name) {
        AbandonedFiles.remove("\(path)/\(name)", of: owner, files: files)
      }
    }
  }
}

/// Files that reserve space.
extension DraftFolder {
  /// Makes a file of incompressible bytes; holes and reservations are not reliable on all file
  /// systems. Leaves nothing behind if it throws.
  /// - Parameter least: bytes that suffice if there is no room for all; nil for all.
  func makeFile(
    filledTo byteCount: Int, orAtLeast least: Int? = nil
  ) throws(SpoolError) -> OpenFile {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    // Marsaglia's xorshift64.
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    while bytes.count < byteCount {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      bytes.append(UInt8(truncatingIfNeeded: state))
    }
    let file = try makeFile()
    do throws(SystemError) {
      try files.write(bytes, to: file)
    } catch {
      if let least, error.isFullDisk, let stamp = try? file.stamp, stamp.byteCount >= Int64(least) {
        return file
      }
      try? files.unlink(file.path)
      throw SpoolError("keep room in", path, error)
    }
    return file
  }
}

/// Tells files in use from abandoned ones, by the process in their names or records and by their
/// locks.
enum AbandonedFiles {
  /// A new name that contains the owner.
  static func newName(for owner: ProcessIdentity) -> String {
    "\(owner).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
  }

  /// The process in a name made by `newName`; nil for other names.
  static func owner(inName name: String) -> ProcessIdentity? {
    let parts = name.split(separator: ".")
    guard parts.count == 3, parts[2] == "part" else { return nil }
    return ProcessIdentity(parts[0])
  }

  /// Removes the file if its process is dead and its lock is free.
  /// - Returns: whether it is gone.
  @discardableResult
  static func remove(_ path: String, of owner: ProcessIdentity, files: FileOperations) -> Bool {
    if owner.isAlive { return false }
    do {
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      guard file.tryLock() else { return false }
      try files.unlink(path)
      return true
    } catch {
      return error.code == ENOENT
    }
  }
}
