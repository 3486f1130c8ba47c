import Glibc
internal import Platform

/// The chunk table of a WAV, RF64, BW64 or W64 file (RIFF; EBU Tech 3306; Sony Wave64), or of the
/// one that a FLAC file keeps in blocks, without its sound. Reads only the headers: one system call
/// per chunk.
struct WaveChunks: ~Copyable {
  struct Chunk: Hashable {
    let name: String
    let content: Range<Int>
  }

  /// The open file, for copying.
  let file: OpenFile
  /// In file order.
  let chunks: [Chunk]
  /// Whether libavformat reads the lists.
  let isRIFF: Bool

  /// Reads the chunk table of the file at `path`; nil if it is of another type. A chunk truncated
  /// by the end of the file is shortened and ends the table. Throws if the file cannot be read.
  static func open(_ path: String) throws(SpoolError) -> WaveChunks? {
    let file = try OpenFile(path: path, O_RDONLY)
    let size = try file.byteCount
    return try table(of: ContainerBytes(file, byteCount: size))
  }

  /// Reads the chunk table of an open file, as ``open(_:)`` does.
  static func table(of bytes: consuming ContainerBytes) throws(SpoolError) -> WaveChunks? {
    let size = bytes.byteCount
    let foreign = foreignChunks(ofFLAC: bytes)
    let file = bytes.takeFile()
    guard size >= 12 else { return nil }
    let head = try file.read(12, at: 0)
    let (form, kind) = (text(head[0..<4]), text(head[8..<12]))
    let found: [Chunk]
    if ["RIFF", "RF64", "BW64"].contains(form), kind == "WAVE" {
      found = try chunks(of: file, size)
    } else if form == "riff", size >= wave64Start, try isWave64(file) {
      found = try chunks(ofWave64: file, size)
    } else if form == "fLaC" {
      guard !foreign.isEmpty else { return nil }
      found = foreign
    } else {
      return nil
    }
    return WaveChunks(file: file, chunks: found, isRIFF: kind == "WAVE")
  }

  /// The first chunk of this name.
  func first(_ name: String) -> Chunk? { chunks.first { $0.name == name } }

  /// The bytes of a chunk; nil if it is implausibly long.
  func bytes(of chunk: Chunk) throws(SpoolError) -> [UInt8]? {
    guard chunk.content.count <= Self.greatestChunk else { return nil }
    return try file.read(chunk.content.count, at: chunk.content.lowerBound)
  }

  /// The lists of this type, `adtl` or `INFO`, without their type.
  func lists(_ type: String) throws(SpoolError) -> [[UInt8]] {
    var lists: [[UInt8]] = []
    for chunk in chunks where chunk.name == "LIST" {
      guard let content = try bytes(of: chunk), content.starts(with: type.utf8) else { continue }
      lists.append(Array(content.dropFirst(4)))
    }
    return lists
  }

  private static let greatestChunk = 16 << 20
  /// More than any program writes; a damaged file may seem to have millions.
  private static let mostChunks = 4096

  private static func chunks(
    of file: borrowing OpenFile, _ size: Int
  ) throws(SpoolError) -> [Chunk] {
    var found: [Chunk] = []
    var longData: Int?
    var header = ByteReader(size >= 12 ? try file.read(8, at: 0)[4...] : [])
    // Whether the length was never filled in: it ends with the header, or has no meaning.
    let isUnfinished = header.integer(byteCount: 4).map { abs($0 + 8 - size) > 1 } ?? false
    var start = 12
    while start + 8 <= size, found.count < mostChunks {
      var head = ByteReader(try file.read(8, at: start)[...])
      let name = text((head.bytes(4) ?? [])[...])
      var count = head.integer(byteCount: 4) ?? 0
      if name == "data", count == 0xFFFF_FFFF { count = longData ?? size - start - 8 }
      // Of a recorder that lost power: what follows is sound, and no chunks.
      if name == "data", count == 0, isUnfinished { count = size - start - 8 }
      let content = start + 8..<min(size, start + 8 + count)
      found.append(Chunk(name: name, content: content))
      if name == "ds64", content.count >= 24 {
        var lengths = ByteReader(try file.read(24, at: content.lowerBound)[...])
        _ = lengths.word()
        longData = lengths.integer().map { min($0, size) }
      }
      start += 8 + count + count % 2
    }
    return found
  }

