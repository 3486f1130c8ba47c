internal import Hashing
internal import Synchronization

/// Packets of chunks in a nameless file, which goes away with this value, or with the program.
final class NamelessChunks: ChunkStore {
  private struct Places {
    var end = 0
    var ranges: [ChunkLabel: Range<Int>] = [:]
  }

  private let file: RawFile
  private let owner = SHA256.digest(of: [])
  private let places = Mutex(Places())

  /// Opens a file in the folder of `path`, which names it in errors.
  init(beside path: String) throws(MediaError) {
    file = try RawFile(namelessBeside: path)
  }

  func save(_ run: PacketRun, as label: ChunkLabel) throws(MediaError) {
    let bytes = ChunkRecord(run, as: label).bytes(owner: owner)
    let start = places.withLock { places in
      defer { places.end += bytes.count }
      return places.end
    }
    try file.write(bytes, at: start)
    places.withLock { $0.ranges[label] = start..<start + bytes.count }
  }

  func load(_ label: ChunkLabel) -> PacketRun? {
    guard let range = places.withLock({ $0.ranges[label] }),
      let bytes = try? file.read(range.count, at: range.lowerBound)
    else { return nil }
    return ChunkRecord(bytes, owner: owner)?.run
  }

  // Nobody else can find the file.
  func close() {}
}
