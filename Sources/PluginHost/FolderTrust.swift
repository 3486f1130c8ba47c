import Glibc

/// Whether only the user, the system's administrator, or whoever wrote the pipeline can have put
/// something into a folder that is looked into without being named: `/tmp/Plugins` is anybody's to make.
struct FolderTrust {
  /// Why what lies there may be a stranger's; nil where it is not, or nothing is there.
  let doubt: String?

  /// - Parameter pipeline: the pipeline's folder. Whose pipelines are run, his plugins may be, too.
  init(_ folder: String, beside pipeline: String?) {
    var status = stat()
    guard unsafe stat(folder, &status) == 0 else {
      doubt = nil
      return
    }
    var owner = stat()
    let isOwner = pipeline.map { unsafe stat($0, &owner) == 0 } == true
    let trusted = [0, geteuid()] + (isOwner ? [owner.st_uid] : [])
    if !trusted.contains(status.st_uid) {
      doubt = "it belongs to another user"
    } else if status.st_mode & S_IWOTH != 0 {
      doubt = "everybody can write into it"
    } else {
      doubt = nil
    }
  }
}
