import Glibc

/// A file that is read from its disk, or from the server of a network disk, and not from this
/// computer's memory, which may hold bytes that the disk has lost.
///
/// Reads around the memory where the file system can (`O_DIRECT`); elsewhere it first asks the
/// system to forget what it holds, which it does for bytes that are flushed.
@safe package struct UncachedFile: ~Copyable {
  private var file: OpenFile
  private var isDirect: Bool
  // Aligned, as reads around the memory need it.
  private let piece: UnsafeMutableRawBufferPointer

  /// Opens a regular file, and follows no link.
  package init(_ path: String) throws(SystemError) {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    do throws(SystemError) {
      file = try OpenFile(path, flags | __O_DIRECT)
      isDirect = true
    } catch {
      guard error.code == EINVAL else { throw error }
      file = try OpenFile(path, flags)
      isDirect = false
    }
    unsafe piece = .allocate(byteCount: FileOperations.pieceByteCount, alignment: 1 << 16)
  }

  deinit { unsafe piece.deallocate() }

  package var stamp: FileStamp {
    get throws(SystemError) { try file.stamp }
  }

  /// Reads from `offset`, a multiple of the size of a piece, to the end.
  /// - Parameter consume: takes each piece; false ends the reading.
  package mutating func read(
    from offset: Int = 0, _ consume: (RawSpan) throws(SpoolError) -> Bool
  ) throws(SpoolError) {
    var offset = offset
    while true {
      let count = try nextPiece(at: offset)
      if count == 0 { return }
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: piece[..<count])
      guard try unsafe consume(bytes.bytes) else { return }
      // Only the last piece is short, and nothing can be read from its odd end.
      if unsafe count < piece.count { return }
      offset += count
    }
  }

  private mutating func nextPiece(at offset: Int) throws(SpoolError) -> Int {
    do throws(SystemError) {
      if isDirect {
        do throws(SystemError) {
          let number = file.descriptor
          return try SystemError.check {
            unsafe pread(number, piece.baseAddress, piece.count, off_t(offset))
          }
        } catch {
          // Some file systems accept the flag and no such read.
          guard error.code == EINVAL else { throw error }
          file = try OpenFile(file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
          isDirect = false
        }
      }
      if offset == 0 { _ = posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED) }
      return try unsafe file.fill(piece, at: offset)
    } catch {
      throw SpoolError("read", file.path, error)
    }
  }
}
