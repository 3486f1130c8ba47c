/// File systems whose files change without this kernel hearing of it, so that no event tells.
enum RemoteFileSystem {
  /// Whether a number of statfs(2) is of such a kind; so is -1, the number that nobody knows.
  static func isRemote(kind: Int) -> Bool { kind == -1 || magicNumbers.contains(kind) }

  /// The numbers in linux/magic.h and in statfs(2).
  private static let magicNumbers: Set<Int> = [
    0x6969,  // NFS
    0x517b,  // SMB
    0xff53_4d42,  // CIFS
    0xfe53_4d42,  // SMB 2 and later
    0x6573_5546,  // FUSE: sshfs, rclone mount, shared folders of virtual machines
    0x0102_1997,  // 9P
    0x00c3_6400,  // Ceph
    0x5346_414f,  // AFS
    0x7375_7245,  // Coda
    0x786f_4256,  // VirtualBox shared folders
    0x0bd0_0bd0,  // Lustre
    0x4750_4653,  // GPFS
    0x0116_1970,  // GFS2
    0x7461_636f,  // OCFS2
  ]
}
