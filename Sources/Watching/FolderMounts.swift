internal import PipelineModel
internal import Synchronization

/// The disks that the folders of an inbox lie on, remembered in the store: with nothing mounted where a
/// disk was, a folder of the same name is another one, also after a restart.
final class FolderMounts: Sendable {
  private let memory: any MountMemory
  private let points: Mutex<[String: String]>

  /// Looks where folders lay when they were last used, and where they lie now. Blocks where a disk does
  /// not answer.
  /// - Parameters:
  ///   - folders: absolute paths without links in them.
  ///   - isAccepting: whether they count as where they belong as they lie now.
  init(
    of folders: [String], memory: any MountMemory, isAccepting: Bool
  ) throws(StoreError) {
    self.memory = memory
    var points: [String: String] = [:]
    for folder in folders {
      if isAccepting {
        points[folder] = MountPoint.above(folder)
        try memory.remember(mountPoint: points[folder], ofFolder: folder)
      } else {
        points[folder] = try memory.mountPoint(ofFolder: folder)
      }
    }
    self.points = Mutex(points)
    // Remembered before anything is put into them.
    for folder in folders { _ = absence(of: folder) }
  }

  /// Why a folder is not the one that it was, in words; nil where it is. One that a disk is mounted on
  /// by now is remembered so. Blocks where a disk does not answer.
  func absence(of folder: String) -> String? {
    let known = points.withLock { $0[folder] }
    if let known, !MountPoint.isMounted(known) {
      return "nothing is mounted on \(known), where its disk was"
    }
    let present = MountPoint.above(folder)
    if let present, present != known {
      points.withLock { $0[folder] = present }
      // What could not be written down is written down by the next watch.
      try? memory.remember(mountPoint: present, ofFolder: folder)
    }
    return nil
  }
}
