internal import Glibc
package import Platform

/// Reads what a destination has, over one connection. What fails for the moment is tried again.
package struct DestinationReader: ~Copyable {
  private var lane: Lane
  private let environment: [String: String]
  private let mayGoOn: @Sendable () -> Bool
  /// Where encrypted files lie, as they are, while they are decrypted.
  private let scratch: String

  /// Seconds before a file is tried again.
  private static let pauses = [1.0, 3]

  /// - Parameters:
  ///   - environment: for the secrets and for programs.
  ///   - scratch: the folder for encrypted files, as they are, while they are decrypted.
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
    let (byteCount, digest) = try readAll(path, limit: limit) {
      ()
    } to: { _ in
    }
    return Expectation(path, byteCount: byteCount, digest: digest)
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
    var all: [UInt8] = []
    _ = try readAll(path, limit: limit) {
      all = []
    } to: { bytes in
      unsafe bytes.withUnsafeBytes { unsafe all.append(contentsOf: $0) }
    }
    return all
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
    let (byteCount, digest) = try readAll(file.path, limit: file.byteCount, begin: begin) {
      (bytes) throws(SpoolError) in
      try unsafe bytes.withUnsafeBytes { (bytes) throws(SpoolError) in try unsafe consume(bytes) }
    }
    guard byteCount == file.byteCount, digest == file.digest else {
      throw SpoolError(
        otherBytes: file.path,
        lane.destination.encryption == nil
          ? "its bytes are not those that were confirmed"
          : "what it holds is not what was delivered")
    }
  }

  /// Reads a file itself, whether it is encrypted there or not. What it holds is nowhere else in clear
  /// than where it is taken.
  /// - Parameters:
  ///   - limit: more bytes are an error of the kind `broken`.
  ///   - begin: called before the first byte, and again before a file that is read again from its
  ///     beginning.
  private mutating func readAll(
    _ path: RemotePath, limit: Int, begin: () throws(SpoolError) -> Void,
    to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) -> (byteCount: Int, digest: Digest) {
    var hash = SHA256()
    var count = 0
    guard let encryption = lane.destination.encryption else {
      try retrying { (transport, mayGoOn) throws(SpoolError) in
        hash = SHA256()
        count = 0
        try begin()
        guard try transport.find(path) != nil else { throw SpoolError(noFile: path.description) }
        try transport.read(path, limit: limit, mayGoOn: mayGoOn) { (bytes) throws(SpoolError) in
          hash.update(bytes)
          count += bytes.byteCount
          try consume(bytes)
        }
      }
      return (count, hash.finalize())
    }
    let sealed = try fetchSealed(path, limit: limit)
    try begin()
    do throws(SpoolError) {
      try encryption.decrypt(
        sealed, named: path.description, environment, mayGoOn: { mayGoOn() }
      ) { (bytes) throws(SpoolError) in
        guard bytes.byteCount <= limit - count else {
          throw SpoolError(otherBytes: path, "it has more than \(limit) bytes")
        }
        hash.update(bytes)
        count += bytes.byteCount
        try consume(bytes)
      }
    } catch {
      if error.kind == .broken { throw SpoolError(otherBytes: path, error.why) }
      throw error
    }
    return (count, hash.finalize())
  }

  /// Fetches an encrypted file as it is, into a file without a name.
  /// - Parameter limit: of the bytes that it holds.
  private mutating func fetchSealed(
    _ path: RemotePath, limit: Int
  ) throws(SpoolError) -> OpenFile {
    let files = FileOperations.uncounted
    let file = try sealedFile()
    // Every 64 KiB have 16 bytes more, and there is a header.
    let sealedLimit = min(limit, .max / 2)
    try retrying { (transport, mayGoOn) throws(SpoolError) in
      try doing("write in", file.path) { () throws(SystemError) in
        try files.truncate(file, to: 0)
        try file.seek(to: 0)
      }
      guard try transport.find(path) != nil else { throw SpoolError(noFile: path.description) }
      try transport.read(
        path, limit: sealedLimit + sealedLimit / 1000 + (1 << 20), mayGoOn: mayGoOn
      ) { (bytes) throws(SpoolError) in
        try doing("write in", file.path) { () throws(SystemError) in
          try unsafe bytes.withUnsafeBytes { (bytes) throws(SystemError) in
            try unsafe files.write(bytes, to: file)
          }
        }
      }
    }
    try doing("read", file.path) { () throws(SystemError) in try file.seek(to: 0) }
    return file
  }

  private func sealedFile() throws(SpoolError) -> OpenFile {
    try doing("write in", scratch) { () throws(SystemError) in
      if let nameless = try? OpenFile(namelessIn: scratch) { return nameless }
      // A file system without such files.
      let path = "\(scratch)/spool-\(Encryption.opaqueName())\(Encryption.ending)"
      let file = try OpenFile(
        path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, named: scratch)
      try FileOperations.uncounted.unlink(path)
      return file
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
    do throws(SpoolError) {
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
    } catch {
      target.abandon()
      throw error
    }
    return try target.finish()
  }
}
