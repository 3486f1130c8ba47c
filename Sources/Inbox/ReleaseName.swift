internal import Sidecars

/// The names under which a file leaves its inbox.
enum ReleaseName {
  /// The folder of what was accepted.
  static let accepted = InboxPath.inbox.appending(name("accepted"))
  /// The folder of what could not be accepted.
  static let quarantine = InboxPath.inbox.appending(name("quarantine"))

  /// The path that a file gets in one of these folders: the one that it arrived at, or, from the
  /// second try on, with a number: `note (2).m4a`.
  /// - Parameter room: how many bytes of the name are to stay free.
  static func path(
    of arrived: InboxPath, in folder: InboxPath, number: Int, room: Int = 0
  ) -> InboxPath {
    var path = folder
    let names = arrived.names
    for name in names.dropLast() { path = path.appending(name) }
    guard let last = names.last else { return path }
    return path.appending(numbered(last, number, room: room))
  }

  /// Where a file that is about to be deleted is put aside, beside where it was.
  static func aside(_ path: InboxPath, file: Int64, number: Int) -> InboxPath {
    path.folder.appending(name(".spool-\(file)-\(number).released"))
  }

  /// Where a command that was dealt with is put to be deleted; the next start sweeps what a process
  /// that died has left there.
  static func command(_ number: Int) -> InboxPath {
    InboxPath.inbox.appending(name(".spool-command-\(number).tmp"))
  }

  /// The name of the file that says why another one was quarantined.
  static func reason(for path: InboxPath) -> InboxPath {
    guard let last = path.name else { return path }
    return path.folder.appending(
      FileName(bytes: cut(last.bytes, to: 255 - reasonRoom) + reasonSuffix.utf8) ?? last)
  }

  /// How many bytes a quarantined file's name leaves for its reason's.
  static let reasonRoom = 12
  private static let reasonSuffix = ".reason.json"

  private static func numbered(_ name: FileName, _ number: Int, room: Int) -> FileName {
    let mark = number < 2 ? [] : Array(" (\(number))".utf8)
    var stem = name.stem
    var ending = Array(name.bytes[stem.count...])
    if ending.count + mark.count + room >= 200 { (stem, ending) = (name.bytes, []) }
    return FileName(bytes: cut(stem, to: 255 - room - mark.count - ending.count) + mark + ending)
      ?? name
  }

  /// The first bytes, without half a character at the end.
  private static func cut(_ bytes: [UInt8], to count: Int) -> [UInt8] {
    guard bytes.count > count else { return bytes }
    var end = count
    while end > 1, bytes[end] & 0xc0 == 0x80 { end -= 1 }
    // Bytes that are no text at all are cut where they must be.
    return Array(bytes[..<(end > 1 ? end : count)])
  }

  private static func name(_ text: String) -> FileName {
    guard let name = FileName(text) else { preconditionFailure("\(text) is a name") }
    return name
  }
}
