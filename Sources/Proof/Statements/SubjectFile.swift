import Glibc
package import Platform

/// A subject of a receipt. Receipts are untrusted: files are searched only beside them, and no
/// links are followed.
struct SubjectFile: Hashable, Sendable {
  /// The result of reading it.
  enum Content: Hashable, Sendable {
    /// Read completely; the digest is in lower-case hexadecimal digits.
    case read(String, byteCount: Int)
    case trouble(String)
  }

  /// Its path from the receipt's folder.
  let name: String
  /// The algorithm of its digest. The same file by another algorithm is another subject.
  let algorithm: DigestAlgorithm
  private let folder: String

  /// Nil for a name that leads out of the folder.
  init?(name: String, in folder: String, by algorithm: DigestAlgorithm = .sha256) {
    let parts = name.pathNames
    // No part is empty.
    guard !name.utf8.contains(0), name.utf8.elementsEqual(parts.joined(separator: "/").utf8),
      !parts.isEmpty, !parts.contains("."), !parts.contains("..")
    else { return nil }
    self.name = name
    self.folder = folder
    self.algorithm = algorithm
  }

  /// Its length; nil if it is unreadable.
  var byteCount: Int? { try? open().byteCount }

  /// Reads all of it.
  /// - Parameter took: called with the number of bytes read; false stops.
  func read(_ took: (Int) -> Bool) -> Content {
    do throws(Trouble) { return try content(took) } catch { return .trouble(error.reason) }
  }

  private func content(_ took: (Int) -> Bool) throws(Trouble) -> Content {
    let reader = try open()
    reader.file.expectSequentialReading()
    guard var hasher = RunningDigest(algorithm) else {
      throw Trouble(reason: "this machine's libcrypto does not give \(algorithm.rawValue)")
    }
    var byteCount = 0
    // At most the file's length and one byte to detect its end: clearing a mebibyte takes longer
    // than reading a small file.
    var block = [UInt8](repeating: 0, count: max(1, min(reader.byteCount + 1, 1 << 20)))
    while true {
      let count = try Trouble.of { () throws(SystemError) in
        try FileOperations.uncounted.read(into: &block, from: reader.file, at: Int64(byteCount))
      }
      if count == 0 { return .read(hasher.finalize(), byteCount: byteCount) }
      unsafe block.span.bytes.extracting(..<count).withUnsafeBytes { unsafe hasher.update($0) }
      byteCount += count
      guard took(count) else { throw Trouble(reason: "it was not read to its end") }
      if count < block.count, byteCount == reader.byteCount {
        return .read(hasher.finalize(), byteCount: byteCount)
      }
    }
  }

  /// All its bytes; throws without reading if there are more than `limit`.
  func bytes(limit: Int) throws(Trouble) -> [UInt8] { try open().bytes(limit: limit) }

  /// All bytes of a user's file; throws without reading if there are more than `limit`.
  static func readWhole(_ path: String, limit: Int) throws(SpoolError) -> [UInt8] {
    do throws(Trouble) {
      return try SubjectReader { () throws(SystemError) in
        try OpenFile(path, O_RDONLY | O_NONBLOCK)
      }.bytes(limit: limit)
    } catch {
      throw SpoolError("cannot read \(path)", reason: error.reason, cause: .blocked)
    }
  }

  /// Why a file is unreadable.
  struct Trouble: Error, Hashable {
    let reason: String

    static let missing = Trouble(reason: "it is missing")

    /// Runs system calls, and words their errors.
    fileprivate static func of<Result: ~Copyable>(
      _ calls: () throws(SystemError) -> Result
    ) throws(Trouble) -> Result {
      do { return try calls() } catch {
        switch error.code {
        case ENOENT: throw missing
        case ELOOP: throw Trouble(reason: "it is a link, which is not followed")
        default: throw Trouble(reason: error.words)
        }
      }
    }
  }

