package import Platform

/// A connection to a destination. One value serves one thread, and all calls block.
///
/// What ``SpoolError/remedy`` of an error says decides when the work is tried again.
package protocol Transport: ~Copyable {
  /// What lies under a name; nil for nothing.
  mutating func find(_ path: RemotePath) throws(SpoolError) -> RemoteFile?

  /// Sends a file, reads all of it back, compares it, and only then gives it its name.
  ///
  /// Nothing is replaced: what has the name already is an error of the kind `occupied`. An error of
  /// the kind `broken` leaves a part of no use behind, which ``discard(_:of:)`` removes. Missing folders
  /// of the path are made, and the destination's own folder never is.
  /// - Parameters:
  ///   - state: what an earlier upload of the same file to the same path noted last.
  ///   - note: takes the state of the upload, to be kept durably before it returns.
  ///   - mayGoOn: called at least once a second; false ends the upload, which can be continued.
  mutating func send(
    _ file: borrowing OutgoingFile, to path: RemotePath, from state: UploadState?,
    note: (UploadState) throws(SpoolError) -> Void, mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) -> RemoteFile

  /// Reads a file from its beginning to its end, from the disk and not from memory.
  /// - Parameters:
  ///   - limit: more bytes are an error of the kind `broken`.
  ///   - mayGoOn: called at least once a second; false ends the reading.
  mutating func read(
    _ path: RemotePath, limit: Int, mayGoOn: () -> Bool,
    to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError)

  /// Lists all files beneath the destination's folder, in no order, but for unfinished ones and for those
  /// that test the destination. Holds one folder or page in memory, and the names of folders that are
  /// still to be listed.
  /// - Parameters:
  ///   - mayGoOn: called at least once a second; false ends it.
  ///   - consume: takes each file.
  mutating func list(
    mayGoOn: () -> Bool, to consume: (ListedFile) throws(SpoolError) -> Void
  ) throws(SpoolError)

  /// Removes what an upload has left that will not be continued; nothing if there is nothing.
  mutating func discard(_ state: UploadState, of path: RemotePath) throws(SpoolError)

  /// Removes a file that tested the destination.
  /// - Precondition: `path.isProbe`.
  mutating func removeProbe(_ path: RemotePath) throws(SpoolError)

  /// The bytes that can still be stored; nil if the destination does not say it.
  mutating func freeByteCount() throws(SpoolError) -> Int?

  /// An address at which a file can be had without credentials; nil if the destination gives none.
  mutating func link(to path: RemotePath, forSeconds seconds: Int) throws(SpoolError) -> String?

  /// The seconds that the server asked to wait for in its last refusal; nil if it did not.
  var requestedPause: Double? { get }
}

extension Transport where Self: ~Copyable {
  package mutating func link(
    to path: RemotePath, forSeconds seconds: Int
  ) throws(SpoolError) -> String? { nil }

  package var requestedPause: Double? { nil }

  /// Reads all of a file back, after it was sent.
  /// - Parameter progress: the bytes that were sent; those that were read are added.
  /// - Returns: the digest of what was read.
  mutating func digest(
    readingBack path: RemotePath, limit: Int, _ progress: inout UploadProgress,
    _ mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) -> Digest {
    var hash = SHA256()
    var now = progress
    defer { progress = now }
    try read(path, limit: limit) {
      mayGoOn(now)
    } to: { (bytes) throws(SpoolError) in
      hash.update(bytes)
      now.readByteCount += bytes.byteCount
    }
    return hash.finalize()
  }

  /// Reads the part of a file back, before it gets its name.
  /// - Parameters:
  ///   - progress: of the upload; what is read is added.
  ///   - place: how the part is named in an error.
  ///   - keeper: who gives it back: `the server`.
  /// - Throws: an error of the kind `broken` for other bytes: the part is of no use then.
  mutating func confirm(
    part: RemotePath, of file: borrowing OutgoingFile, _ progress: inout UploadProgress,
    place: String, keeper: String, _ mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) {
    var reason = "\(keeper) gave other bytes back than it was sent"
    do throws(SpoolError) {
      let read = try digest(readingBack: part, limit: file.byteCount, &progress, mayGoOn)
      if read == file.digest { return }
    } catch {
      guard [.missing, .broken].contains(error.kind) else { throw error }
      reason = error.why
    }
    throw SpoolError(
      "confirm", place, reason: reason, advice: "check the disk there, and the server's log",
      cause: .transient, kind: .broken)
  }

  /// Reads all of a file back and compares it.
  /// - Returns: what lies there; nil for nothing.
  /// - Throws: an error of the kind `broken` for other bytes.
  package mutating func confirm(
    _ path: RemotePath, byteCount: Int, digest: Digest, mayGoOn: () -> Bool = { true }
  ) throws(SpoolError) -> RemoteFile? {
    guard let found = try find(path) else { return nil }
    if found.byteCount != byteCount {
      throw SpoolError(otherBytes: path, "it has \(found.byteCount) bytes and not \(byteCount)")
    }
    var hash = SHA256()
    var count = 0
    try read(path, limit: byteCount, mayGoOn: mayGoOn) { (bytes) throws(SpoolError) in
      hash.update(bytes)
      count += bytes.byteCount
    }
    guard count == byteCount, hash.finalize() == digest else {
      throw SpoolError(otherBytes: path, "the bytes that were read back differ")
    }
    return found
  }
}

