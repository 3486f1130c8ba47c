internal import Glibc

/// A file that a receipt vouches for. Receipts come from strangers: what they name is looked for
/// beside them and nowhere else, and no link is followed.
struct SubjectFile: Hashable, Sendable {
  /// What a look at it gave.
  enum Content: Hashable, Sendable {
    /// It was read to its end; the digest is in lower-case hexadecimal digits.
    case read(String, byteCount: Int)
    /// It could not be.
    case trouble(String)
  }

  /// Its path from the receipt's folder.
  let name: String
  /// What its digest is made with. The same file by another algorithm is another subject.
  let algorithm: DigestAlgorithm
  private let folder: String

  /// Names a file; nil for a name that leads out of the folder.
  init?(name: String, in folder: String, by algorithm: DigestAlgorithm = .sha256) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !name.utf8.contains(0), !parts.contains(where: { ["", ".", ".."].contains($0) })
    else { return nil }
    self.name = name
    self.folder = folder
    self.algorithm = algorithm
  }

  /// Its length; nil where it cannot be read.
  var byteCount: Int? {
    guard case .success(let file) = open() else { return nil }
    defer { close(file.descriptor) }
    return file.byteCount
  }

  /// Reads all of it.
  /// - Parameter took: told how many bytes were read; false ends the reading.
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
    // No larger than the file, and a byte more so that its end is seen with it: to clear a mebibyte
    // takes longer than to read a small file.
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

  /// All its bytes, if they are no more than `limit`: what is longer is not read at all.
  func bytes(limit: Int) throws(Trouble) -> [UInt8] { try Self.bytes(of: open(), limit: limit) }

  /// All the bytes of a file that a user named, if they are no more than `limit`: what is longer is
  /// not read at all.
  static func readWhole(_ path: String, limit: Int) throws(ProofError) -> [UInt8] {
    let opened = checked(unsafe Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
    do throws(Trouble) { return try bytes(of: opened, limit: limit) } catch {
      throw ProofError("cannot read \(path)", reason: error.reason)
    }
  }

  private static func bytes(
    of opened: Result<(descriptor: Int32, byteCount: Int), Trouble>, limit: Int
  ) throws(Trouble) -> [UInt8] {
    let file = try opened.get()
    defer { close(file.descriptor) }
    guard file.byteCount <= limit else {
      throw Trouble(reason: "it has \(file.byteCount) bytes, and no more than \(limit) are read")
    }
    var bytes = [UInt8](repeating: 0, count: file.byteCount)
    var filled = 0
    while filled < bytes.count {
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(
          file.descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Trouble(reason: reason(errno)) }
      if count == 0 { break }
      filled += count
    }
    return Array(bytes.prefix(filled))
  }

  /// Why a file cannot be read.
  struct Trouble: Error, Hashable {
    let reason: String

    /// There is no such file.
    static let missing = Trouble(reason: "it is missing")
  }

  // Two names that look alike may be two files: their bytes count.
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
}
