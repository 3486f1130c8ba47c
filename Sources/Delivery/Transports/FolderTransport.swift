import Glibc
package import Platform

/// A folder on another disk. The file grows under the name of its part, and gets its own when the disk
/// has given every byte back.
package struct FolderTransport: Transport, ~Copyable {
  private let folder: Destination.Folder
  private let files: FileOperations
  private var throttle: Throttle
  // Of the file that is sent, and of the part at the destination.
  private var piece = [UInt8](repeating: 0, count: FileOperations.pieceByteCount)
  private var other = [UInt8](repeating: 0, count: FileOperations.pieceByteCount)

  package init(
    _ folder: Destination.Folder, bytesPerSecond: Int? = nil, files: FileOperations = .uncounted
  ) {
    self.folder = folder
    self.files = files
    throttle = Throttle(bytesPerSecond: bytesPerSecond)
  }

  package mutating func find(_ path: RemotePath) throws(SpoolError) -> RemoteFile? {
    try checkFolder()
    guard let stamp = try stamp(of: place(of: path)) else { return nil }
    guard stamp.isRegularFile else { throw SpoolError(occupied: path) }
    return Self.found(stamp)
  }

  package mutating func send(
    _ file: borrowing OutgoingFile, to path: RemotePath, from state: UploadState?,
    note: (UploadState) throws(SpoolError) -> Void, mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) -> RemoteFile {
    if try find(path) != nil { throw SpoolError(occupied: path) }
    try makeFolders(of: path)
    var state = state ?? UploadState()
    try note(state)
    var progress = UploadProgress()
    let partPath = path.part(state.token)
    let partPlace = place(of: partPath)
    let part = try acting("write", partPlace) { () throws(SystemError) in
      try files.open(partPlace, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o666)
    }
    progress.sentByteCount = try commonPrefix(of: file, part)
    if progress.sentByteCount < state.byteCount { state.byteCount = progress.sentByteCount }
    try acting("write", partPlace) { [start = progress.sentByteCount] () throws(SystemError) in
      try files.truncate(part, to: start)
      try part.seek(to: start)
    }
    try checkRoom(for: file.byteCount - progress.sentByteCount)
    while progress.sentByteCount < file.byteCount {
      guard mayGoOn(progress) else { throw .cancelled }
      let count = min(
        piece.count, throttle.pieceByteCount, file.byteCount - progress.sentByteCount)
      try file.fill(&piece, count, at: progress.sentByteCount)
      try acting("write", partPlace) { () throws(SystemError) in
        try unsafe piece.span.bytes.extracting(..<count).withUnsafeBytes {
          (bytes) throws(SystemError) in try unsafe files.write(bytes, to: part)
        }
      }
      progress.sentByteCount += count
      if progress.sentByteCount - state.byteCount >= UploadState.step {
        try flush(part)
        state.byteCount = progress.sentByteCount
        try note(state)
      }
      let sent = progress
      try throttle.wait(for: count) { mayGoOn(sent) }
    }
    try flush(part)
    try confirm(
      part: partPath, of: file, &progress, place: partPlace, keeper: "the disk", mayGoOn)
    return try finish(partPath, as: path)
  }

  package mutating func read(
    _ path: RemotePath, limit: Int, mayGoOn: () -> Bool,
    to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try checkFolder()
    let place = place(of: path)
    if try stamp(of: place) == nil { throw SpoolError(noFile: place) }
    var file = try acting("read", place) { () throws(SystemError) in try UncachedFile(place) }
    let stamp = try acting("read", place) { () throws(SystemError) in try file.stamp }
    if let complaint = stamp.complaint {
      throw SpoolError(otherBytes: path, complaint)
    }
    var count = 0
    try file.read { (bytes) throws(SpoolError) in
      guard mayGoOn() else { throw .cancelled }
      count += bytes.byteCount
      if count > limit { throw SpoolError(otherBytes: path, "it has more than \(limit) bytes") }
      try consume(bytes)
      return true
    }
  }

  package mutating func list(
    mayGoOn: () -> Bool, to consume: (ListedFile) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try checkFolder()
    var walk = FolderWalk()
    while let names = walk.next() {
      let place = ([folder.path] + names).joined(separator: "/")
      var entries: [(name: String, isText: Bool)] = []
      do throws(SystemError) {
        try FilePath.forEachName(in: place) { name, _, isText in entries.append((name, isText)) }
      } catch {
        let error = refusal("list", place, error)
        if names.isEmpty { throw error }
        try consume(.unusable(names.joined(separator: "/"), reason: error.why))
        continue
      }
      for (name, isText) in entries {
        guard mayGoOn() else { throw .cancelled }
        let text = (names + [name]).joined(separator: "/")
        guard isText else {
          try consume(.unusable(PlainText.line(text), reason: "its name is no UTF-8"))
          continue
        }
        guard let stamp = try stamp(of: "\(place)/\(name)") else { continue }
        guard stamp.isFolder || stamp.isRegularFile else {
          try consume(.unusable(PlainText.line(text), reason: stamp.complaint ?? "it is no file"))
          continue
        }
        let file = try walk.take(
          name, in: names, isFolder: stamp.isFolder, byteCount: Int(stamp.byteCount))
        if let file { try consume(file) }
      }
    }
  }

  package mutating func discard(_ state: UploadState, of path: RemotePath) throws(SpoolError) {
    try checkFolder()
    try remove(path.part(state.token))
  }

  package mutating func removeProbe(_ path: RemotePath) throws(SpoolError) {
    precondition(path.isProbe)
    try checkFolder()
    try remove(path)
  }

  package mutating func freeByteCount() throws(SpoolError) -> Int? {
    try acting("look at", folder.path) { () throws(SystemError) in
      try FilePath.freeByteCount(inFolder: folder.path)
    }
  }
}

