import Audio
import Glibc
import Platform

/// An M4A file with exchanged tags: the sound is copied unchanged and only the tag box replaced.
/// This needs no packet table, and the bytes equal those of libavformat but for an item about the
/// lengths of AAC; with chapters, whose titles
/// and track follow the sound, the file differs from libavformat's in the order of its parts alone.
struct TaggedMovie: ~Copyable {
  private let source: OpenFile
  private let soundByteCount: Int
  private let movie: [UInt8]
  private let parts: [MovieBox]

  /// Opens a file; nil unless it has libavformat's layout, with the `moov` box last: others must be
  /// remuxed.
  static func open(_ path: String) throws(SpoolError) -> TaggedMovie? {
    let source = try OpenFile(path: path, O_RDONLY)
    guard
      let boxes = try MovieBox.boxes(
        in: 0..<source.byteCount,
        { (range) throws(SpoolError) in try source.read(range.count, at: range.lowerBound) }),
      let last = boxes.last,
      boxes.map(\.name) == ["ftyp", "free", "mdat", "moov"], last.headerByteCount == 8,
      last.range.count <= greatestMovie
    else { return nil }
    let movie = try source.read(last.range.count, at: last.range.lowerBound)
    guard let parts = MovieBox.boxes(in: 8..<movie.count, { Array(movie[$0]) }),
      parts.map(\.name) == ["mvhd", "trak", "udta"]
    else { return nil }
    return TaggedMovie(
      source: source, soundByteCount: last.range.lowerBound, movie: movie, parts: parts)
  }

  /// A day of AAC has 16 MB.
  private static let greatestMovie = 256 << 20

  /// Units of the file's time in a second.
  var timeScale: Int { number(parts[0], at: isLong ? 20 : 12, count: 4) }

  /// The length of the sound; nil if none is declared.
  var duration: Seconds? {
    let units = number(parts[0], at: isLong ? 24 : 16, count: isLong ? 8 : 4)
    return timeScale > 0 && units > 0 ? Seconds(Double(units) / Double(timeScale)) : nil
  }

  private var isLong: Bool { movie[parts[0].content.lowerBound] == 1 }

  private func number(_ box: MovieBox, at offset: Int, count: Int) -> Int {
    let start = box.content.lowerBound + offset
    guard start + count <= box.content.upperBound else { return 0 }
    return Int(clamping: UInt64(bigEndianBytes: movie[start..<start + count]))
  }

  /// Adds the item about the lengths of AAC to a file that libavformat has just written; leaves others as
  /// they are.
  static func noteGaps(in path: String) throws(SpoolError) {
    guard let movie = try open(path), let item = movie.gaplessItem,
      let tags = tags(Array(movie.movie[movie.parts[2].range]), with: item)
    else { return }
    let body = Array(movie.movie[8..<movie.parts[2].range.lowerBound]) + tags
    let file = try OpenFile(path: path, O_RDWR)
    try file.write(
      (8 + body.count).bigEndianBytes(4) + Array("moov".utf8) + body, at: movie.soundByteCount)
  }

  /// Writes the file to `target`, with the tags and the chapters of the soundless file of the same
  /// type that exists there; false, without any change, if that file is not as expected.
  /// - Parameter language: of the sound, in three letters of ISO 639-2; nil leaves it as it is.
  /// - Returns: the SHA-256 of the written bytes, if `isDigestWanted`.
  func write(
    to target: String, hasChapters: Bool = false, language: String? = nil, isDigestWanted: Bool
  ) throws(SpoolError) -> (isDone: Bool, digest: Digest?) {
    let file = try OpenFile(path: target, O_RDWR)
    let model = try file.read(file.byteCount, at: 0)
    guard let boxes = MovieBox.boxes(in: 0..<model.count, { Array(model[$0]) }),
      let movie = boxes.first(where: { $0.name == "moov" }),
      let parts = MovieBox.boxes(in: movie.content, { Array(model[$0]) }),
      let header = parts.first(where: { $0.name == "mvhd" }),
      let tags = parts.first(where: { $0.name == "udta" }),
      let created = Self.creation(model, header)
    else { return (false, nil) }
    var chapters: ChapterTrack?
    if hasChapters {
      guard
        let track = ChapterTrack(
          model, titles: boxes.first { $0.name == "mdat" },
          track: parts.first { $0.name == "trak" }, titlesAt: soundByteCount + 8)
      else { return (false, nil) }
      chapters = track
    }
    var own = Array(model[tags.range])
    if let gaps = gaplessItem { own = Self.tags(own, with: gaps) ?? own }
    let body = tagged(with: own, chapters, language, created: created)
    var copy = try CopiedFile(at: target, isDigestWanted: isDigestWanted)
    try copy.append(0..<soundByteCount, of: source)
    if let titles = chapters?.titles {
      try copy.append((8 + titles.count).bigEndianBytes(4) + Array("mdat".utf8) + titles)
    }
    try copy.append((8 + body.count).bigEndianBytes(4) + Array("moov".utf8) + body)
    return (true, copy.digest())
  }

