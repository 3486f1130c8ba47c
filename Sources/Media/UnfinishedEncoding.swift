internal import Hashing
import Glibc

/// A look at the files that an unfinished encoding leaves for whoever goes on with it.
public enum UnfinishedEncoding {
  /// What is wrong with a file of an unfinished encoding; nil if nothing, or if it is of a kind that
  /// does not vouch for itself. O(bytes of the file).
  /// - Parameter notes: what encoders of the same folder noted, the ``EncodingProgress/state`` of each;
  ///   anything else among them is passed over.
  public static func fault(inFile path: String, notes: [String] = []) -> String? {
    do throws(MediaError) {
      if path.hasSuffix(ChunkFolder.suffix) {
        let file = try RawFile(path: path, O_RDONLY)
        let bytes = try file.read(file.byteCount, at: 0)
        return ChunkRecord.isWhole(bytes) ? nil : "its packets are not what was written"
      }
      let states = notes.compactMap(EncodingState.init(json:)).filter { $0.extent.frames > 0 }
      if path.hasSuffix(PacketIndex.suffix) {
        return try PacketIndex.fault(inFile: path, states: states)
      }
      return path.hasSuffix(".wav") ? try GrowingFile.fault(inWAV: path, states: states) : nil
    } catch {
      return error.reason
    }
  }
}

extension PacketIndex {
  /// No container's head before the first packet is longer, pictures in tags aside, in bytes.
  private static let longestHead = 16 << 20

  /// What is wrong with an index, or with the packets that it lists; nil where nothing is, or where
  /// none of the states is of that encoding.
  fileprivate static func fault(
    inFile path: String, states: [EncodingState]
  ) throws(MediaError) -> String? {
    guard let content = try content(ofFile: path),
      let state = states.first(where: { $0.owner == content.owner })
    else { return nil }
    // The container's head is not noted: of all records that could end where the note says, those
    // count whose first packets are where they would begin.
    let packets = try GrowingFile(path: String(path.dropLast(suffix.count)))
    var ends: [Int] = []
    for record in content.records { ends.append((ends.last ?? 0) + record.byteCount) }
    for (index, end) in ends.enumerated() {
      let start = state.extent.byteCount - end
      guard (0...longestHead).contains(start), state.extent.byteCount <= packets.byteCountAtStart,
        try isThere(content.records[0], at: start, in: packets)
      else { continue }
      for (record, end) in zip(content.records, ends).prefix(index + 1) {
        if try !isThere(record, at: start + end - record.byteCount, in: packets) {
          return "the packets that it lists are not what was written"
        }
      }
      return nil
    }
    return "it does not list the packets that were noted"
  }

  private static func isThere(
    _ record: Record, at start: Int, in packets: GrowingFile
  ) throws(MediaError) -> Bool {
    try packets.checksum(start..<start + record.byteCount).value == record.checksum
  }
}

extension GrowingFile {
  /// What is wrong with the sound of an unfinished WAV file; nil where nothing is, or where none of the
  /// states is of a file that vouches for its sound.
  fileprivate static func fault(
    inWAV path: String, states: [EncodingState]
  ) throws(MediaError) -> String? {
    let extents = states.map(\.extent).filter { $0.checksum != 0 && $0.byteCount > 0 }
    guard !extents.isEmpty else { return nil }
    let file = try GrowingFile(path: path)
    guard let start = try file.soundStart() else { return "its header is not what was written" }
    for extent in extents where (start...file.byteCountAtStart).contains(extent.byteCount) {
      if try file.checksum(start..<extent.byteCount).value == extent.checksum { return nil }
    }
    return "its sound is not what was written"
  }

  /// Where a WAV file's sound begins: behind the head of its `data` chunk.
  private func soundStart() throws(MediaError) -> Int? {
    var offset = 12
    while offset + 8 <= byteCountAtStart {
      let head = try read(8, at: offset)
      if head.starts(with: Array("data".utf8)) { return offset + 8 }
      let length = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
      offset += 8 + length + length % 2
    }
    return nil
  }
}
