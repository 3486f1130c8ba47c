package import Platform

/// A folder on a server with SSH. The file grows under the name of its part, and gets its own when the
/// server has given every byte back. An upload that was interrupted continues behind the bytes of its
/// part, or anew if they are others.
package struct SFTPTransport: Transport, ~Copyable {
  private var connection: SFTPConnection
  /// The folders that are there, and when the destination's own was seen last.
  private var folders: Set<[String]> = []
  private var lastSeen: Int64?

  /// Nanoseconds after which the destination's folder is looked for again: a disk of the server may
  /// have been unmounted.
  private static let memory: Int64 = 10_000_000_000

  package init(
    _ place: Destination.SFTP, _ environment: [String: String], bytesPerSecond: Int? = nil
  ) throws(SpoolError) {
    var settings = SFTPConnection.Settings(place.address, knownHosts: place.knownHosts)
    settings.key = place.key
    settings.passphrase = try place.passphrase?.text(environment)
    settings.password = try place.password?.text(environment)
    settings.bytesPerSecond = bytesPerSecond
    connection = try SFTPConnection(settings)
  }

  package mutating func find(_ path: RemotePath) throws(SpoolError) -> RemoteFile? {
    try checkFolder()
    return try look(path)
  }

  package mutating func send(
    _ file: borrowing OutgoingFile, to path: RemotePath, from state: UploadState?,
    note: (UploadState) throws(SpoolError) -> Void, mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) -> RemoteFile {
    if try find(path) != nil { throw SpoolError(occupied: path) }
    var progress = UploadProgress()
    let isContinued = state != nil
    let state = state ?? UploadState()
    let part = path.part(state.token)
    if isContinued {
      progress.sentByteCount = try sentBytes(of: file, in: part) { mayGoOn(UploadProgress()) }
    } else {
      try note(state)
    }
    let held = progress.sentByteCount
    if held < file.byteCount || file.byteCount == 0 {
      let changes = missingFolders(of: path)
      do throws(SpoolError) {
        try write(file, to: part, after: changes, &progress, mayGoOn)
      } catch {
        guard held > 0, error.kind == .system, progress.sentByteCount == held else { throw error }
        // Some servers cannot append.
        progress.sentByteCount = 0
        try write(file, to: part, after: changes, &progress, mayGoOn)
      }
      folders.formUnion(changes)
    }
    progress.sentByteCount = file.byteCount
    try confirm(
      part: part, of: file, &progress, place: connection.description(of: part.names),
      keeper: "the server", mayGoOn)
    return try finish(part, as: path, byteCount: file.byteCount)
  }

  package mutating func read(
    _ path: RemotePath, limit: Int, mayGoOn: () -> Bool,
    to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    var count = 0
    let isThere = try withoutActuallyEscaping(consume) { (consume) throws(SpoolError) in
      try connection.read(path.names, mayGoOn: mayGoOn) { (bytes) throws(SpoolError) in
        count += bytes.byteCount
        if count > limit { throw SpoolError(otherBytes: path, "it has more than \(limit) bytes") }
        try consume(bytes)
      }
    }
    guard isThere else { throw SpoolError(noFile: connection.description(of: path.names)) }
  }

  package mutating func list(
    mayGoOn: () -> Bool, to consume: (ListedFile) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try checkFolder()
    var walk = FolderWalk()
    while let folder = walk.next() {
      guard mayGoOn() else { throw .cancelled }
      var inner = walk
      let isThere = try withoutActuallyEscaping(consume) { (consume) throws(SpoolError) in
        try connection.list(folder, mayGoOn: mayGoOn) { (entry, line) throws(SpoolError) in
          let text = PlainText.line((folder + [entry?.name ?? line]).joined(separator: "/"))
          guard let entry else {
            return try consume(.unusable(text, reason: "the server writes its name oddly"))
          }
          if entry.kind == .other {
            return try consume(.unusable(text, reason: "it is a link, or no file"))
          }
          let file = try inner.take(
            entry.name, in: folder, isFolder: entry.kind == .folder, byteCount: entry.byteCount)
          if let file { try consume(file) }
        }
      }
      walk = inner
      if !isThere, folder.isEmpty {
        throw SpoolError(noFile: connection.description(of: []))
      }
    }
  }

  package mutating func discard(_ state: UploadState, of path: RemotePath) throws(SpoolError) {
    try checkFolder()
    try remove(path.part(state.token))
  }

  package mutating func removeProbe(_ path: RemotePath) throws(SpoolError) {
    precondition(path.isProbe)
    try remove(path)
  }

  /// libcurl cannot ask.
  package mutating func freeByteCount() throws(SpoolError) -> Int? { nil }
}