  // By bytes: names that look alike may differ.
  static func == (one: SubjectFile, other: SubjectFile) -> Bool {
    one.algorithm == other.algorithm && one.name.utf8.elementsEqual(other.name.utf8)
      && one.folder.utf8.elementsEqual(other.folder.utf8)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(algorithm)
    for var text in [name, folder] {
      text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
  }

  private func open() throws(Trouble) -> SubjectReader {
    try SubjectReader { () throws(SystemError) in
      var current = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
      let parts = name.pathNames
      for (index, part) in parts.enumerated() {
        let kind = index + 1 < parts.count ? O_DIRECTORY : O_NONBLOCK
        current = try OpenFile(String(part), in: current, O_RDONLY | O_NOFOLLOW | kind)
      }
      return current
    }
  }

  /// The hashes of a clip's blocks, if the file is exactly that clip. O(bytes), with one block in
  /// memory.
  func leaves(of clip: QuotedClip) throws(Trouble) -> [Digest] {
    let reader = try open()
    guard reader.byteCount == clip.byteCount else {
      throw Trouble(
        reason: "it has \(reader.byteCount) bytes, and \(Self.words(clip)) \(clip.byteCount)")
    }
    guard try reader.read(QuotedClip.headerByteCount) == clip.header else {
      throw Trouble(reason: "its header is not the one that follows from the receipt")
    }
    let leaves = try clip.blocks.map { (block) throws(Trouble) in
      MerkleTree.leaf(try reader.read(clip.extent.byteCount(ofBlock: block)))
    }
    guard try reader.read(clip.padByteCount).allSatisfy({ $0 == 0 }) else {
      throw Trouble(reason: "what follows the samples is no zero")
    }
    return leaves
  }

  private static func words(_ clip: QuotedClip) -> String {
    clip.blocks.count == 1
      ? "block \(clip.blocks.lowerBound) has"
      : "blocks \(clip.blocks.lowerBound) to \(clip.blocks.upperBound - 1) have"
  }
}

/// Reads a file sequentially.
private struct SubjectReader: ~Copyable {
  let file: OpenFile
  /// Its length when it was opened.
  let byteCount: Int

  init(_ open: () throws(SystemError) -> OpenFile) throws(SubjectFile.Trouble) {
    let file = try SubjectFile.Trouble.of(open)
    guard let stamp = try? file.stamp, stamp.isRegularFile else {
      throw SubjectFile.Trouble(reason: "it is no file")
    }
    self.file = file
    byteCount = Int(stamp.byteCount)
  }

  /// All bytes; throws without reading if there are more than `limit`.
  func bytes(limit: Int) throws(SubjectFile.Trouble) -> [UInt8] {
    guard byteCount <= limit else {
      throw SubjectFile.Trouble(
        reason: "it has \(byteCount) bytes, and no more than \(limit) are read")
    }
    return try read(upTo: byteCount)
  }

  /// The next bytes; throws if there are fewer.
  func read(_ count: Int) throws(SubjectFile.Trouble) -> [UInt8] {
    let bytes = try read(upTo: count)
    guard bytes.count == count else { throw SubjectFile.Trouble(reason: "it ends too early") }
    return bytes
  }

  /// The next bytes, fewer at the end.
  func read(upTo count: Int) throws(SubjectFile.Trouble) -> [UInt8] {
    try SubjectFile.Trouble.of { () throws(SystemError) in try file.bytes(count) }
  }
}

/// Checksums for `sha256sum -c`.
package enum ChecksumList {
  /// The file name's suffix.
  static let ending = ".sha256"

  /// One line per file, in order.
  package static func text(of files: [(name: String, digest: Digest)]) -> String {
    files.map { line($0.name, $0.digest) }.joined()
  }

  // A name with a backslash or a line break is escaped, and its line begins with a backslash: see
  // `info sha256sum`.
  private static func line(_ name: String, _ digest: Digest) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") })
    else { return "\(digest.hex)  \(name)\n" }
    let escaped = name.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return "\\\(digest.hex)  \(escaped)\n"
  }
}
