internal import Hashing

/// A file in the store's folder of artifacts.
struct ArtifactFile: Hashable, Sendable {
  let path: String
  /// The digest that its name promises.
  let digest: Digest
  let stamp: FileStamp

  /// What lies among the artifacts: those that may be some, and the paths of whatever else is there.
  static func all(in layout: StoreLayout) -> (files: [ArtifactFile], strays: [String]) {
    var files: [ArtifactFile] = []
    var strays: [String] = []
    for shard in FolderListing.names(in: layout.artifacts) {
      let folder = "\(layout.artifacts)/\(shard)"
      if let stamp = try? FileStamp(at: folder), !stamp.isFolder {
        strays.append(folder)
        continue
      }
      for name in FolderListing.names(in: folder) {
        let path = "\(folder)/\(name)"
        // What is gone by now was freed.
        guard let stamp = try? FileStamp(at: path) else { continue }
        if let digest = Digest(hex: name), layout.artifact(digest) == path, stamp.isRegularFile {
          files.append(ArtifactFile(path: path, digest: digest, stamp: stamp))
        } else {
          strays.append(path)
        }
      }
    }
    return (files, strays)
  }
}
