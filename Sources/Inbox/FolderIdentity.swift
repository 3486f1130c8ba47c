// glibc's structures count as those of whichever module was loaded first.
internal import CPosix
internal import Glibc

/// What tells a folder from all others of this machine.
struct FolderIdentity: Hashable {
  let device: UInt64
  let inode: UInt64

  init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