/// What lies at a destination.
package struct RemoteFile: Hashable, Sendable, Codable {
  package let byteCount: Int
  /// The destination's own name for this version of it: an entity tag, a version, an inode.
  package var identifier: String?
  /// Seconds since 1970 by the destination's clock.
  package var modified: Double?

  package init(byteCount: Int, identifier: String? = nil, modified: Double? = nil) {
    self.byteCount = byteCount
    self.identifier = identifier
    self.modified = modified
  }
}

/// What a destination lists.
package enum ListedFile: Hashable, Sendable {
  /// A file, and its size in bytes if the destination says it.
  case file(RemotePath, byteCount: Int?)
  /// What cannot be fetched: its name, printable, and why.
  case unusable(String, reason: String)

  /// - Parameter text: the path beneath the destination, as it names it.
  /// - Returns: nil for what is of no interest: an unfinished file, or one that tests the destination.
  static func of(_ text: String, byteCount: Int?) -> ListedFile? {
    do throws(SpoolError) {
      let path = try RemotePath(text)
      return path.isProbe ? nil : .file(path, byteCount: byteCount)
    } catch {
      if RemotePath.isUnfinished(text) { return nil }
      return .unusable(PlainText.line(text), reason: error.reason ?? error.message)
    }
  }
}

/// The folders of a destination that are still to be listed. A pure value: servers may name what they
/// like.
struct FolderWalk {
  private var pending: [[String]] = [[]]
  private var count = 0

  /// More names than any destination has: the server makes them up.
  private static let limit = 10_000_000

  /// The next folder to list, by its names beneath the destination.
  mutating func next() -> [String]? { pending.popLast() }

  /// Takes a name in a folder.
  /// - Returns: what is to be said of it; nil for a folder, which is listed later, and for what is of
  ///   no interest.
  mutating func take(
    _ name: String, in folder: [String], isFolder: Bool, byteCount: Int?
  ) throws(SpoolError) -> ListedFile? {
    count += 1
    if count > Self.limit {
      throw SpoolError(
        "cannot list the files of the destination", reason: "it names more than \(Self.limit)",
        cause: .blocked, kind: .tooLarge)
    }
    let text = (folder + [name]).joined(separator: "/")
    // A name with a slash would lead elsewhere.
    if name.contains("/") {
      return .unusable(PlainText.line(text), reason: "a name has a slash")
    }
    let file = ListedFile.of(text, byteCount: byteCount)
    guard isFolder else { return file }
    guard case .file(let path, _)? = file else { return file }
    pending.append(path.names)
    return nil
  }
}

/// How far an upload is.
package struct UploadProgress: Hashable, Sendable {
  /// The bytes that were sent, with those of earlier attempts that the destination still holds.
  package var sentByteCount = 0
  /// The bytes that were read back.
  package var readByteCount = 0

  package init() {}
}

/// What is needed to continue an upload, as it is kept between attempts.
package struct UploadState: Hashable, Sendable, Codable {
  /// Eight random hexadecimal digits, which make the names of unfinished files Spool's own.
  package let token: String
  /// The server's name for an upload in parts; nil if there is none.
  package var upload: String?
  /// The size of its parts.
  package var partByteCount: Int?
  /// The bytes that the destination has confirmed.
  package var byteCount = 0
  /// What is sent instead of the file; nil if that is the file itself.
  package var encrypted: Encryption.Copy?

  /// Before the first byte is sent.
  package init() {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    token = String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// Whether a text can be a token.
  static func isToken(_ text: Substring) -> Bool {
    text.utf8.count == 8 && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
  }

  /// At most so many bytes are sent twice.
  package static let step = 8 << 20
}

/// When work that failed is tried again.
package enum Remedy: Hashable, Sendable {
  /// Later, by itself.
  case retry
  /// Nothing of the destination is tried until it can be used again: it is not there, cannot be
  /// connected to, or refuses the credentials.
  case hold
  /// After the user has changed something.
  case giveUp
}

extension SpoolError {
  /// When work at a destination that failed with this error is tried again.
  package var remedy: Remedy {
    switch cause {
    case .input, .fullDisk: .giveUp
    case .blocked: .hold
    case .environment where kind == .missing || kind == .denied: .hold
    case .transient where kind == .unanswered: .hold
    case .environment, .takenOver, .transient, .cancelled: .retry
    }
  }

  /// What failed and why, with what helps, which is kept with the file: another attempt would fail too.
  package var instruction: String {
    let advice = [.input, .fullDisk].contains(cause) && kind != .occupied ? advice : nil
    return account + (advice.map { "; \($0)" } ?? "")
  }

  /// For a file that has other bytes at the destination than it should.
  init(otherBytes path: RemotePath, _ reason: String) {
    self.init(
      "confirm", path.description, reason: reason,
      advice: "look at the file there; it is not replaced", cause: .input, kind: .broken)
  }

  /// For a file that was to be read, at a destination that is there.
  init(noFile place: String) {
    self.init(
      "read", place, reason: "there is no such file", advice: "check its name", cause: .input,
      kind: .missing)
  }

  /// For a name that something else has.
  init(occupied path: RemotePath) {
    self.init(
      "deliver", path.description, reason: "the destination has another file of this name",
      advice: "choose another name, or look at the file there; it is not replaced",
      cause: .input, kind: .occupied)
  }
}