extension FolderTransport {
  private func place(of path: RemotePath) -> String { "\(folder.path)/\(path)" }

  /// The folder of a disk that is not mounted is missing, and must not be made on the disk below it.
  private func checkFolder() throws(SpoolError) {
    let stamp: FileStamp
    do throws(SystemError) {
      stamp = try FileStamp(following: folder.path)
    } catch {
      throw SpoolError(
        "deliver to the folder", folder.path, error,
        advice: error.kind == .missing
          ? "mount its disk; if it is on no other disk, make the folder" : nil)
    }
    guard stamp.isFolder else {
      throw SpoolError(
        "deliver to the folder", folder.path, reason: "it is no folder", cause: .blocked,
        kind: .wrongKind)
    }
  }

  /// A file that will not fit is not begun: others may.
  private func checkRoom(for byteCount: Int) throws(SpoolError) {
    guard let room = try? FilePath.freeByteCount(inFolder: folder.path), room < byteCount else {
      return
    }
    throw SpoolError(
      "the disk of \(folder.path) is full",
      reason: "\(byteCount) bytes are to be written, and \(room) are free",
      advice: "free some space there, then \(command: .deliverRetry)", cause: .fullDisk,
      kind: .noRoom)
  }

  private func stamp(of place: String) throws(SpoolError) -> FileStamp? {
    do throws(SystemError) {
      return try FileStamp(at: place)
    } catch {
      if error.code == ENOENT { return nil }
      throw refusal("look at", place, error)
    }
  }

  private static func found(_ stamp: FileStamp) -> RemoteFile {
    RemoteFile(
      byteCount: Int(stamp.byteCount), identifier: "inode \(stamp.inode)",
      modified: Double(stamp.modified) / 1e9)
  }

