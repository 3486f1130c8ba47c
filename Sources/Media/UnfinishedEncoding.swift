internal import FoundationEssentials
internal import Hashing
import Glibc

/// A look at the files that unfinished encodings leave for whoever goes on with them.
public struct UnfinishedEncoding {
  /// What is wrong.
  public struct Fault: Hashable, Sendable {
    /// The file, or the folder where that is gone.
    public let path: String
    /// What is the matter with it.
    public let problem: String
  }

  private let folder: String
  // Full paths, in order.
  private let files: [String]
  private let states: [EncodingState]

  /// Looks into a folder.
  /// - Parameter notes: what encoders noted that have their files there, the
  ///   ``EncodingProgress/state`` of each; anything else among them is passed over.
  public init(in folder: String, notes: [String]) {
    self.folder = folder
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    files = names.sorted().map { "\(folder)/\($0)" }
    states = notes.compactMap(EncodingState.init(json:)).filter { $0.extent.frames > 0 }
  }

  /// The first thing that is wrong; nil where nothing is, or where it cannot be told. Nothing is
  /// changed. O(bytes of the files), each of which is read once.
  public var fault: Fault? {
    var found = Found()
    for path in files {
      do throws(MediaError) {
        if let problem = try problem(ofFile: path, &found) {
          return Fault(path: path, problem: problem)
        }
      } catch {
        return Fault(path: path, problem: error.reason ?? "it cannot be read")
      }
    }
    return missing(from: found).map { Fault(path: folder, problem: $0) }
  }

  /// What of the encodings is there.
  private struct Found {
    var waveCount = 0
    var indexOwners: Set<Digest> = []
    /// Behind which frame each chunk ends, by its owner and number.
    var chunkEnds: [Digest: [Int: Int]] = [:]

    /// Up to which frame the chunks of an owner lie there, from the first one on.
    func encodedFrames(of owner: Digest) -> Int {
      let ends = chunkEnds[owner] ?? [:]
      return (0..<ends.count).prefix { ends[$0] != nil }.last.flatMap { ends[$0] } ?? 0
    }
  }

  private func problem(ofFile path: String, _ found: inout Found) throws(MediaError) -> String? {
    if path.hasSuffix(ChunkFolder.suffix) {
      let file = try RawFile(path: path, O_RDONLY | O_NOFOLLOW)
      guard let (owner, record) = ChunkRecord.read(try file.read(file.byteCount, at: 0)) else {
        return "its packets are not what was written"
      }
      found.chunkEnds[owner, default: [:]][record.label.chunk] = record.label.range.upperBound
    } else if path.hasSuffix(PacketIndex.suffix) {
      guard let content = try PacketIndex.content(ofFile: path) else { return nil }
      found.indexOwners.insert(content.owner)
      return try PacketIndex.fault(in: content, ofFile: path, states: states)
    } else if path.hasSuffix(".wav") {
      found.waveCount += 1
      return try GrowingFile.fault(inWAV: path, states: states)
    }
    return nil
  }

  /// Which files are not there that an encoder had noted.
  private func missing(from found: Found) -> String? {
    if states.count(where: { $0.extent.checksum != 0 }) > found.waveCount {
      return "an unfinished WAV file is gone"
    }
    for state in states where state.extent.checksum == 0 && state.extent.byteCount > 0 {
      if !found.indexOwners.contains(state.owner) {
        return "the index of an unfinished file is gone"
      }
    }
    for state in states where state.extent.byteCount == 0 {
      if found.encodedFrames(of: state.owner) < state.extent.frames {
        return "encoded packets of an unfinished file are gone"
      }
    }
    return nil
  }
}

extension PacketIndex {
  /// No container's head before the first packet is longer, pictures in tags aside, in bytes.
  private static let longestHead = 16 << 20

  /// What is wrong with an index, or with the packets that it lists; nil where nothing is, or where
  /// none of the states is of that encoding.
  fileprivate static func fault(
    in content: (owner: Digest, records: [Record]), ofFile path: String, states: [EncodingState]
  ) throws(MediaError) -> String? {
    guard let state = states.first(where: { $0.owner == content.owner }) else { return nil }
    // The container's head is not noted: of all records that could end where the note says, those
    // count whose first packets are where they would begin.
    let packets = try GrowingFile(reading: String(path.dropLast(suffix.count)))
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
    let file = try GrowingFile(reading: path)
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
