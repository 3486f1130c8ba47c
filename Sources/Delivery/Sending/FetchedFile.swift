import Glibc
import Platform

/// A file on its way into a folder of this computer.
struct FetchedFile {
  let file: DestinationReader.Expectation
  let folder: String
  let files = FileOperations.uncounted

  init(_ file: DestinationReader.Expectation, in folder: String) {
    self.file = file
    self.folder = folder
  }

  private var place: String { "\(folder)/\(file.place)" }
  /// The same for the same file, so that a process that was killed leaves one at most.
  private var part: String { "\(folder)/\(file.place.part(String(file.digest.hex.prefix(8))))" }

  /// Whether the file itself is there.
  var isPresent: Bool {
    get throws(SpoolError) {
      guard let stamp = try? FileStamp(at: place) else { return false }
      if stamp.isRegularFile, stamp.byteCount == Int64(file.byteCount) {
        let digest = try acting { () throws(SystemError) in
          try files.digest(of: files.open(place, O_RDONLY | O_NOFOLLOW)).digest
        }
        if digest == file.digest { return true }
      }
      throw occupied(place)
    }
  }

  /// Makes the folders of its path. No link is followed beneath the folder.
  func makeFolders() throws(SpoolError) {
    var place = folder
    for name in file.place.names.dropLast() {
      let parent = place
      place += "/\(name)"
      if let stamp = try? FileStamp(at: place) {
        if stamp.isFolder { continue }
        throw occupied(place)
      }
      try acting { [place] () throws(SystemError) in
        try files.makeFolder(place, mode: 0o777)
        try files.flushFolder(parent)
      }
    }
  }

  /// The part, which no other process writes.
  func openPart() throws(SpoolError) -> OpenFile {
    let opened = try acting { () throws(SystemError) in
      try files.open(part, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o666)
    }
    let isOwn = try acting { () throws(SystemError) -> Bool in
      guard try files.lock(opened) else { return false }
      return try opened.stamp.hasName
    }
    if isOwn { return opened }
    throw SpoolError(
      "write", place, reason: "another process fetches it", advice: "wait until that has ended",
      cause: .environment)
  }

  /// Gives the part its name.
  func finish() throws(SpoolError) -> DestinationReader.Fetched {
    do throws(SystemError) {
      do throws(SystemError) {
        try files.rename(part, toNew: place)
      } catch {
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.code) else { throw error }
        // A file system with neither exclusive renames nor hard links: a look must do.
        if (try? FileStamp(at: place)) != nil { throw SystemError(EEXIST) }
        try files.rename(part, to: place)
      }
      try files.flushFolder(FilePath.folder(of: place))
      return .written
    } catch {
      guard error.code == EEXIST else { throw SpoolError("write", place, error) }
    }
    let isThere = try isPresent
    try? files.unlinkIfThere(part)
    return isThere ? .present : .written
  }

  /// Removes the part, of which nothing is used again.
  func abandon() { try? files.unlinkIfThere(part) }

  func acting<Result: ~Copyable>(
    _ calls: () throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SystemError) { return try calls() } catch { throw SpoolError("write", place, error) }
  }

  private func occupied(_ place: String) -> SpoolError {
    SpoolError(
      "write", place, reason: "another file has its name; it is not replaced",
      advice: "move it away, or choose another folder with \(option: .out)", cause: .input,
      kind: .occupied)
  }
}