  private func makeFolders(of path: RemotePath) throws(SpoolError) {
    var place = folder.path
    for name in path.names.dropLast() {
      let parent = place
      place += "/\(name)"
      if try stamp(of: place) != nil { continue }
      try acting("make the folder", place) { [place] () throws(SystemError) in
        try files.makeFolder(place, mode: 0o777)
        try files.flushFolder(parent)
      }
    }
  }

  /// How many bytes at the beginning of a part are those of the file. What differs was lost in a power
  /// cut, or never reached the disk. O(its length).
  private mutating func commonPrefix(
    of file: borrowing OutgoingFile, _ part: borrowing OpenFile
  ) throws(SpoolError) -> Int {
    var offset = 0
    while offset < file.byteCount {
      let count: Int
      do throws(SystemError) {
        count = min(
          try files.read(into: &other, from: part, at: Int64(offset)), file.byteCount - offset)
      } catch {
        throw refusal("read", part.path, error)
      }
      if count == 0 { break }
      try file.fill(&piece, count, at: offset)
      guard piece[..<count] == other[..<count] else { break }
      offset += count
    }
    return offset
  }

  private func flush(_ part: borrowing OpenFile) throws(SpoolError) {
    do throws(SystemError) { try files.flush(part) } catch {
      throw refusal("write", part.path, error)
    }
  }

  /// Gives a confirmed part its name.
  private func finish(_ part: RemotePath, as path: RemotePath) throws(SpoolError) -> RemoteFile {
    let (from, to) = (place(of: part), place(of: path))
    do throws(SystemError) {
      do throws(SystemError) {
        try files.rename(from, toNew: to)
      } catch {
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.code) else { throw error }
        // A file system with neither exclusive renames nor hard links: a look must do.
        if (try? FileStamp(at: to)) != nil { throw SystemError(EEXIST) }
        try files.rename(from, to: to)
      }
      try files.flushFolder(FilePath.folder(of: to))
      return Self.found(try FileStamp(at: to))
    } catch {
      if error.code == EEXIST { throw SpoolError(occupied: path) }
      throw refusal("write", to, error)
    }
  }

  private func remove(_ path: RemotePath) throws(SpoolError) {
    let place = place(of: path)
    try acting("remove", place) { () throws(SystemError) in try files.unlinkIfThere(place) }
  }

  private func acting<Result: ~Copyable>(
    _ action: String, _ place: String, _ calls: () throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SystemError) {
      return try calls()
    } catch {
      throw refusal(action, place, error)
    }
  }

  private func refusal(_ action: String, _ place: String, _ error: SystemError) -> SpoolError {
    // What the file system refuses as a name, it refuses every time.
    let isName = [ENAMETOOLONG, EILSEQ, EINVAL, ENOTDIR, EISDIR, ELOOP].contains(error.code)
    return SpoolError(action, place, error, cause: isName ? .input : .environment)
  }
}

/// Keeps a rate.
private struct Throttle {
  let bytesPerSecond: Int?
  private var start = Clock.monotonic()
  private var byteCount = 0

  init(bytesPerSecond: Int?) { self.bytesPerSecond = bytesPerSecond }

  /// What is sent between two waits: little enough that progress is seen.
  var pieceByteCount: Int { bytesPerSecond.map { max(4096, $0 / 4) } ?? .max }

  /// Waits as long as so many bytes take.
  /// - Parameter mayGoOn: false ends it.
  mutating func wait(for count: Int, mayGoOn: () -> Bool) throws(SpoolError) {
    guard let bytesPerSecond else { return }
    byteCount += count
    let end = start + Int64(Double(byteCount) / Double(max(1, bytesPerSecond)) * 1e9)
    var rest = end - Clock.monotonic()
    // A slow disk must not be made up for later.
    if rest < 0 { (start, byteCount) = (Clock.monotonic(), 0) }
    while rest > 0 {
      guard mayGoOn() else { throw .cancelled }
      usleep(UInt32(min(rest, 200_000_000) / 1000))
      rest = end - Clock.monotonic()
    }
  }
}
