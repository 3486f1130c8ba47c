import Glibc
internal import Hashing

/// An M4A file with other tags: the sound is copied as it lies there, and only the box with the tags
/// is exchanged. Neither the time nor the memory of a table of packets is needed, and the bytes are
/// those that libavformat would write.
struct TaggedMovie: ~Copyable {
  private let source: RawFile
  private let soundByteCount: Int
  private let movie: [UInt8]
  private let parts: [MovieBoxes.Box]

  /// Looks at a file; nil unless it is as libavformat writes it, with the `moov` box last: anything
  /// else has to be written anew.
  static func open(_ path: String) throws(MediaError) -> TaggedMovie? {
    let source = try RawFile(path: path, O_RDONLY)
    guard let boxes = try MovieBoxes.boxes(of: source), let last = boxes.last,
      boxes.map(\.name) == ["ftyp", "free", "mdat", "moov"], last.headerByteCount == 8,
      last.range.count <= greatestMovie
    else { return nil }
    let movie = try source.read(last.range.count, at: last.range.lowerBound)
    guard let parts = MovieBoxes.boxes(in: movie, 8..<movie.count),
      parts.map(\.name) == ["mvhd", "trak", "udta"]
    else { return nil }
    return TaggedMovie(
      source: source, soundByteCount: last.range.lowerBound, movie: movie, parts: parts)
  }

  /// A day of AAC has 16 MB.
  private static let greatestMovie = 256 << 20

  /// Writes the file to `target`, with the tags of the file of the same kind that is there already
  /// and holds no sound; not done, and nothing changed, where that one is not as expected.
  /// - Returns: the SHA-256 of what was written, if `isDigestWanted`.
  func write(
    to target: String, isDigestWanted: Bool
  ) throws(MediaError) -> (isDone: Bool, digest: Digest?) {
    let file = try RawFile(path: target, O_RDWR)
    let model = try file.read(file.byteCount, at: 0)
    guard let boxes = MovieBoxes.boxes(in: model, 0..<model.count),
      let movie = boxes.first(where: { $0.name == "moov" }),
      let parts = MovieBoxes.boxes(in: model, movie.content),
      let header = parts.first(where: { $0.name == "mvhd" }),
      let tags = parts.first(where: { $0.name == "udta" }),
      let created = Self.creation(model, header)
    else { return (false, nil) }
    let body = tagged(with: Array(model[tags.range]), created: created)
    var copy = try CopiedFile(at: target, isDigestWanted: isDigestWanted)
    try copy.append(0..<soundByteCount, of: source)
    try copy.append(
      MovieBoxes.bytes(UInt64(8 + body.count), count: 4) + Array("moov".utf8) + body)
    return (true, copy.digest())
  }

  /// The `moov` box's content, with other tags and times.
  private func tagged(with tags: [UInt8], created: UInt64) -> [UInt8] {
    var copy = movie
    func stamp(_ box: MovieBoxes.Box) {
      let isLong = copy[box.content.lowerBound] == 1
      let count = isLong ? 8 : 4
      let start = box.content.lowerBound + 4
      let time = MovieBoxes.bytes(created, count: count)
      copy.replaceSubrange(start..<start + 2 * count, with: time + time)
    }
    stamp(parts[0])
    let track = MovieBoxes.boxes(in: movie, parts[1].content) ?? []
    for box in track where box.name == "tkhd" { stamp(box) }
    for media in track where media.name == "mdia" {
      for box in MovieBoxes.boxes(in: movie, media.content) ?? [] where box.name == "mdhd" {
        stamp(box)
      }
    }
    return Array(copy[8..<parts[2].range.lowerBound]) + tags
  }

  /// When a movie was made, in seconds since 1904.
  private static func creation(_ bytes: [UInt8], _ header: MovieBoxes.Box) -> UInt64? {
    guard header.content.count >= 20 else { return nil }
    let count = bytes[header.content.lowerBound] == 1 ? 8 : 4
    let start = header.content.lowerBound + 4
    return MovieBoxes.integer(bytes[start..<start + count])
  }
}
