internal import AudioModel
internal import CPosix
import Glibc

/// A stretch of a stream in a nameless file: written by one thread, read by many.
///
/// Chunks that are encoded side by side need minutes of sound at once. In a file they cost no
/// memory of the program's own, and as what is done with is given back at once, the file seldom
/// reaches the disk. It goes away with this value, or with the program.
final class SoundStash: Sendable {
  /// Bytes of the file that each channel has for itself; most of them are never used.
  private static let channelByteCount = 1 << 37

  private let descriptor: Int32
  private let path: String

  /// Opens a file in the folder of `path`, which names it in errors.
  init(beside path: String) throws(MediaError) {
    self.path = path
    descriptor = try NamelessFile.open(beside: path)
  }

  deinit { close(descriptor) }

  /// Writes a block whose first frame has the number `start`.
  func write(_ block: borrowing AudioBuffer, at start: Int) throws(MediaError) {
    for channel in 0..<block.channelCount {
      var done = 0
      let byteCount = block.frameCount.count * 4
      while done < byteCount {
        let source = unsafe UnsafeRawPointer(block.baseAddress(ofChannel: channel)) + done
        let count = unsafe pwrite(
          descriptor, source, byteCount - done, offset(start, channel) + off_t(done))
        if count > 0 {
          done += count
        } else if errno != EINTR {
          throw MediaError(writing: path, errno)
        }
      }
    }
  }

  /// Replaces the content of `buffer` with the frames of `range`, all of which were written.
  func read(_ range: Range<Int>, into buffer: inout AudioBuffer) throws(MediaError) {
    buffer.frameCount = Frames(range.count)
    for channel in 0..<buffer.channelCount {
      var done = 0
      while done < range.count * 4 {
        let target = unsafe UnsafeMutableRawPointer(buffer.baseAddress(ofChannel: channel)) + done
        let count = unsafe pread(
          descriptor, target, range.count * 4 - done,
          offset(range.lowerBound, channel) + off_t(done))
        if count > 0 {
          done += count
        } else if count == 0 || errno != EINTR {
          throw MediaError(writing: path, count == 0 ? EIO : errno)
        }
      }
    }
  }

  /// Gives back the room of the frames before `frame`. Only room depends on it.
  func drop(before frame: Int, channelCount: Int) {
    for channel in 0..<channelCount {
      posix_punch_hole(descriptor, offset(0, channel), off_t(frame * 4))
    }
  }

  private func offset(_ frame: Int, _ channel: Int) -> off_t {
    off_t(channel * Self.channelByteCount + frame * 4)
  }
}

/// Files without a name, which go away when they are closed.
enum NamelessFile {
  /// Opens one for reading and writing in the folder of `path`.
  static func open(beside path: String) throws(MediaError) -> Int32 {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    let flags = O_RDWR | O_CLOEXEC | __O_TMPFILE | O_DIRECTORY
    let descriptor = unsafe Glibc.open(folder.isEmpty ? "." : folder, flags, 0o600)
    guard descriptor >= 0 else { throw MediaError(writing: path, errno) }
    return descriptor
  }
}

extension MediaError {
  /// A system call that could not write beside `path`.
  init(writing path: String, _ code: Int32) {
    let isFull = code == ENOSPC || code == EDQUOT
    self.init(
      isFull ? .outOfSpace : .write, "write", path: path,
      reason: unsafe String(cString: strerror(code)),
      advice: isFull ? "free some space" : nil)
  }
}