  /// The `moov` box's content, with other tags, chapters, language and times.
  private func tagged(
    with tags: [UInt8], _ chapters: ChapterTrack?, _ language: String?, created: UInt64
  ) -> [UInt8] {
    var copy = movie
    func stamp(_ box: MovieBox) {
      let isLong = copy[box.content.lowerBound] == 1
      let count = isLong ? 8 : 4
      let start = box.content.lowerBound + 4
      guard start + 2 * count <= box.content.upperBound else { return }
      let time = created.bigEndianBytes(count)
      copy.replaceSubrange(start..<start + 2 * count, with: time + time)
    }
    stamp(parts[0])
    let track = MovieBox.boxes(in: parts[1].content, { Array(movie[$0]) }) ?? []
    for box in track where box.name == "tkhd" { stamp(box) }
    for media in track where media.name == "mdia" {
      for box in MovieBox.boxes(in: media.content, { Array(movie[$0]) }) ?? []
      where box.name == "mdhd" {
        stamp(box)
        guard let language else { continue }
        // Behind the length; five bits a letter (ISO/IEC 14496-12, section 8.4.2).
        let start = box.content.lowerBound + (copy[box.content.lowerBound] == 1 ? 32 : 20)
        guard start + 2 <= box.content.upperBound else { continue }
        let letters = language.utf8.reduce(0) { $0 << 5 | Int($1 & 0x1F) }
        copy.replaceSubrange(start..<start + 2, with: letters.bigEndianBytes(2))
      }
    }
    guard let chapters else { return Array(copy[8..<parts[2].range.lowerBound]) + tags }
    // The header ends with the number of the next track.
    let next = parts[0].range.upperBound - 4
    copy.replaceSubrange(next..<next + 4, with: (chapters.number + 1).bigEndianBytes(4))
    // The sound's track names the one of its chapters, behind its first boxes as in libavformat.
    let reference =
      20.bigEndianBytes(4) + Array("tref".utf8) + 12.bigEndianBytes(4) + Array("chap".utf8)
      + chapters.number.bigEndianBytes(4)
    let place =
      track.last { ["tkhd", "edts"].contains($0.name) }?.range.upperBound
      ?? parts[1].content.upperBound
    let sound = parts[1]
    return Array(copy[8..<sound.range.lowerBound])
      + (sound.range.count + reference.count).bigEndianBytes(4) + Array("trak".utf8)
      + copy[sound.content.lowerBound..<place] + reference + copy[place..<sound.range.upperBound]
      + chapters.track + tags
  }

  /// The item by which players that read no edit list know how many frames the encoder of AAC has put
  /// in front and behind: `iTunSMPB`, as iTunes writes it. Nil for a sound with nothing in front of it,
  /// and where the edit list counts in other units than the sound.
  private var gaplessItem: [UInt8]? {
    let track = parts[1].content
    func content(_ path: [String]) -> ArraySlice<UInt8>? {
      MovieBox.box(path, in: movie, track).map { movie[$0.content] }
    }
    func number(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ count: Int) -> Int? {
      let start = bytes.startIndex + offset
      guard start + count <= bytes.endIndex else { return nil }
      return Int(exactly: UInt64(bigEndianBytes: bytes[start..<start + count]))
    }
    guard let edits = content(["edts", "elst"]), number(edits, 4, 4) == 1,
      let header = content(["mdia", "mdhd"]),
      number(header, header.first == 1 ? 20 : 12, 4) == timeScale,
      let times = content(["mdia", "minf", "stbl", "stts"]), let runs = number(times, 4, 4),
      runs > 0, let packet = number(times, 12, 4), packet < 1 << 16
    else { return nil }
    let count = edits.first == 1 ? 8 : 4
    var packets = 0
    for run in 0..<runs {
      guard let next = number(times, 8 + 8 * run, 4) else { return nil }
      packets += next
    }
    guard let length = number(edits, 8, count), let priming = number(edits, 8 + count, count),
      priming > 0, priming < 1 << 16, packets < 1 << 40, length < 1 << 56
    else { return nil }
    let padding = packets * packet - priming - length
    guard padding >= 0, padding < 1 << 31 else { return nil }
    func hex(_ value: Int, _ digits: Int) -> String {
      let text = String(value, radix: 16, uppercase: true)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    let text =
      " " + hex(0, 8) + " " + hex(priming, 8) + " " + hex(padding, 8) + " " + hex(length, 16)
      + String(repeating: " " + hex(0, 8), count: 8)
    func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
      (8 + content.count).bigEndianBytes(4) + Array(name.utf8) + content
    }
    return box(
      "----",
      box("mean", 0.bigEndianBytes(4) + Array("com.apple.iTunes".utf8))
        + box("name", 0.bigEndianBytes(4) + Array("iTunSMPB".utf8))
        + box("data", 1.bigEndianBytes(4) + 0.bigEndianBytes(4) + Array(text.utf8)))
  }

