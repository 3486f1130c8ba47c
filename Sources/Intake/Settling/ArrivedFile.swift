import CPosix
import Glibc
import Platform

/// A file of the inbox, open for reading. It stays the same file whatever replaces its name.
struct ArrivedFile: ~Copyable, Sendable {
  let path: InboxPath
  /// Its stamp when it was opened.
  let stamp: FileStamp
  /// The number of hard links. With more than one, a process may write to it through another name.
  let nameCount: Int

  private let file: Descriptor
  private let device: UInt64
  /// Bytes allocated on the disk, as the file system reports them.
  private let allocated: Int64

  init(_ file: consuming Descriptor, at path: InboxPath) throws(SpoolError) {
    do {
      let status = try file.status()
      stamp = FileStamp(status)
      nameCount = Int(status.st_nlink)
      device = UInt64(status.st_dev)
      allocated = Int64(status.st_blocks) * 512
    } catch {
      throw SpoolError("look at", path.description, error)
    }
    self.path = path
    self.file = file
  }

  /// The descriptor; the file keeps ownership.
  var descriptor: CInt { file.number }

  /// A path to this open file for libraries that need one; valid for the file's lifetime.
  var readingPath: String { "/proc/self/fd/\(file.number)" }

  func currentStamp() throws(SpoolError) -> FileStamp {
    do {
      return FileStamp(try file.status())
    } catch {
      throw SpoolError("look at", path.description, error)
    }
  }

  /// All its bytes.
  /// - Throws: an `SpoolError` of kind `tooLarge` above `limit`.
  func bytes(atMost limit: Int) throws(SpoolError) -> [UInt8] {
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
      throw SpoolError("read", path.description, error)
    }
    guard count <= limit, stamp.byteCount <= Int64(limit) else {
      throw SpoolError(
        "read", path.description, reason: "it holds more than \(limit) bytes", kind: .tooLarge)
    }
    return Array(bytes[..<count])
  }

  /// Its first bytes; fewer if it is shorter.
  func head(count: Int) throws(SpoolError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let number = file.number
    do throws(SystemError) {
      let read = try SystemError.check { unsafe pread(number, &bytes, count, 0) }
      return Array(bytes[..<read])
    } catch {
      throw SpoolError("read", path.description, error)
    }
  }

  /// Whether a process has it open for writing; nil if unknown: the file has another owner, or its
  /// file system has no leases.
  ///
  /// Asks for a read lease, which is granted only without writers (fcntl(2)). The system refuses
  /// one to non-owners, and some file systems have none.
  func hasWriters() -> Bool? {
    if posix_probe_writers(file.number) == 0 { return false }
    return errno == EAGAIN ? true : nil
  }

  func isSameFile(as status: stat) -> Bool {
    stamp.inode == UInt64(status.st_ino) && device == UInt64(status.st_dev)
  }

  /// Throws if the file claims a gibibyte or more of which less than a tenth is on the disk: its
  /// holes would be read, hashed and copied as sound.
  func refuseSparseGiant() throws(SpoolError) {
    let giant: Int64 = 1 << 30
    guard stamp.byteCount >= giant, allocated < stamp.byteCount / 10 else { return }
    // Compressing file systems need little room as well: only holes count.
    let held = heldByteCount(stoppingAt: stamp.byteCount / 10)
    guard held < stamp.byteCount / 10 else { return }
    throw SpoolError(
      "accept", path.description,
      reason: "it claims \(stamp.byteCount) bytes and has only \(held)",
      advice: "copy it again from where it came from", kind: .sparse)
  }

  /// Bytes outside holes, counted up to a limit; all on a file system without holes.
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

extension ArrivedFile {
  /// The digest and count of all its bytes, read through the open file.
  func digest() throws(SpoolError) -> (digest: Digest, byteCount: Int) {
    var hash = SHA256()
    var count = 0
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    let number = descriptor
    do throws(SystemError) {
      while true {
        let read = try SystemError.check {
          unsafe piece.withUnsafeMutableBytes { buffer in
            unsafe pread(number, buffer.baseAddress, buffer.count, off_t(count))
          }
        }
        if read == 0 { return (hash.finalize(), count) }
        unsafe hash.update(piece.span.bytes.extracting(..<read))
        count += read
      }
    } catch {
      throw SpoolError("read", path.description, error)
    }
  }
}

/// Whether a file is a recording by its name or its first bytes. The inbox leaves all others alone.
enum SoundSign {
  static func isCarried(by name: FileName) -> Bool {
    let ending = name.bytes.dropFirst(name.stem.count + 1).map(\.asciiLowercase)
    return endings.contains(String(decoding: ending, as: UTF8.self))
  }

  static func isCarried(by head: [UInt8]) -> Bool {
    func has(_ text: String, at offset: Int = 0) -> Bool {
      head.dropFirst(offset).starts(with: text.utf8)
    }
    if has("RIFF") || has("RF64") || has("BW64") { return has("WAVE", at: 8) }
    if has("FORM") { return has("AIFF", at: 8) || has("AIFC", at: 8) }
    return has("fLaC") || has("OggS") || has("ID3") || has("caff") || has("#!AMR") || has("wvpk")
      || has("MAC ") || has("TTA1") || has("DSD ") || has("ftyp", at: 4)
      || head.starts(with: [0x1a, 0x45, 0xdf, 0xa3])
  }

  /// The name endings of files that hold sound, alone or with pictures, in lower case: for the inbox
  /// and for batches.
  static let endings: Set<String> = [
    "3g2", "3gp", "3gpp", "aac", "ac3", "aif", "aifc", "aiff", "alac", "amr", "ape", "au", "avi",
    "awb", "bw64", "bwf", "caf", "dff", "dsf", "dts", "eac3", "flac", "gsm", "m4a", "m4b", "m4p",
    "m4r", "m4v", "mka", "mkv", "mov", "mp1", "mp2", "mp3", "mp4", "mpc", "mpeg", "mpg", "mpga",
    "oga", "ogg", "ogv", "ogx", "opus", "qcp", "qta", "ra", "rf64", "snd", "spx", "tak", "tta",
    "vob", "voc", "w64", "wav", "wave", "weba", "webm", "wma", "wmv", "wv",
  ]
}
