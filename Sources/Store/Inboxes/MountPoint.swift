package import Platform
internal import Synchronization

/// Where disks are mounted: with its disk away, a folder of the same name is another one.
package enum MountPoint {
  /// Throws if the disk of an output folder is away, and records on which disk it is. Blocks while a disk
  /// does not answer.
  /// - Parameters:
  ///   - folder: absolute and free of links.
  ///   - isIgnored: whether the folder is taken as it lies now.
  package static func checkDisk(
    ofOutput folder: String, in store: DiskStore, isIgnored: Bool
  ) throws(SpoolError) {
    let known = try store.inboxes.mountPoint(ofFolder: folder)
    if !isIgnored, let absence = absence(of: known) {
      throw SpoolError(outputFolder: folder, reason: absence)
    }
    let present = above(folder)
    if present != known { try store.inboxes.remember(mountPoint: present, ofFolder: folder) }
    store.expect(mountPoint: present, above: folder)
  }

  /// Why a folder is not its former one, in words; nil if it is.
  /// - Parameter known: the mount point at its last use; nil for the root's disk.
  package static func absence(of known: String?) -> String? {
    guard let known, !isMounted(known) else { return nil }
    return "nothing is mounted on \(known), where its disk was"
  }

  /// The innermost mount point at or above a folder; nil on the root's disk. O(folders above), with
  /// a system call each: blocks while a disk does not answer.
  /// - Parameter path: absolute and free of links.
  package static func above(_ path: String) -> String? {
    var names = path.pathNames
    while !names.isEmpty {
      let folder = "/" + names.joined(separator: "/")
      if isMounted(folder) { return folder }
      names.removeLast()
    }
    return nil
  }

  /// Whether a folder and its parent are on different disks.
  private static func isMounted(_ folder: String) -> Bool {
    guard let own = try? FileStamp(following: folder),
      let parent = try? FileStamp(following: folder + "/..")
    else { return false }
    return own.device != parent.device
  }
}

extension DiskStore {
  /// Publishes nothing in a folder, or in one of those in it, while nothing is mounted here.
  /// - Parameters:
  ///   - mountPoint: nil for the root's disk, which is always there.
  ///   - folder: absolute and free of links.
  package func expect(mountPoint: String?, above folder: String) {
    outputDisks.withLock { $0[folder] = mountPoint }
  }

  /// Throws if the disk of the output folder around a file is away.
  func checkDisk(ofExport path: String) throws(SpoolError) {
    for (folder, mountPoint) in outputDisks.withLock(\.self)
    where path == folder || path.hasPrefix(folder == "/" ? folder : folder + "/") {
      if let absence = MountPoint.absence(of: mountPoint) {
        throw SpoolError(outputFolder: folder, reason: absence)
      }
    }
  }
}

extension SpoolError {
  fileprivate init(outputFolder folder: String, reason: String) {
    self.init(
      "the output folder \(folder) cannot be used", reason: reason,
      advice: "mount it again, or take the folder as it lies now with \(option: .ignoreMounts)",
      cause: .environment)
  }
}