  /// A tag box with one more item at its end; nil if it has no list of items.
  private static func tags(_ tags: [UInt8], with item: [UInt8]) -> [UInt8]? {
    guard let meta = MovieBox.box(["meta"], in: tags, 8..<tags.count), meta.content.count > 4,
      let list = MovieBox.box(
        ["ilst"], in: tags, meta.content.lowerBound + 4..<meta.content.upperBound),
      meta.headerByteCount == 8, list.headerByteCount == 8
    else { return nil }
    var longer = tags
    for (start, count) in [
      (0, tags.count), (meta.range.lowerBound, meta.range.count),
      (list.range.lowerBound, list.range.count),
    ] {
      longer.replaceSubrange(start..<start + 4, with: (count + item.count).bigEndianBytes(4))
    }
    longer.insert(contentsOf: item, at: list.range.upperBound)
    return longer
  }

  /// The creation time, in seconds since 1904.
  private static func creation(_ bytes: [UInt8], _ header: MovieBox) -> UInt64? {
    guard header.content.count >= 20 else { return nil }
    let count = bytes[header.content.lowerBound] == 1 ? 8 : 4
    let start = header.content.lowerBound + 4
    return UInt64(bigEndianBytes: bytes[start..<start + count])
  }
}

/// The track of a soundless file that libavformat wrote with chapters, for another place.
private struct ChapterTrack {
  /// The titles, as its samples.
  let titles: [UInt8]
  /// Its `trak` box.
  let track: [UInt8]
  /// The number by which the sound's track names it.
  let number: Int

  /// Nil if the file is not as expected, or the place is too far from the beginning of the file.
  /// - Parameters:
  ///   - titles: the box with the samples.
  ///   - titlesAt: where the samples will lie.
  init?(_ model: [UInt8], titles: MovieBox?, track: MovieBox?, titlesAt place: Int) {
    guard let titles, let track, track.headerByteCount == 8 else { return nil }
    self.titles = Array(model[titles.content])
    var bytes = Array(model[track.range])
    guard let header = MovieBox.box(["tkhd"], in: bytes, 8..<bytes.count),
      header.content.count >= 24,
      let offsets = MovieBox.box(
        ["mdia", "minf", "stbl", "stco"], in: bytes, 8..<bytes.count),
      offsets.content.count >= 8
    else { return nil }
    let isLong = bytes[header.content.lowerBound] == 1
    let start = header.content.lowerBound + (isLong ? 20 : 12)
    number = Int(bigEndianBytes: bytes[start..<start + 4])
    for start in stride(
      from: offsets.content.lowerBound + 8, to: offsets.content.upperBound - 3, by: 4)
    {
      let old = Int(bigEndianBytes: bytes[start..<start + 4])
      let new = old - titles.content.lowerBound + place
      guard old >= titles.content.lowerBound, new <= Int(UInt32.max) else { return nil }
      bytes.replaceSubrange(start..<start + 4, with: new.bigEndianBytes(4))
    }
    self.track = bytes
  }
}

/// A box of an MP4 file (ISO/IEC 14496-12, section 4.2).
struct MovieBox: Hashable {
  let name: String
  /// The box with its header.
  let range: Range<Int>
  let headerByteCount: Int

  var content: Range<Int> { range.lowerBound + headerByteCount..<range.upperBound }

  /// The boxes in a byte range; nil if they do not fill it.
  /// - Parameter bytes: gives the bytes of a range.
  static func boxes<Failure: Error>(
    in range: Range<Int>, _ bytes: (Range<Int>) throws(Failure) -> [UInt8]
  ) throws(Failure) -> [MovieBox]? {
    var boxes: [MovieBox] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let head = try bytes(start..<min(start + 16, range.upperBound))
      guard let box = MovieBox(head, at: start, end: range.upperBound) else { return nil }
      boxes.append(box)
      start = box.range.upperBound
    }
    return boxes
  }

  /// The box at a path of names in a range of bytes; nil if there is none.
  static func box(_ path: [String], in bytes: [UInt8], _ range: Range<Int>) -> MovieBox? {
    box(path, in: range) { boxes(in: $0, { Array(bytes[$0]) }) ?? [] }
  }

  /// The box at a path of names in a byte range; nil if there is none.
  /// - Parameter boxes: gives the boxes in a range.
  static func box(
    _ path: [String], in range: Range<Int>, _ boxes: (Range<Int>) -> [MovieBox]
  ) -> MovieBox? {
    var found: MovieBox?
    for name in path {
      found = boxes(found?.content ?? range).first { $0.name == name }
      guard found != nil else { return nil }
    }
    return found
  }

  /// The box whose first bytes, 16 if there are so many, are given; nil if none begins there, or if it
  /// does not end by `end`.
  init?(_ head: [UInt8], at start: Int, end: Int) {
    guard head.count >= 8 else { return nil }
    name = String(decoding: head[4..<8], as: UTF8.self)
    let short = UInt64(bigEndianBytes: head[0..<4])
    // 1 means a 64-bit length follows.
    guard short != 1 || head.count >= 16 else { return nil }
    let length = short == 1 ? UInt64(bigEndianBytes: head[8..<16]) : short
    headerByteCount = short == 1 ? 16 : 8
    guard length >= headerByteCount, length <= UInt64(end - start) else { return nil }
    range = start..<start + Int(length)
  }
}
