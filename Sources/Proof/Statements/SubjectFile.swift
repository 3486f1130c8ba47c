import Glibc
package import Platform

/// A subject of a receipt. Receipts are untrusted: files are searched only beside them, and no
/// links are followed.
struct SubjectFile: Hashable, Sendable {
  /// The result of reading it.
  enum Content: Hashable, Sendable {
    /// Read completely; the digest is in lower-case hexadecimal digits.
    case read(String, byteCount: Int)
    case trouble(String)
  }

  /// Its path from the receipt's folder.
  let name: String
  /// The algorithm of its digest. The same file by another algorithm is another subject.
  let algorithm: DigestAlgorithm
  private let folder: String

  /// Nil for a name that leads out of the folder.
  init?(name: String, in folder: String, by algorithm: DigestAlgorithm = .sha256) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !name.utf8.contains(0), !parts.contains(where: { ["", ".", ".."].contains($0) })
    else { return nil }
    self.name = name
    self.folder = folder
    self.algorithm = algorithm
  }

  /// Its length; nil if it is unreadable.
  var byteCount: Int? {
    guard case .success(let file) = open() else { return nil }
    defer { close(file.descriptor) }
    return file.byteCount
  }

  /// Reads all of it.
  /// - Parameter took: called with the number of bytes read; false stops.
  func read(_ took: (Int) -> Bool) -> Content {
    let file: (descriptor: Int32, byteCount: Int)
    switch open() {
    case .success(let opened): file = opened
    case .failure(let trouble): return .trouble(trouble.reason)
    }
    defer { close(file.descriptor) }
    posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    guard var hasher = RunningDigest(algorithm) else {
      return .trouble("this machine's libcrypto does not give \(algorithm.rawValue)")
    }
    var byteCount = 0
    // At most the file's length and one byte to detect its end: clearing a mebibyte takes longer
    // than reading a small file.
    var block = [UInt8](repeating: 0, count: max(1, min(file.byteCount + 1, 1 << 20)))
    while true {
      let count = unsafe block.withUnsafeMutableBytes { bytes in
        let count = unsafe Glibc.read(file.descriptor, bytes.baseAddress, bytes.count)
        if count > 0 { unsafe hasher.update(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        return count
      }
      if count < 0 {
        if errno == EINTR { continue }
        return .trouble(Self.reason(errno))
      }
      if count == 0 { return .read(hasher.finalize(), byteCount: byteCount) }
      byteCount += count
      guard took(count) else { return .trouble("it was not read to its end") }
      if count < block.count, byteCount == file.byteCount {
        return .read(hasher.finalize(), byteCount: byteCount)
      }
    }
  }

  /// All its bytes; throws without reading if there are more than `limit`.
  func bytes(limit: Int) throws(Trouble) -> [UInt8] { try Self.bytes(of: open(), limit: limit) }

  /// All bytes of a user's file; throws without reading if there are more than `limit`.
  static func readWhole(_ path: String, limit: Int) throws(SpoolError) -> [UInt8] {
    let opened = checked(unsafe Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
    do throws(Trouble) { return try bytes(of: opened, limit: limit) } catch {
      throw SpoolError("cannot read \(path)", reason: error.reason, cause: .blocked)
    }
  }

  private static func bytes(
    of opened: Result<(descriptor: Int32, byteCount: Int), Trouble>, limit: Int
  ) throws(Trouble) -> [UInt8] {
    let reader = SubjectReader(try opened.get())
    guard reader.byteCount <= limit else {
      throw Trouble(reason: "it has \(reader.byteCount) bytes, and no more than \(limit) are read")
    }
    return try reader.read(upTo: reader.byteCount)
  }

  /// Why a file is unreadable.
  struct Trouble: Error, Hashable {
    let reason: String

    static let missing = Trouble(reason: "it is missing")
  }

  // By bytes: names that look alike may differ.
  static func == (one: SubjectFile, other: SubjectFile) -> Bool {
    one.algorithm == other.algorithm && one.name.utf8.elementsEqual(other.name.utf8)
      && one.folder.utf8.elementsEqual(other.folder.utf8)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(algorithm)
    for var text in [name, folder] {
      text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
  }

  func open() -> Result<(descriptor: Int32, byteCount: Int), Trouble> {
    var current = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let parts = name.split(separator: "/")
    for (index, part) in parts.enumerated() where current >= 0 {
      let kind = index + 1 < parts.count ? O_DIRECTORY : O_NONBLOCK
      let next = unsafe openat(current, String(part), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
      let code = errno
      close(current)
      errno = code
      current = next
    }
    return Self.checked(current)
  }

  private static func checked(
    _ descriptor: Int32
  ) -> Result<(descriptor: Int32, byteCount: Int), Trouble> {
    guard descriptor >= 0 else { return .failure(Trouble(reason: reason(errno))) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return .failure(Trouble(reason: "it is no file"))
    }
    return .success((descriptor, Int(status.st_size)))
  }

  static func reason(_ code: Int32) -> String {
    switch code {
    case ENOENT: Trouble.missing.reason
    case ELOOP: "it is a link, which is not followed"
    default: unsafe String(cString: strerror(code))
    }
  }

  /// The hashes of a clip's blocks, if the file is exactly that clip. O(bytes), with one block in
  /// memory.
  func leaves(of clip: QuotedClip) throws(Trouble) -> [Digest] {
    let reader = SubjectReader(try open().get())
    guard reader.byteCount == clip.byteCount else {
      throw Trouble(
        reason: "it has \(reader.byteCount) bytes, and \(Self.words(clip)) \(clip.byteCount)")
    }
    guard try reader.read(QuotedClip.headerByteCount) == clip.header else {
      throw Trouble(reason: "its header is not the one that follows from the receipt")
    }
    let leaves = try clip.blocks.map { (block) throws(Trouble) in
      MerkleTree.leaf(try reader.read(clip.extent.byteCount(ofBlock: block)))
    }
    guard try reader.read(clip.padByteCount).allSatisfy({ $0 == 0 }) else {
      throw Trouble(reason: "what follows the samples is no zero")
    }
    return leaves
  }

  private static func words(_ clip: QuotedClip) -> String {
    clip.blocks.count == 1
      ? "block \(clip.blocks.lowerBound) has"
      : "blocks \(clip.blocks.lowerBound) to \(clip.blocks.upperBound - 1) have"
  }
}

/// Reads a file sequentially, and closes it.
private struct SubjectReader: ~Copyable {
  /// Its length when it was opened.
  let byteCount: Int
  private let descriptor: Int32

  init(_ file: (descriptor: Int32, byteCount: Int)) { (descriptor, byteCount) = file }

  deinit { close(descriptor) }

  /// The next bytes; throws if there are fewer.
  func read(_ count: Int) throws(SubjectFile.Trouble) -> [UInt8] {
    let bytes = try read(upTo: count)
    guard bytes.count == count else { throw SubjectFile.Trouble(reason: "it ends too early") }
    return bytes
  }

  /// The next bytes, fewer at the end.
  func read(upTo count: Int) throws(SubjectFile.Trouble) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let more = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled)
      }
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { throw SubjectFile.Trouble(reason: SubjectFile.reason(errno)) }
      if more == 0 { break }
      filled += more
    }
    bytes.removeLast(count - filled)
    return bytes
  }
}

/// Checksums for `sha256sum -c`.
package enum ChecksumList {
  /// The file name's suffix.
  static let ending = ".sha256"

  /// One line per file, in order.
  package static func text(of files: [(name: String, digest: Digest)]) -> String {
    files.map { line($0.name, $0.digest) }.joined()
  }

  // A name with a backslash or a line break is escaped, and its line begins with a backslash: see
  // `info sha256sum`.
  private static func line(_ name: String, _ digest: Digest) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") })
    else { return "\(digest.hex)  \(name)\n" }
    let escaped = name.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return "\\\(digest.hex)  \(escaped)\n"
  }
}
