import Glibc

/// A look at the files that an unfinished encoding leaves for whoever goes on with it.
public enum UnfinishedEncoding {
  /// What is wrong with a file of an unfinished encoding; nil if nothing, or if it is of a kind that
  /// does not vouch for itself. O(bytes of the file).
  public static func fault(inFile path: String) -> String? {
    guard path.hasSuffix(ChunkFolder.suffix) else { return nil }
    do throws(MediaError) {
      let file = try RawFile(path: path, O_RDONLY)
      let bytes = try file.read(file.byteCount, at: 0)
      return ChunkRecord.isWhole(bytes) ? nil : "its packets are not what was written"
    } catch {
      return error.reason
    }
  }
}
