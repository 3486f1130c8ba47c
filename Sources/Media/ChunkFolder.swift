internal import FoundationEssentials
import Glibc
internal import Hashing

/// The files of an encoding's chunks in a folder that it may share with others:
/// `NAME.NUMBER.packets`, and `.packets.new` while one is being written.
struct ChunkFolder: Sendable {
  let path: String
  /// What the names begin with.
  let name: String
  /// What the files bear.
  let owner: Digest

  /// The packets in the file of a chunk; nil where there is no file, or one that is not whole, not
  /// the owner's, or of another stretch of sound.
  func read(_ label: ChunkLabel) -> PacketRun? {
    guard let file = try? RawFile(path: path(label.chunk), O_RDONLY),
      let bytes = try? file.read(file.byteCount, at: 0),
      let record = ChunkRecord(bytes, owner: owner), record.label == label
    else { return nil }
    return record.run
  }

  /// Writes the file of a chunk, in place of any that is there. It gets its name when its bytes are on
  /// the disk; the name is there for good after `flush`.
  func write(_ run: PacketRun, as label: ChunkLabel) throws(MediaError) {
    let target = path(label.chunk)
    let new = target + Self.newSuffix
    let file = try RawFile(path: new, O_WRONLY | O_CREAT | O_TRUNC)
    try file.write(ChunkRecord(run, as: label).bytes(owner: owner), at: 0)
    try file.flush()
    guard unsafe rename(new, target) == 0 else { throw MediaError(writing: target, errno) }
  }

  /// Waits until the files of `chunks` are on the disk, and so are their names.
  func flush(_ chunks: Set<Int>) throws(MediaError) {
    guard !chunks.isEmpty else { return }
    for chunk in chunks.sorted() { try RawFile(path: path(chunk), O_RDONLY).flush() }
    try RawFile(path: path, O_RDONLY | O_DIRECTORY).flushNames()
  }

  /// Deletes all of these files, finished or not. One that cannot be deleted does no harm, as it
  /// belongs to nobody.
  func removeAll() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names where isOurs(name) { unsafe unlink(path + "/" + name) }
  }

  static let suffix = ".packets"
  private static let newSuffix = ".new"

  private func path(_ chunk: Int) -> String { "\(path)/\(name).\(chunk)\(Self.suffix)" }

  private func isOurs(_ file: String) -> Bool {
    let file = file.hasSuffix(Self.newSuffix) ? file.dropLast(Self.newSuffix.count) : file[...]
    guard file.hasPrefix(name + "."), file.hasSuffix(Self.suffix) else { return false }
    let number = file.dropFirst(name.count + 1).dropLast(Self.suffix.count)
    return !number.isEmpty && number.allSatisfy(\.isWholeNumber)
  }
}
