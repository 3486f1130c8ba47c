internal import Glibc
package import Platform

/// Reads what a destination has, over one connection. What fails for the moment is tried again.
package struct DestinationReader: ~Copyable {
  private var lane: Lane
  private let environment: [String: String]
  private let mayGoOn: @Sendable () -> Bool
  /// Where encrypted files are decrypted.
  private let scratch: String

  /// Seconds before a file is tried again.
  private static let pauses = [1.0, 3]

  /// - Parameters:
  ///   - environment: for the secrets and for programs.
  ///   - scratch: the folder where encrypted files are decrypted.
  ///   - mayGoOn: called at least once a second; false ends the work.
  package init(
    _ destination: Destination, _ environment: [String: String], scratch: String = "/tmp",
    mayGoOn: @Sendable @escaping () -> Bool
  ) {
    self.scratch = scratch
    lane = Lane(destination, number: 0)
    self.environment = environment
    self.mayGoOn = mayGoOn
  }

  /// What a destination has in the place of a file.
  package enum Finding: Hashable, Sendable {
    case sound
    case missing
    /// Other bytes, and what is wrong with them.
    case damaged(String)
  }

  /// A file of the destination, and what its bytes are to be.
  package struct Expectation: Hashable, Sendable {
    package let path: RemotePath
    /// Where it lies in a folder of this computer: under the path that it would have if it were not
    /// encrypted.
    package let place: RemotePath
    /// Of the file itself, whether it is encrypted there or not.
    package let byteCount: Int
    package let digest: Digest

    package init(
      _ path: RemotePath, byteCount: Int, digest: Digest, at place: RemotePath? = nil
    ) {
      self.path = path
      self.place = place ?? path
      self.byteCount = byteCount
      self.digest = digest
    }
  }

  /// What is said of a file of which nothing is known but its path: its bytes as they are now. Reads all
  /// of it.
  /// - Parameter limit: more bytes are an error of the kind `broken`.
  package mutating func look(
    at path: RemotePath, limit: Int
  ) throws(SpoolError) -> Expectation {
    if let encryption = lane.destination.encryption {
      let file = try decrypted(path, by: encryption, limit: limit)
      defer { file.remove() }
      return Expectation(path, byteCount: file.copy.byteCount, digest: file.copy.digest)
    }
    return try retrying { (transport, mayGoOn) throws(SpoolError) in
      var hash = SHA256()
      var count = 0
      try transport.read(path, limit: limit, mayGoOn: mayGoOn) { bytes in
        hash.update(bytes)
        count += bytes.byteCount
      }
      return Expectation(path, byteCount: count, digest: hash.finalize())
    }
  }

  /// Reads all of a file and compares it.
  /// - Throws: if the destination cannot be read.
  package mutating func check(_ file: Expectation) throws(SpoolError) -> Finding {
    do throws(SpoolError) {
      return try retrying { (transport, mayGoOn) throws(SpoolError) in
        let found = try transport.confirm(
          file.path, byteCount: file.byteCount, digest: file.digest, mayGoOn: mayGoOn)
        return found == nil ? .missing : .sound
      }
    } catch {
      if error.kind == .broken { return .damaged(error.why) }
      throw error
    }
  }

  /// Reads all of an encrypted file, decrypts it and compares what it held: where only that is known, as
  /// after a restore.
  /// - Throws: if the destination cannot be read, or the key is missing.
  package mutating func checkDecrypted(_ file: Expectation) throws(SpoolError) -> Finding {
    do throws(SpoolError) {
      let known = try look(at: file.path, limit: file.byteCount)
      return known.digest == file.digest
        ? .sound : .damaged("what it holds is not what was delivered")
    } catch {
      if error.kind == .broken { return .damaged(error.why) }
      if error.kind == .missing, error.cause == .input { return .missing }
      throw error
    }
  }

  /// Reads a small file.
  /// - Parameter limit: more bytes are an error of the kind `broken`.
  package mutating func bytes(of path: RemotePath, limit: Int) throws(SpoolError) -> [UInt8] {
    if let encryption = lane.destination.encryption {
      let file = try decrypted(path, by: encryption, limit: limit)
      defer { file.remove() }
      return try doing("read", file.path) { () throws(SystemError) in
        try OpenFile(file.path, O_RDONLY).bytes(limit)
      }
    }
    return try retrying { (transport, mayGoOn) throws(SpoolError) in
      var all: [UInt8] = []
      try transport.read(path, limit: limit, mayGoOn: mayGoOn) { bytes in
        unsafe bytes.withUnsafeBytes { unsafe all.append(contentsOf: $0) }
      }
      return all
    }
  }

  /// Reads a file, and compares it at its end.
  /// - Parameters:
  ///   - begin: called before the first byte, and again before a file that is read again from its
  ///     beginning.
  /// - Throws: an error of the kind `missing` or `broken` if it is not what was confirmed.
  package mutating func read(
    _ file: Expectation, begin: () throws(SpoolError) -> Void,
    to consume: (UnsafeRawBufferPointer) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    if let encryption = lane.destination.encryption {
      let clear = try decrypted(file.path, by: encryption, limit: file.byteCount)
      defer { clear.remove() }
      guard clear.copy.digest == file.digest, clear.copy.byteCount == file.byteCount else {
        throw SpoolError(otherBytes: file.path, "what it holds is not what was delivered")
      }
      try begin()
      return try unsafe clear.read(to: consume)
    }
    try retrying { (transport, mayGoOn) throws(SpoolError) in
      try begin()
      guard try transport.find(file.path) != nil else {
        throw SpoolError(noFile: file.path.description)
      }
      var hash = SHA256()
      var count = 0
      try transport.read(file.path, limit: file.byteCount, mayGoOn: mayGoOn) {
        (bytes) throws(SpoolError) in
        hash.update(bytes)
        count += bytes.byteCount
        try unsafe bytes.withUnsafeBytes { (bytes) throws(SpoolError) in
          try unsafe consume(bytes)
        }
      }
      guard count == file.byteCount, hash.finalize() == file.digest else {
        throw SpoolError(otherBytes: file.path, "its bytes are not those that were confirmed")
      }
    }
  }

  /// Fetches an encrypted file and decrypts it into the scratch folder.
  /// - Parameter limit: of the bytes that it holds.
  private mutating func decrypted(
    _ path: RemotePath, by encryption: Encryption, limit: Int
  ) throws(SpoolError) -> DecryptedFile {
    let sealed = "\(scratch)/spool-\(Encryption.opaqueName())\(Encryption.ending)"
    let files = FileOperations.uncounted
    defer { try? files.unlinkIfThere(sealed) }
    let file = try doing("write", sealed) { () throws(SystemError) in
      try files.open(sealed, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }
    // Every 64 KiB have 16 bytes more, and there is a header.
    let sealedLimit = min(limit, .max / 2)
    try retrying { (transport, mayGoOn) throws(SpoolError) in
      try doing("write", sealed) { () throws(SystemError) in
        try files.truncate(file, to: 0)
        try file.seek(to: 0)
      }
      guard try transport.find(path) != nil else { throw SpoolError(noFile: path.description) }
      try transport.read(
        path, limit: sealedLimit + sealedLimit / 1000 + (1 << 20), mayGoOn: mayGoOn
      ) { (bytes) throws(SpoolError) in
        try doing("write", sealed) { () throws(SystemError) in
          try unsafe bytes.withUnsafeBytes { (bytes) throws(SystemError) in
            try unsafe files.write(bytes, to: file)
          }
        }
      }
    }
    let clear = "\(scratch)/spool-\(Encryption.opaqueName())"
    do throws(SpoolError) {
      let copy = try encryption.decrypt(sealed, to: clear, environment) { mayGoOn() }
      guard copy.byteCount <= limit else {
        try? files.unlinkIfThere(clear)
        throw SpoolError(otherBytes: path, "it has more than \(limit) bytes")
      }
      return DecryptedFile(path: clear, copy: copy)
    } catch {
      if error.kind == .broken { throw SpoolError(otherBytes: path, error.why) }
      throw error
    }
  }

  /// Lists all files beneath the destination's folder; see ``Transport/list(mayGoOn:to:)``.
  package mutating func list(
    to consume: (ListedFile) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try lane.with(environment) { [mayGoOn] (transport) throws(SpoolError) in
      try transport.list(mayGoOn: mayGoOn, to: consume)
    }
  }

  private mutating func retrying<Result>(
    _ body: (
      inout any Transport & ~Copyable, @Sendable () -> Bool
    ) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    var attempt = 0
    while true {
      do throws(SpoolError) {
        return try lane.with(environment) { [mayGoOn] (transport) throws(SpoolError) in
          try body(&transport, mayGoOn)
        }
      } catch {
        lane.disconnect()
        // What was read is other bytes: reading again tells no more.
        let mayPass = error.remedy == .retry && error.kind != .broken && error.cause != .cancelled
        guard mayPass, attempt < Self.pauses.count else { throw error }
        try wait(Self.pauses[attempt])
        attempt += 1
      }
    }
  }

  private func wait(_ seconds: Double) throws(SpoolError) {
    let end = Clock.monotonic() + Int64(seconds * 1e9)
    while Clock.monotonic() < end {
      guard mayGoOn() else { throw .cancelled }
      usleep(50_000)
    }
  }
}

extension DestinationReader {
  /// What became of a file that was fetched.
  package enum Fetched: Hashable, Sendable {
    case written
    /// The same bytes lay there already.
    case present
  }

  /// Brings a file into a folder, under its own path there. It gets its name when all of its bytes are
  /// there and compared, and replaces nothing. Continues after the death of the process.
  /// - Parameter folder: an absolute path of a folder.
  /// - Throws: an error of the kind `missing` or `broken` if the destination has not got what was
  ///   confirmed, and one of the kind `occupied` if another file has the name here.
  package mutating func fetch(
    _ file: Expectation, into folder: String
  ) throws(SpoolError) -> Fetched {
    let target = FetchedFile(file, in: folder)
    if try target.isPresent { return .present }
    try target.makeFolders()
    let part = try target.openPart()
    try unsafe read(file) { () throws(SpoolError) in
      try target.acting { () throws(SystemError) in
        try target.files.truncate(part)
        try part.seek(to: 0)
      }
    } to: { (bytes) throws(SpoolError) in
      try target.acting { () throws(SystemError) in
        try unsafe target.files.write(bytes, to: part)
      }
    }
    try target.acting { () throws(SystemError) in try target.files.flush(part) }
    return try target.finish()
  }
}

/// What an encrypted file held, in the scratch folder.
private struct DecryptedFile {
  let path: String
  let copy: Encryption.Copy

  func remove() { try? FileOperations.uncounted.unlinkIfThere(path) }

  func read(
    to consume: (UnsafeRawBufferPointer) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    let file = try doing("read", path) { () throws(SystemError) in
      try OpenFile(path, O_RDONLY)
    }
    var piece = [UInt8](repeating: 0, count: FileOperations.pieceByteCount)
    var offset: Int64 = 0
    while true {
      let count = try doing("read", path) { () throws(SystemError) in
        try FileOperations.uncounted.read(into: &piece, from: file, at: offset)
      }
      if count == 0 { return }
      try unsafe piece.span.bytes.extracting(..<count).withUnsafeBytes {
        (bytes) throws(SpoolError) in try unsafe consume(bytes)
      }
      offset += Int64(count)
    }
  }
}

/// A file on its way into a folder of this computer.
private struct FetchedFile {
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
