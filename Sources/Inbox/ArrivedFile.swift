internal import CPosix
internal import Glibc

/// A file of the inbox, open for reading, which stays the same file whatever is renamed or put in
/// its place meanwhile.
public struct ArrivedFile: ~Copyable, Sendable {
  /// Where it was found.
  public let path: InboxPath
  /// What it was when it was opened.
  public let stamp: FileStamp
  /// How many names lead to it. With more than one, somebody may write to it through another.
  public let nameCount: Int

  private let file: Descriptor
  private let device: UInt64
  /// Bytes that it takes on the disk, as far as the file system says.
  private let allocated: Int64

  init(_ file: consuming Descriptor, at path: InboxPath) throws(InboxError) {
    do {
      let status = try file.status()
      stamp = FileStamp(status)
      nameCount = Int(status.st_nlink)
      device = UInt64(status.st_dev)
      allocated = Int64(status.st_blocks) * 512
    } catch {
      throw InboxError("look at", path.description, error)
    }
    self.path = path
    self.file = file
  }

  /// The descriptor, which stays this value's own: do not close it.
  public var descriptor: CInt { file.number }

  /// A path for libraries that want one; it leads to this open file and nowhere else, and holds as
  /// long as this value lives.
  public var readingPath: String { "/proc/self/fd/\(file.number)" }

  /// What it is now; other than `stamp` once somebody has changed it.
  public func currentStamp() throws(InboxError) -> FileStamp {
    do {
      return FileStamp(try file.status())
    } catch {
      throw InboxError("look at", path.description, error)
    }
  }

  /// All its bytes.
  /// - Throws: an `InboxError` of kind `tooLarge` where there are more than `limit`.
  public func bytes(atMost limit: Int) throws(InboxError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(min(stamp.byteCount, Int64(limit))) + 1)
    var count = 0
    let number = file.number
    do throws(SystemError) {
      while count < bytes.count {
        let read = try SystemError.check {
          unsafe bytes.withUnsafeMutableBytes { buffer in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            return unsafe pread(number, rest.baseAddress, rest.count, off_t(count))
          }
        }
        if read == 0 { break }
        count += read
      }
    } catch {
      throw InboxError("read", path.description, error)
    }
    guard count <= limit, stamp.byteCount <= Int64(limit) else {
      throw InboxError(
        .tooLarge, "read", path.description, reason: "it holds more than \(limit) bytes")
    }
    return Array(bytes[..<count])
  }

  /// Its first bytes, fewer where it is shorter.
  func head(count: Int) throws(InboxError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let number = file.number
    do throws(SystemError) {
      let read = try SystemError.check { unsafe pread(number, &bytes, count, 0) }
      return Array(bytes[..<read])
    } catch {
      throw InboxError("read", path.description, error)
    }
  }

  /// Whether somebody has it open for writing.
  ///
  /// A read lease is given only where nobody has (fcntl(2)). It is refused to those who do not own
  /// the file, and by file systems without leases.
  func writers() -> Writers {
    if posix_probe_writers(file.number) == 0 { return .none }
    return errno == EAGAIN ? .some : .unknown
  }

  func isSameFile(as status: stat) -> Bool {
    stamp.inode == UInt64(status.st_ino) && device == UInt64(status.st_dev)
  }

  /// Throws where the file claims a gibibyte or more, of which less than a tenth is on the disk:
  /// its holes would be read, hashed and copied as if they were sound.
  func refuseSparseGiant() throws(InboxError) {
    let giant: Int64 = 1 << 30
    guard stamp.byteCount >= giant, allocated < stamp.byteCount / 10 else { return }
    // Compressing file systems need little room as well: only holes count.
    let held = heldByteCount(stoppingAt: stamp.byteCount / 10)
    guard held < stamp.byteCount / 10 else { return }
    throw InboxError(
      .sparse, "accept", path.description,
      reason: "it claims \(stamp.byteCount) bytes and has only \(held)",
      advice: "copy it again from where it came from")
  }

  /// Bytes outside holes, counted until there are enough; all where the file system has no holes.
  private func heldByteCount(stoppingAt limit: Int64) -> Int64 {
    var held: Int64 = 0
    var position: Int64 = 0
    while held < limit, position < stamp.byteCount {
      let start = Int64(posix_seek_stretch(file.number, off_t(position), 0))
      if start < 0 { return errno == ENXIO ? held : stamp.byteCount }
      let end = Int64(posix_seek_stretch(file.number, off_t(start), 1))
      guard end > start else { return stamp.byteCount }
      held += end - start
      position = end
    }
    return held
  }
}
