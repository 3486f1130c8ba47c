import Glibc

/// The entries of an inbox that are never opened, moved or reported: partial files of transfer
/// programs, and folders for other purposes.
struct UntouchedNames: Hashable, Sendable {
  /// The first rule that applies gives the reason.
  let rules: [NameRule]

  /// The rules of every inbox, and the user's.
  init(besides own: [NameRule] = []) { rules = own + Self.everywhere }

  /// Why an entry is ignored; nil if it is not. O(rules · length of the name).
  func reason(for name: FileName, in folder: InboxPath, isFolder: Bool) -> String? {
    rules.first { $0.applies(to: name, in: folder, isFolder: isFolder) }?.reason
  }

  /// Why a file is ignored although it may be a recording that was never renamed: a leftover
  /// temporary name, or a hidden recording or command; nil for others.
  func suspicion(of name: FileName, in folder: InboxPath) -> String? {
    let rule = rules.first { $0.applies(to: name, in: folder, isFolder: false) }
    guard let rule else { return nil }
    switch rule.suspicion {
    case .none: return nil
    case .ifOfSound:
      return SoundSign.isCarried(by: name) || name.hasSuffix(CommandReading.ending)
        ? rule.reason : nil
    case .always: return rule.reason
    }
  }

  /// Why an entry is ignored, for its own name or that of a folder around it.
  func reason(for path: InboxPath, isFolder: Bool) -> String? {
    var folder = InboxPath.inbox
    for name in path.names {
      let next = folder.appending(name)
      if let reason = reason(for: name, in: folder, isFolder: isFolder || next != path) {
        return reason
      }
      folder = next
    }
    return nil
  }

  /// Control files of other programs: while one lies beside a recording with its final name, the
  /// recording is incomplete and ignored.
  func controlFiles(of name: FileName) -> [FileName] {
    Self.controlEndings.compactMap { name.appending($0) }
  }

  /// aria2 and axel write under the final name, and keep their progress in such a file.
  static let controlEndings = [".aria2", ".st"]

  static let everywhere: [NameRule] = [
    NameRule(".spool-*", because: "it is Spool's own"),
    NameRule(".syncthing.*.tmp", hiding: .always, because: "Syncthing is still receiving it"),
    NameRule("~syncthing~*", hiding: .always, because: "Syncthing is still receiving it"),
    NameRule(".stfolder", because: "Syncthing marks its folders so"),
    NameRule(".stversions", .folder, because: "Syncthing keeps old versions there"),
    NameRule(".~tmp~", .folder, because: "rsync delays its updates there"),
    NameRule(
      ".*.[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f].partial",
      hiding: .always, because: "rclone is still copying it"),
    NameRule("*.partial", hiding: .always, because: "rclone or a browser is still copying it"),
    NameRule("*.crdownload", hiding: .always, because: "Chromium is still downloading it"),
    NameRule("*.opdownload", hiding: .always, because: "Opera is still downloading it"),
    NameRule("*.fdmdownload", hiding: .always, because: "a download manager is still writing it"),
    NameRule("*.uploading", hiding: .always, because: "it is still being uploaded"),
    NameRule("*.!ut", hiding: .always, because: "uTorrent is still receiving it"),
    NameRule("*.!qb", hiding: .always, because: "qBittorrent is still receiving it"),
    NameRule("*.bc!", hiding: .always, because: "BitComet is still receiving it"),
    NameRule("*.sb-????????-??????", hiding: .always, because: "macOS is still saving it"),
    NameRule(".sb-*", because: "macOS is still saving it"),
    NameRule(".goutputstream-*", because: "a GNOME program is still writing it"),
    NameRule(".fuse_hidden*", because: "it was deleted while a program has it open"),
    NameRule(".nfs[0-9a-f]*", because: "it was deleted while a program has it open"),
    NameRule(".smbdelete*", because: "it was deleted while a program has it open"),
    NameRule(".~lock.*#", because: "LibreOffice locks a document with it"),
    NameRule("*.part", hiding: .always, because: "a download program is still writing it"),
    NameRule("*.filepart", hiding: .always, because: "WinSCP is still copying it"),
    NameRule("*.download", hiding: .always, because: "Safari is still downloading it"),
    NameRule("*.aria2", because: "aria2 keeps its progress in it"),
    NameRule("*.!sync", hiding: .always, because: "Resilio Sync is still receiving it"),
    NameRule("*.tmp", hiding: .always, because: "it is a temporary file"),
    NameRule("*.temp", hiding: .always, because: "it is a temporary file"),
    NameRule("*~", because: "it is an editor's backup"),
    NameRule("*.lock", because: "it is a lock"),
    NameRule("*.lck", because: "it is a lock"),
    NameRule("~$*", because: "it is an office program's lock"),
    NameRule("._*", because: "macOS keeps the attributes of another file in it"),
    NameRule(".*", hiding: .ifOfSound, because: "it is hidden"),
    NameRule("lost+found", .topFolder, because: "the file system keeps damaged files there"),
    NameRule("accepted", .topFolder, because: "accepted recordings are kept there"),
    NameRule("quarantine", .topFolder, because: "refused recordings are kept there"),
  ]
}

