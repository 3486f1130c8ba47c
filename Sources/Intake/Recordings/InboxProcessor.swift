import PipelineModel
import Platform
import Store
import Synchronization

/// Keeps the recordings of one inbox, from a stable file to its acknowledgement and release.
///
/// The store is authoritative: files are moved and acknowledgements written from its records, by
/// ``settle()``, which may be repeated. So nothing is lost or done twice if a process dies between
/// two steps. All methods may be called from any thread, and other processes may use the same
/// inbox.
final class InboxProcessor: Sendable {
  /// An absolute path.
  let inbox: String
  /// The folder for acknowledgements.
  var outbox: String { post.path }
  let post: Outbox
  let pipeline: String
  let rules: InboxRules

  let store: DiskStore
  /// How the store is named in commands that a user types.
  let option: StoreOption
  let hook: FolderCallHook?
  /// Whether the inbox is its former folder, or an outbox may be written to, and created if
  /// missing.
  let isInPlace: @Sendable (String) -> Bool
  let tracker = Mutex(State())
  /// Ends the reading of a file that is taken in.
  let stop = StopRequest()
  /// Whether the inbox is to be held throughout, and the claim to the folder that was there last,
  /// nil if another process has it. Without, each step takes the folder's lock for its duration.
  let tenure = Mutex((isWanted: false, claim: InboxClaim?.none))

  /// Neither folder need exist yet.
  /// - Parameters:
  ///   - inbox: where recordings arrive.
  ///   - outbox: where acknowledgements go; not in the inbox, where they would be taken for
  ///     sidecars.
  ///   - pipeline: the same recording is processed once per pipeline, whatever inbox it comes by.
  ///   - option: names the store in commands that a user types.
  ///   - isInPlace: whether the inbox, or an outbox, is its former folder: a folder whose disk is
  ///     not mounted must not be used instead, or created elsewhere.
  init(
    inbox: String, outbox: Outbox, pipeline: String, rules: InboxRules = InboxRules(),
    store: DiskStore, option: StoreOption = .usual, hook: FolderCallHook? = nil,
    isInPlace: @escaping @Sendable (String) -> Bool = { _ in true }
  ) {
    self.inbox = inbox
    post = outbox
    self.pipeline = pipeline
    self.rules = rules
    self.store = store
    self.option = option
    self.hook = hook
    self.isInPlace = isInPlace
  }

  /// Whether this version of a file was taken in before and is still in place: the watcher then
  /// neither opens nor reports it.
  func isKnown(_ path: InboxPath, _ stamp: FileStamp) -> Bool {
    let known: Bool? = try? store.recordings.isKnown(
      path: path.escaped, stamp: RecordingFileStamp(stamp), inbox: inbox)
    return known ?? false
  }

  func change(_ key: RecordingKey, _ change: RecordingChange) throws(SpoolError)
    -> RecordingOutcome?
  {
    try store.recordings.change(key, change)
  }

  func recording(_ key: RecordingKey) throws(SpoolError) -> Recording? {
    try store.recordings.recording(key)
  }

  /// Finds the commands that are complete, before anything is processed. O(n) for n files.
  ///
  /// A command is complete if it parses: no prefix of a JSON object is an object. The watcher
  /// handles all others, and those in unreadable folders.
  /// - Returns: where each lies, and when it was issued, in seconds since 1970; in no order.
  func wholeCommands(
    besides names: UntouchedNames = UntouchedNames()
  ) -> [(path: InboxPath, stamp: FileStamp, issuedAt: Double)] {
    guard isInPlace(inbox), let inbox = try? InboxFolder(at: inbox) else { return [] }
    var found: [(path: InboxPath, stamp: FileStamp, issuedAt: Double)] = []
    inbox.visitFolders { folder, name, stamp in
      (stamp.map { $0.isRegularFile && name.hasSuffix(CommandReading.ending) } ?? true)
        && names.reason(for: name, in: folder, isFolder: stamp == nil) == nil
    } visit: { folder, files in
      for (name, stamp) in files {
        let path = folder.appending(name)
        // A command that was applied and may stay in place did not come again.
        if isKnown(path, stamp) { continue }
        if let time = timeOfWholeCommand(at: path, stamp: stamp) {
          found.append((path, stamp, time))
        }
      }
    }
    return found
  }

  /// Takes the inbox exclusively for the processor's lifetime. From then on nothing is done in the
  /// inbox without the claim, also not in a folder that replaces it.
  /// - Throws: if another process watches the folder, by any name and with any store.
  func claimInbox() throws(SpoolError) {
    tenure.withLock { $0.isWanted = true }
    let folder = try inboxFolder()
    _ = try lockInbox(folder)
  }

  /// The open inbox, claimed if it is to be exclusive.
  func ownFolder() throws(SpoolError) -> ProcessedFolder {
    let folder = try inboxFolder()
    if tenure.withLock(\.isWanted) { _ = try lockInbox(folder) }
    return folder
  }

  /// The open inbox, claimed or not.
  /// - Throws: of kind `missing` if the folder at its path is another one.
  func inboxFolder() throws(SpoolError) -> ProcessedFolder {
    guard isInPlace(inbox) else {
      throw SpoolError(
        "open the inbox", inbox, reason: "it is not where it was", advice: "mount it again",
        kind: .missing)
    }
    return try ProcessedFolder(at: inbox, hook: hook)
  }

  /// Excludes other processes from the inbox's folder: by the claim to it, or by a lock for the
  /// lifetime of the returned descriptor.
  func lockInbox(_ folder: borrowing ProcessedFolder) throws(SpoolError) -> OpenFile {
    let opened = try folder.opened()
    let isClaimed = try tenure.withLock { (tenure) throws(SpoolError) in
      guard tenure.isWanted else { return false }
      if tenure.claim?.isFor(opened) == true { return true }
      tenure.claim = nil
      tenure.claim = try InboxClaim(try folder.opened(), path: inbox)
      return true
    }
    return isClaimed ? opened : try folder.lock()
  }
}

