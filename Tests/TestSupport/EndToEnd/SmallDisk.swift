import Foundation

/// A disk of a few megabytes in memory, unmounted with its last reference. Only root may make one.
package final class SmallDisk {
  /// Where it is mounted.
  package let path: String
  private let folder: ScratchFolder

  /// Whether this machine lets tests mount.
  package static let isPossible = (try? SmallDisk(byteCount: 1 << 20)) != nil

  /// Mounts one.
  package init(byteCount: Int, isReadOnly: Bool = false) throws {
    folder = try ScratchFolder()
    path = folder.path
    let options = "size=\(byteCount)" + (isReadOnly ? ",ro" : "")
    try Reference.output("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path])
  }

  deinit { _ = try? Reference.output("umount", [path]) }

  /// Makes it larger or smaller, also while it is written to; throws where more is on it.
  package func resize(toByteCount byteCount: Int) throws {
    try Reference.output("mount", ["-o", "remount,size=\(byteCount)", path])
  }

  /// Leaves room for so many bytes more than are on it, or for a little more where somebody writes or
  /// deletes meanwhile.
  package func squeeze(toRoomFor byteCount: Int) throws {
    var room = byteCount
    while true {
      let facts = try FileManager.default.attributesOfFileSystem(forPath: path)
      let size = (facts[.systemSize] as? Int) ?? 0
      let used = size - ((facts[.systemFreeSize] as? Int) ?? 0)
      do {
        return try resize(toByteCount: max(4096, used + room))
      } catch {
        // Somebody who writes may be beyond that by now: more room, until it is found.
        guard used + room < size else { throw error }
        room += 65536
      }
    }
  }
}

/// What every command says where the disk of a folder at or below a path is full, whichever file met it.
package func fullDiskWords(of path: String) -> Regex<Substring> {
  let name = NSRegularExpression.escapedPattern(for: path)
  guard let words = try? Regex("the disk of \(name)\\S* is full", as: Substring.self) else {
    preconditionFailure("an escaped path is a pattern")
  }
  return words
}