/// Names that the inbox ignores, and why.
struct NameRule: Hashable, Sendable {
  enum Subject: Hashable, Sendable {
    /// Files and folders anywhere.
    case anything
    /// Folders anywhere, with their content.
    case folder
    /// Folders directly in the inbox, with their content.
    case topFolder
  }

  /// Whether a file of such a name may be a recording that was never renamed.
  enum Suspicion: Hashable, Sendable {
    case none
    /// Possible if the rest of the name is that of a recording or a command.
    case ifOfSound
    case always
  }

  /// A pattern of fnmatch(3), case-insensitive.
  let pattern: String
  let subject: Subject
  /// Why such an entry is never touched.
  let reason: String
  /// Whether a file of such a name may be a recording.
  let suspicion: Suspicion

  init(
    _ pattern: String, _ subject: Subject = .anything, hiding suspicion: Suspicion = .none,
    because reason: String
  ) {
    self.suspicion = suspicion
    self.pattern = pattern
    self.subject = subject
    self.reason = reason
  }

  func applies(to name: FileName, in folder: InboxPath, isFolder: Bool) -> Bool {
    switch subject {
    case .anything: break
    case .folder: guard isFolder else { return false }
    case .topFolder: guard isFolder, folder == .inbox else { return false }
    }
    let lowered = name.bytes.map(\.asciiLowercase) + [0]
    return unsafe lowered.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      return unsafe fnmatch(pattern, base.assumingMemoryBound(to: CChar.self), 0) == 0
    }
  }
}

/// Files of an inbox that were ignored for their names for longer than any transfer takes:
/// leftovers of broken transfers, or hidden recordings. They are counted, some are named, and none
/// is ever touched.
struct IgnoredFiles: Hashable, Sendable {
  struct File: Hashable, Sendable {
    let path: InboxPath
    let reason: String
    /// Its last change, in nanoseconds since 1970.
    let since: Int64

    fileprivate func isBefore(_ other: File) -> Bool {
      since == other.since
        ? path.bytes.lexicographicallyPrecedes(other.path.bytes) : since < other.since
    }
  }

  /// The number of named files, the oldest.
  static let nameLimit = 20

  private(set) var count = 0
  /// The oldest of them, by age.
  private(set) var files: [File] = []

  /// The last change of the oldest, in nanoseconds since 1970; nil if there are none.
  var since: Int64? { files.first?.since }

  init() {}

  /// O(names).
  mutating func add(_ file: File) {
    count += 1
    insert(file)
  }

  /// Adds those of another folder. O(names²).
  mutating func add(_ other: IgnoredFiles) {
    count += other.count
    for file in other.files { insert(file) }
  }

  private mutating func insert(_ file: File) {
    let place = files.firstIndex { file.isBefore($0) } ?? files.count
    guard place < Self.nameLimit else { return }
    files.insert(file, at: place)
    if files.count > Self.nameLimit { files.removeLast() }
  }
}

/// A file's role in an inbox, by its name.
enum EntryRole: Hashable {
  /// To be processed, if it proves to be sound when it is opened.
  case recording
  case sidecar
  case transcript
  /// Says that the recording of the same name is complete.
  case marker
  case command

  /// Nil if the rules ignore such a file.
  init?(of name: FileName, rules: StabilityRules) {
    if let marker = rules.doneMarker, name.hasSuffix(marker) {
      self = .marker
    } else if name.hasSuffix(CommandReading.ending) {
      self = .command
    } else if name.hasSuffix(".json") {
      if rules.sidecar == .ignored { return nil }
      self = .sidecar
    } else if rules.takesTranscripts, TranscriptName.endings.contains(where: name.hasSuffix) {
      self = .transcript
    } else {
      self = .recording
    }
  }
}