/// The exclusive right to an inbox, across paths and stores: a lock on the folder itself, which the
/// kernel releases when the process dies. It writes nothing into the inbox, where programs would
/// carry it to other machines.
final class InboxClaim: Sendable {
  private let folder: OpenFile
  private let stamp: FileStamp

  /// Claims an open folder.
  /// - Throws: a `SpoolError` if another process has it, or watches a folder around it or in it,
  ///   with the process's number if known. On a file system without locks, such as some network
  ///   mounts, every claim succeeds.
  init(_ opened: consuming OpenFile, path: String) throws(SpoolError) {
    let folder = opened
    let stamp = try doing("look at the inbox", path) { () throws(SystemError) in
      try folder.stamp
    }
    guard folder.tryLock() else {
      let owner = FolderLocks.owner(of: stamp, in: FolderLocks.text)
      throw SpoolError(
        "watch the inbox", path,
        reason: owner.map { "process \($0) watches it" } ?? "another process watches it",
        advice: owner.map { "kill \($0) ends that watch" } ?? "end that watch first")
    }
    // Locked first, then checked: of two that begin at once, at least one sees the other.
    if let other = Self.firstWatch(near: folder, path: path) {
      throw SpoolError(
        "watch the inbox", path, reason: "process \(other.process) watches \(other.place)",
        advice: "kill \(other.process) ends that watch, or watch a folder beside it")
    }
    self.stamp = stamp
    self.folder = folder
  }

  /// Whether this is the claim to that folder, which may have replaced another.
  func isFor(_ other: borrowing OpenFile) -> Bool {
    (try? other.stamp).map(stamp.isSameFile) ?? false
  }
}

/// Other watches of a folder around an inbox or of one in it. Each would take in the same
/// recordings.
extension InboxClaim {
  /// The process, and the watched folder with how it lies to the inbox.
  typealias Watch = (process: Int, place: String)

  /// The first that is found, the folders above before those below; nil if there is none or the
  /// system does not tell. O(files beneath the inbox).
  private static func firstWatch(near inbox: borrowing OpenFile, path: String) -> Watch? {
    let locks = FolderLocks.text
    return above(inbox, path, locks) ?? below(path, locks)
  }

  private static func above(
    _ inbox: borrowing OpenFile, _ path: String, _ locks: String
  ) -> Watch? {
    guard var last = try? inbox.stamp else { return nil }
    var way = ".."
    var names = path.pathNames
    while let folder = try? inbox.openFolder(way), let stamp = try? folder.stamp {
      // The root is its own parent.
      if stamp.isSameFile(as: last) { return nil }
      _ = names.popLast()
      if let process = owner(of: folder, stamp, locks) {
        return (process, "/\(names.joined(separator: "/")), which this one lies in")
      }
      (last, way) = (stamp, way + "/..")
    }
    return nil
  }

  private static func below(_ path: String, _ locks: String) -> Watch? {
    guard let inbox = try? InboxFolder(at: path) else { return nil }
    var waiting = [InboxPath.inbox]
    while let next = waiting.popLast() {
      // The watch itself cannot read what is unreadable here.
      guard let folder = try? inbox.openFolder(next), let stamp = try? folder.stamp else {
        continue
      }
      if next != .inbox, let process = owner(of: folder, stamp, locks) {
        return (process, "\(PathText.join(path, next.description)), which lies in it")
      }
      guard let list = try? FolderListing(folder, isWanted: { _, stamp in stamp == nil }) else {
        continue
      }
      waiting += list.folders.map(next.appending)
    }
    return nil
  }

  /// The process that has locked a folder. The kernel's list may mean another folder of the same
  /// number, so the lock is tried.
  private static func owner(
    of folder: borrowing OpenFile, _ stamp: FileStamp, _ locks: String
  ) -> Int? {
    guard let process = FolderLocks.owner(of: stamp, in: locks) else { return nil }
    return folder.isLockedByAnother ? process : nil
  }
}

/// The kernel's list of locks (proc(5), `/proc/locks`).
enum FolderLocks {
  /// The list; empty if the system has none.
  static var text: String { SmallFile.text(at: "/proc/locks") ?? "" }

  /// The process that has locked a folder as a whole; nil if the list does not tell.
  static func owner(of folder: FileStamp, in text: String) -> Int? {
    owner(
      ofInode: UInt64(bitPattern: folder.inode), device: UInt64(bitPattern: folder.device), in: text
    )
  }

  /// Reads lines such as `1: FLOCK  ADVISORY  WRITE 4711 08:01:131074 0 EOF`. A file system with
  /// several devices may report another device: then the inode number must match alone.
  static func owner(ofInode inode: UInt64, device: UInt64, in text: String) -> Int? {
    var byNumber: Int?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE",
        let process = Int(words[4]), process > 0
      else { continue }
      let place = words[5].split(separator: ":")
      guard place.count == 3, UInt64(place[2]) == inode else { continue }
      if UInt64(place[0], radix: 16) == major(device),
        UInt64(place[1], radix: 16) == minor(device)
      {
        return process
      }
      byNumber = byNumber ?? process
    }
    return byNumber
  }

  /// As `makedev(3)` packs them on Linux.
  private static func major(_ device: UInt64) -> UInt64 {
    (device >> 8) & 0xfff | (device >> 32) & ~0xfff
  }

  private static func minor(_ device: UInt64) -> UInt64 {
    device & 0xff | (device >> 12) & ~0xff
  }
}
