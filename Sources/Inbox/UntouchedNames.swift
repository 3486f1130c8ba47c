public import Sidecars

/// What in an inbox is never opened, moved or reported: half-written files of programs that bring
/// recordings, and folders that are not for them.
public struct UntouchedNames: Hashable, Sendable {
  /// The rules, of which the first that applies gives the reason.
  public let rules: [NameRule]

  /// The rules of every inbox, and a user's own.
  public init(besides own: [NameRule] = []) { rules = own + Self.everywhere }

  /// Why something is left alone; nil where it is not. O(rules · length of the name).
  public func reason(for name: FileName, in folder: InboxPath, isFolder: Bool) -> String? {
    rules.first { $0.applies(to: name, in: folder, isFolder: isFolder) }?.reason
  }

  /// Why a file is left alone although it may be a recording that never got its own name: a temporary
  /// name that nobody has taken away, or a hidden recording or command; nil for all others.
  public func suspicion(of name: FileName, in folder: InboxPath) -> String? {
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

  /// Why something is left alone, be it for its own name or for that of a folder around it.
  public func reason(for path: InboxPath, isFolder: Bool) -> String? {
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

  /// The files whose presence says that another program has not finished a recording that bears its
  /// final name already: while they lie beside it, it is left alone.
  public func controlFiles(of name: FileName) -> [FileName] {
    Self.controlEndings.compactMap { name.appending($0) }
  }

  /// aria2 and axel write under the final name, and keep their progress in such a file.
  static let controlEndings = [".aria2", ".st"]

  /// The rules of every inbox.
  public static let everywhere: [NameRule] = [
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