extension SFTPTransport {
  /// The folder of a disk that is not mounted is missing, and must not be made on the disk below it.
  private mutating func checkFolder() throws(SpoolError) {
    if let lastSeen, Clock.sinceBoot() - lastSeen < Self.memory { return }
    guard try connection.look([]) != nil else {
      folders = []
      throw SpoolError(
        "deliver to the folder", connection.description(of: []),
        reason: "the server has no such folder",
        advice: "mount its disk at the server, or make the folder", kind: .missing)
    }
    lastSeen = Clock.sinceBoot()
  }

  private mutating func look(_ path: RemotePath) throws(SpoolError) -> RemoteFile? {
    try connection.look(path.names).map(Self.found)
  }

  private static func found(_ found: SFTPConnection.Found) -> RemoteFile {
    RemoteFile(byteCount: found.byteCount, modified: found.modified)
  }

  private func missingFolders(of path: RemotePath) -> [[String]] {
    path.names.indices.dropFirst().map { Array(path.names.prefix($0)) }
      .filter { !folders.contains($0) }
  }

  /// How many bytes a part has, if they are the beginning of the file; else 0.
  private mutating func sentBytes(
    of file: borrowing OutgoingFile, in part: RemotePath, mayGoOn: () -> Bool
  ) throws(SpoolError) -> Int {
    var hash = SHA256()
    var count = 0
    do throws(SpoolError) {
      try read(part, limit: file.byteCount, mayGoOn: mayGoOn) { (bytes) throws(SpoolError) in
        hash.update(bytes)
        count += bytes.byteCount
      }
    } catch {
      guard [.missing, .broken].contains(error.kind) else { throw error }
      return 0
    }
    return try file.digest(ofFirst: count) == hash.finalize() ? count : 0
  }

  private mutating func write(
    _ file: borrowing OutgoingFile, to part: RemotePath, after folders: [[String]],
    _ progress: inout UploadProgress, _ mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) {
    var now = progress
    defer { progress = now }
    try connection.write(
      part.names, from: file.file.descriptor, byteCount: file.byteCount,
      at: progress.sentByteCount, after: folders.map { .makeFolder($0) }
    ) { sent in
      now.sentByteCount = sent
      return mayGoOn(now)
    }
  }

  /// Gives a confirmed part its name.
  private mutating func finish(
    _ part: RemotePath, as path: RemotePath, byteCount: Int
  ) throws(SpoolError) -> RemoteFile {
    let found: SFTPConnection.Found?
    do throws(SpoolError) {
      found = try connection.look(
        path.names, after: [.rename(part.names, to: path.names)])
    } catch {
      // The server does not say why it did not rename.
      if try look(path) != nil { throw SpoolError(occupied: path) }
      throw error
    }
    guard let found, found.byteCount == byteCount else {
      throw SpoolError(
        "confirm", connection.description(of: path.names),
        reason: "the server said that it has the file, and has not",
        advice: "check the server's log", cause: .transient, kind: .broken)
    }
    return Self.found(found)
  }

  private mutating func remove(_ path: RemotePath) throws(SpoolError) {
    // A failed command does not say whether there is no such file.
    if try look(path) != nil { _ = try connection.look([], after: [.remove(path.names)]) }
  }
}
