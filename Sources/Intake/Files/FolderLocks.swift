// glibc's structures count as those of whichever module was loaded first.
import CPosix
import Glibc

/// The kernel's list of locks (proc(5), `/proc/locks`).
enum FolderLocks {
  /// The process that has locked a folder as a whole; nil if the list does not tell.
  static func owner(of folder: FolderIdentity) -> Int? { owner(of: folder, in: text()) }

  /// The list; empty if the system has none.
  static func text() -> String {
    guard let file = unsafe fopen("/proc/locks", "re") else { return "" }
    defer { unsafe fclose(file) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = unsafe fread(&piece, 1, piece.count, file)
      if count == 0 { break }
      text += piece[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads lines such as `1: FLOCK  ADVISORY  WRITE 4711 08:01:131074 0 EOF`. A file system with
  /// several devices may report another device: then the inode number must match alone.
  static func owner(of folder: FolderIdentity, in text: String) -> Int? {
    var byNumber: Int?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE",
        let process = Int(words[4]), process > 0
      else { continue }
      let place = words[5].split(separator: ":")
      guard place.count == 3, UInt64(place[2]) == folder.inode else { continue }
      if UInt64(place[0], radix: 16) == major(folder.device),
        UInt64(place[1], radix: 16) == minor(folder.device)
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

/// Identifies a folder on this machine.
struct FolderIdentity: Hashable {
  let device: UInt64
  let inode: UInt64
}

extension FolderIdentity {
  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
