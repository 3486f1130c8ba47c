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
    _ destination: Destination, _ environment: [String: String], scratch: String,
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
