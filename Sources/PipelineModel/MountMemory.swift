/// Remembers, from one process and one boot to the next, on which mounted disks the folders that a
/// user named lay. Numbers of devices change between boots: what lasts is the folder that a disk was
/// mounted on.
public protocol MountMemory: Sendable {
  /// The folder, at or above this one, that a disk was mounted on when it was last used; nil where
  /// none was, or nothing is remembered. Both are absolute paths without links in them. O(log n).
  func mountPoint(ofFolder path: String) throws(StoreError) -> String?

  /// Remembers that folder; nil where the folder lies on the machine's own disk. O(log n).
  func remember(mountPoint: String?, ofFolder path: String) throws(StoreError)
}