  /// The file header: two identifiers around its length.
  private static let wave64Start = 40
  /// The bytes after the four letters in the identifiers of most chunks.
  private static let wave64Rest: [UInt8] = [
    0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A,
  ]

  private static func isWave64(_ file: borrowing OpenFile) throws(SpoolError) -> Bool {
    try file.read(16, at: 24) == Array("wave".utf8) + wave64Rest
  }

  private static func chunks(
    ofWave64 file: borrowing OpenFile, _ size: Int
  ) throws(SpoolError) -> [Chunk] {
    var found: [Chunk] = []
    var start = wave64Start
    while start + 24 <= size, found.count < mostChunks {
      var head = ByteReader(try file.read(24, at: start)[...])
      let name = text((head.bytes(4) ?? [])[...])
      _ = head.bytes(12)
      // The length includes the chunk's header.
      guard let count = head.integer(), count >= 24, count <= Int.max / 2 - start else { break }
      found.append(
        Chunk(
          name: name == "list" ? "LIST" : name, content: start + 24..<min(size, start + count)))
      start += (count + 7) / 8 * 8
    }
    return found
  }

  /// The chunks in the foreign-metadata blocks of a FLAC file, but for those of the sound.
  private static func foreignChunks(ofFLAC file: borrowing ContainerBytes) -> [Chunk] {
    var found: [Chunk] = []
    for block in file.applicationBlocks("riff").dropFirst() {
      let start = block.lowerBound + 8
      let end = start + file.little(at: block.lowerBound + 4, count: 4)
      found.append(
        Chunk(
          name: file.word(at: block.lowerBound),
          content: start..<max(start, min(end, block.upperBound))))
    }
    for block in file.applicationBlocks("w64 ").dropFirst() where block.count >= 24 {
      let name = file.word(at: block.lowerBound)
      let end =
        block.lowerBound + min(file.little(at: block.lowerBound + 16, count: 8), block.count)
      found.append(
        Chunk(
          name: name == "list" ? "LIST" : name,
          content: block.lowerBound + 24..<max(block.lowerBound + 24, end)))
    }
    return found.filter { !["fmt ", "data", "ds64", "fact"].contains($0.name) }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  /// The `fmt ` chunk of a WAV file.
  struct Format {
    let bytes: [UInt8]
    let channelCount: Int
    let rate: Int
    let blockByteCount: Int

    /// Reads the chunk of an open file; nil if that is no WAV file.
    init?(in file: borrowing ContainerBytes) {
      guard let wave = try? WaveChunks.table(of: file.copy()), let format = try? Format(of: wave)
      else { return nil }
      self = format
    }

    /// Whether the sample format is one of Ambisonic B-format (Dobson, "The AMB Ambisonic File
    /// Format").
    var isAmbisonic: Bool {
      bytes.count >= 40 && bytes[0..<2] == [0xFE, 0xFF]
        && bytes[28..<40]
          == [0x21, 0x07, 0xD3, 0x11, 0x86, 0x44, 0xC8, 0xC1, 0xCA, 0x00, 0x00, 0x00]
    }

    /// Reads the chunk; nil if it is missing or invalid.
    init?(of wave: borrowing WaveChunks) throws(SpoolError) {
      guard let chunk = wave.first("fmt "), let bytes = try wave.bytes(of: chunk),
        bytes.count >= 16
      else { return nil }
      var reader = ByteReader(bytes[...])
      _ = reader.bytes(2)
      guard let channelCount = reader.integer(byteCount: 2), channelCount > 0,
        let rate = reader.integer(byteCount: 4), rate > 0, reader.bytes(4) != nil,
        let blockByteCount = reader.integer(byteCount: 2), blockByteCount > 0
      else { return nil }
      self.bytes = bytes
      self.channelCount = channelCount
      self.rate = rate
      self.blockByteCount = blockByteCount
    }
  }
}
