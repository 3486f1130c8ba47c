import Foundation

/// A disk of a few megabytes in memory, unmounted with its last reference. Only root may make one.
public final class SmallDisk {
  /// Where it is mounted.
  public let path: String
  private let folder: ScratchFolder

  /// Whether this machine lets tests mount.
  public static let isPossible = (try? SmallDisk(byteCount: 1 << 20)) != nil

  /// Mounts one.
  public init(byteCount: Int, isReadOnly: Bool = false) throws {
    folder = try ScratchFolder()
    path = folder.path
    let options = "size=\(byteCount)" + (isReadOnly ? ",ro" : "")
    try Reference.output("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path])
  }

  deinit { _ = try? Reference.output("umount", [path]) }
}
