import Foundation

/// A second view of a folder that may only be read, even by root; unmounted with its last reference.
/// Only root may make one.
package final class ReadOnlyFolder {
  /// Where the view is.
  package let path: String
  private let folder: ScratchFolder

  /// Mounts a view of `original`.
  package init(_ original: String) throws {
    folder = try ScratchFolder()
    path = folder.path
    try Reference.output("mount", ["--bind", original, path])
    try Reference.output("mount", ["-o", "remount,bind,ro", path])
  }

  deinit { _ = try? Reference.output("umount", [path]) }
}
