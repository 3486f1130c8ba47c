import Glibc
internal import PipelineModel

/// The first hundred bytes of a database's file, as far as SQLite does not complain of them:
/// https://www.sqlite.org/fileformat2.html#the_database_header.
struct DatabaseHeader {
  private let bytes: [UInt8]

  private static let byteCount = 100

  init(of path: String) throws(StoreError) {
    bytes = try doing("read", path) { () throws(SystemError) in
      let file = try FileOperations.system.open(path, O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: Self.byteCount)
      let count = try FileOperations.system.read(into: &bytes, from: file, at: 0)
      return Array(bytes[..<count])
    }
  }

  /// Whether SQLite would write into the file: it does where the write version (byte 18) is 1, for a
  /// rollback journal, or 2, for a write-ahead log.
  var isWritable: Bool { bytes.count == Self.byteCount && (1...2).contains(bytes[18]) }

  /// Whether the disk reports an error somewhere in a file, which SQLite does not always pass on.
  /// Reads all of it.
  static func isUnreadable(_ path: String) -> Bool {
    do throws(SystemError) {
      let file = try FileOperations.system.open(path, O_RDONLY)
      _ = try FileOperations.system.digest(of: file)
      return false
    } catch {
      return error.code == EIO
    }
  }
}
