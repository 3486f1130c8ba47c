internal import Platform

/// The chunk table of an AIFF, AIFF-C or CAF file (Apple, "Audio Interchange File Format" 1.3 and
/// "Core Audio Format Specification" 1.0), or of the AIFF file that a FLAC file keeps in blocks. Of
/// their chunks libavformat reads the tags, and the last annotation, alone.
struct InterchangeChunks: ~Copyable {
  private let file: ContainerBytes
  private typealias Chunk = (name: String, content: Range<Int>)
  private let chunks: [Chunk]
  private let isCAF: Bool

  /// Reads the chunk table of a file; nil if it is of another type.
  init?(_ file: consuming ContainerBytes) {
    let isCAF = file.word(at: 0) == "caff"
    let chunks: [Chunk]
    switch (file.word(at: 0), file.word(at: 8)) {
    case ("FORM", "AIFF"), ("FORM", "AIFC"):
      chunks = Self.chunks(of: file, from: 12, lengthByteCount: 4)
    case ("caff", _): chunks = Self.chunks(of: file, from: 8, lengthByteCount: 8)
    case ("fLaC", _): chunks = Self.foreignChunks(of: file)
    default: chunks = []
    }
    guard !chunks.isEmpty else { return nil }
    self.file = file
    self.chunks = chunks
    self.isCAF = isCAF
  }

  private static func foreignChunks(of file: borrowing ContainerBytes) -> [Chunk] {
    var found: [Chunk] = []
    for block in file.applicationBlocks("aiff").dropFirst() {
      let start = block.lowerBound + 8
      let end = min(start + file.big(at: block.lowerBound + 4, count: 4), block.upperBound)
      found.append((file.word(at: block.lowerBound), start..<max(start, end)))
    }
    return found
  }

  private static let mostChunks = 4096
  private static let greatestChunk = 16 << 20

  /// A chunk that the end of the file cuts off is shortened and ends the table.
  private static func chunks(
    of file: borrowing ContainerBytes, from first: Int, lengthByteCount: Int
  ) -> [Chunk] {
    var found: [Chunk] = []
    var start = first
    while file.byteCount - start >= 4 + lengthByteCount, found.count < mostChunks {
      let content = start + 4 + lengthByteCount
      // An unknown length of the sound is -1.
      let length = file.big(at: start + 4, count: lengthByteCount)
      let count = min(length, file.byteCount - content)
      found.append((file.word(at: start), content..<content + count))
      guard length == count else { break }
      start = content + count + (lengthByteCount == 4 ? count % 2 : 0)
    }
    return found
  }

  private func bytes(_ name: String) -> [[UInt8]] {
    chunks.filter { $0.name == name && $0.content.count <= Self.greatestChunk }.map {
      file.bytes(at: $0.content.lowerBound, count: $0.content.count)
    }
  }

  /// The markers as cue points, named by labels.
  var cues: CuePoints? {
    let cues = isCAF ? cafCues : aiffCues
    return cues.isEmpty ? nil : cues
  }

  /// The chunk `MARK`: places with names; `COMT` may hold notes of them.
  private var aiffCues: CuePoints {
    var points: [CuePoints.Point] = []
    var labels: [CuePoints.Label] = []
    for chunk in bytes("MARK").prefix(1) {
      var reader = ByteReader(chunk[...])
      for _ in 0..<(reader.big(byteCount: 2) ?? 0) {
        guard let number = reader.big(byteCount: 2), let frame = reader.big(byteCount: 4),
          let count = reader.big(byteCount: 1), let name = reader.bytes(count)
        else { break }
        if count % 2 == 0 { _ = reader.bytes(1) }
        points.append(CuePoints.Point(number: UInt32(number), frame: frame))
        if !name.isEmpty { labels.append(CuePoints.Label("labl", of: number, name)) }
      }
    }
    let numbers = Set(points.map(\.number))
    for comment in comments where numbers.contains(UInt32(comment.marker)) && comment.marker != 0 {
      labels.append(CuePoints.Label("note", of: comment.marker, comment.text))
    }
    return CuePoints(points: points, labels: labels)
  }

