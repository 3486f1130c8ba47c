import Glibc

/// Reading that is no operation of a store: no crash point.
extension FileOperations {
  /// All bytes of a file, whatever leads to it and whatever kind it is of: also of a pipe.
  /// - Parameter limit: beyond so many, not all are read.
  package func bytes(
    following path: String, limit: Int = .max
  ) throws(SystemError) -> [UInt8] {
    try willPerform(.read(path))
    let descriptor = try SystemError.check { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC) }
    let file = OpenFile(descriptor: descriptor, path: path)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    while bytes.count <= limit {
      try willPerform(.read(file.path))
      let count = try SystemError.check {
        unsafe piece.withUnsafeMutableBytes {
          unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
        }
      }
      if count == 0 { return bytes }
      bytes += piece[..<count]
    }
    return bytes
  }
}
