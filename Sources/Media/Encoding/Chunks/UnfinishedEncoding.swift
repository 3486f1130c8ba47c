import Glibc
internal import Platform

extension EncodingWork {
  /// A file of unfinished encodings that is not what was written.
  package struct Fault: Hashable, Sendable {
    package let path: String
    /// What is wrong with it.
    package let problem: String
  }

  /// The first fault in a folder of unfinished work, whose journals hold these states; nil if there
  /// is none or it cannot be determined. Read-only. O(bytes of the files).
  package static func fault(in folder: String, notes: [String]) -> Fault? {
    UnfinishedEncodings(in: folder, notes: notes).fault
  }
}

/// The files and states of the encodings that a process left in a folder.
private struct UnfinishedEncodings {
  private let folder: String
  // Full paths, sorted.
  private let files: [String]
  private let states: [EncodingState]

  init(in folder: String, notes: [String]) {
    self.folder = folder
    files = FilePath.names(in: folder).map { "\(folder)/\($0)" }
    states = notes.compactMap(EncodingState.init(json:)).filter { $0.extent.frames > 0 }
  }

  var fault: EncodingWork.Fault? {
    var found = Found()
    for path in files {
      do throws(SpoolError) {
        if let problem = try problem(ofFile: path, &found) {
          return EncodingWork.Fault(path: path, problem: problem)
        }
      } catch {
        return EncodingWork.Fault(path: path, problem: error.reason ?? "it cannot be read")
      }
    }
    return missing(from: found).map { EncodingWork.Fault(path: folder, problem: $0) }
  }

  /// The usable parts of the encodings.
  private struct Found {
    var waveCount = 0
    var indexOwners: Set<Digest> = []
    /// The end frame of each chunk, by owner and number.
    var chunkEnds: [Digest: [Int: Int]] = [:]

    /// The end of the leading consecutive chunks of an owner, in frames.
    func encodedFrames(of owner: Digest) -> Int {
      let ends = chunkEnds[owner] ?? [:]
      return (0..<ends.count).prefix { ends[$0] != nil }.last.flatMap { ends[$0] } ?? 0
    }
  }

  private func problem(ofFile path: String, _ found: inout Found) throws(SpoolError) -> String? {
    if path.hasSuffix(ChunkFiles.suffix) {
      let file = try OpenFile(path: path, O_RDONLY | O_NOFOLLOW)
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
      return try WaveChunks.fault(inUnfinished: path, states: states)
    }
    return nil
  }

  /// Recorded files that are missing.
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
  /// An upper bound for a container's header before the first packet, without pictures, in bytes.
  private static let longestHead = 16 << 20

  /// The problem of an index or its packets; nil if there is none, or no state belongs to that
  /// encoding.
  fileprivate static func fault(
    in content: (owner: Digest, records: [Record]), ofFile path: String, states: [EncodingState]
  ) throws(SpoolError) -> String? {
    guard let state = states.first(where: { $0.owner == content.owner }) else { return nil }
    // The header's length is not recorded: of all records that could end at the recorded place,
    // those whose first packets match count.
    let packets = try OpenFile(
      path: String(path.dropLast(suffix.count)), O_RDONLY | O_NOFOLLOW)
    let byteCount = try packets.byteCount
    var ends: [Int] = []
    for record in content.records { ends.append((ends.last ?? 0) + record.byteCount) }
    for (index, end) in ends.enumerated() {
      let start = state.extent.byteCount - end
      guard (0...longestHead).contains(start), state.extent.byteCount <= byteCount,
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
    _ record: Record, at start: Int, in packets: borrowing OpenFile
  ) throws(SpoolError) -> Bool {
    try packets.checksum(start..<start + record.byteCount).value == record.checksum
  }
}

extension WaveChunks {
  /// The problem of an unfinished WAV file; nil if there is none, or no state covers its sound.
  fileprivate static func fault(
    inUnfinished path: String, states: [EncodingState]
  ) throws(SpoolError) -> String? {
    let extents = states.map(\.extent).filter { $0.checksum != 0 && $0.byteCount > 0 }
    guard !extents.isEmpty else { return nil }
    let file = try OpenFile(path: path, O_RDONLY | O_NOFOLLOW)
    let byteCount = try file.byteCount
    guard let start = try open(path)?.first("data")?.content.lowerBound, start <= byteCount else {
      return "its header is not what was written"
    }
    for extent in extents where (start...byteCount).contains(extent.byteCount) {
      if try file.checksum(start..<extent.byteCount).value == extent.checksum { return nil }
    }
    return "its sound is not what was written"
  }
}