  /// The comments of the chunk `COMT`; a marker of 0 is none.
  private var comments: [(marker: Int, text: [UInt8])] {
    var comments: [(marker: Int, text: [UInt8])] = []
    for chunk in bytes("COMT") {
      var reader = ByteReader(chunk[...])
      for _ in 0..<(reader.big(byteCount: 2) ?? 0) {
        guard reader.bytes(4) != nil, let marker = reader.big(byteCount: 2),
          let count = reader.big(byteCount: 2), let text = reader.bytes(count)
        else { break }
        if count % 2 == 1 { _ = reader.bytes(1) }
        comments.append((marker, text))
      }
    }
    return comments
  }

  /// The annotations, and the comments on no marker, in order.
  var annotations: [String] {
    guard !isCAF else { return [] }
    let texts = bytes("ANNO") + comments.filter { $0.marker == 0 }.map(\.text)
    return texts.map { String(ofFile: $0.prefix { $0 != 0 }) }.filter { !$0.isEmpty }
  }

  /// The chunk `mark`: places in frames, as floats, whose names are in the chunk `strg`.
  private var cafCues: CuePoints {
    var names: [Int: [UInt8]] = [:]
    for chunk in bytes("strg").prefix(1) {
      var reader = ByteReader(chunk[...])
      let count = reader.big(byteCount: 4) ?? 0
      let texts = chunk.dropFirst(4 + 12 * min(count, chunk.count))
      for _ in 0..<count {
        guard let number = reader.big(byteCount: 4), let offset = reader.big(byteCount: 8),
          offset >= 0
        else { break }
        names[number] = Array(texts.dropFirst(offset).prefix { $0 != 0 })
      }
    }
    var points: [CuePoints.Point] = []
    var labels: [CuePoints.Label] = []
    for chunk in bytes("mark").prefix(1) {
      var reader = ByteReader(chunk[...].dropFirst(8))
      while let marker = reader.bytes(28) {
        var fields = ByteReader(marker[4...])
        let position = Double(bitPattern: UInt64(bigEndianBytes: fields.bytes(8) ?? []))
        guard let number = fields.big(byteCount: 4), position >= 0,
          let frame = UInt32(exactly: position.rounded())
        else { continue }
        points.append(CuePoints.Point(number: UInt32(points.count + 1), frame: Int(frame)))
        if let name = names[number], !name.isEmpty {
          labels.append(CuePoints.Label("labl", of: points.count, name))
        }
      }
    }
    return CuePoints(points: points, labels: labels)
  }

  /// The names of the other chunks, some more than once.
  var otherChunks: [String] { chunks.map(\.name).filter { !Self.known.contains($0) } }

  /// What is read here or by libavformat, what a file of its own has anew, and what only fills or
  /// repeats it.
  private static let known: Set<String> = [
    "COMM", "SSND", "FVER", "NAME", "AUTH", "(c) ", "ANNO", "MARK", "COMT", "ID3 ", "CHAN", "PEAK",
    "FLLR", "wave", "desc", "data", "pakt", "kuki", "chan", "info", "strg", "mark", "free", "peak",
    "ovvw", "edct", "uuid",
  ]
}

extension ByteReader {
  /// A big-endian number.
  fileprivate mutating func big(byteCount: Int) -> Int? {
    bytes(byteCount).map { Int(bigEndianBytes: $0) }
  }
}

extension CuePoints.Label {
  /// A text of a point.
  fileprivate init(_ name: String, of number: Int, _ text: [UInt8]) {
    var bytes: [UInt8] = []
    bytes.append(number, byteCount: 4)
    self.init(name: name, bytes: bytes + text + [0])
  }
}
