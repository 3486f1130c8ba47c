import Audio
import CLibAV
import CLibAVLoader
import Glibc
package import Platform

/// Copies encoded sound into a new file with tags and a cover picture, without re-encoding; the
/// copy's bytes depend on the arguments alone.
extension ExportSpec {
  /// Copies the sound of the file at `source`, which was exported like this, to a new file at
  /// `target`.
  ///
  /// Tags have libavformat's common names (`title`, `artist`, `album`, `date`, `genre`, `comment`,
  /// `description`, `creation_time` as ISO 8601); unsupported ones are omitted: M4A takes these and
  /// a few more, MP3 (ID3v2.4), FLAC, Opus and Vorbis take all, WAV takes the INFO ones and no
  /// picture. Tags of the source are
  /// dropped. O(file size).
  /// - Returns: the SHA-256 of the written bytes, if `isDigestWanted`; computed during writing, or
  ///   by reading the file again if libavformat wrote it non-sequentially.
  @discardableResult
  package func copy(
    from source: String, to target: String, tags: [String: String],
    cover: CoverArt? = nil, isDigestWanted: Bool = false
  ) throws(SpoolError) -> Digest? {
    let (isDone, digest) = try tagMovie(
      from: source, to: target, tags: tags, cover: cover, isDigestWanted)
    if isDone { return digest }
    if case .mp3 = self {
      // Behind the tags come the bytes as they are: their first frame tells the exact length.
      try write(from: source, to: target, tags: tags, cover: cover, isSoundLeftOut: true)
      let source = try OpenFile(path: source, O_RDONLY)
      return try Self.append(
        0..<source.byteCount, of: source, behind: target, isDigestWanted: isDigestWanted)
    }
    if case .flac = self {
      let source = try OpenFile(path: source, O_RDONLY)
      if let start = try Self.flacFramesStart(in: source) {
        try write(
          from: source.path, to: target, tags: tags, cover: cover, isSoundLeftOut: true)
        return try Self.append(
          start..<source.byteCount, of: source, behind: target, isDigestWanted: isDigestWanted)
      }
    }
    try write(from: source, to: target, tags: tags, cover: cover)
    return isDigestWanted ? try CopiedFile.digest(ofWritten: target) : nil
  }

  /// The offset of the first frame of a FLAC file, behind the metadata blocks (RFC 9639, section 8);
  /// nil if the file is not valid.
  private static func flacFramesStart(in file: borrowing OpenFile) throws(SpoolError) -> Int? {
    let size = try file.byteCount
    guard size > 8, try file.read(4, at: 0) == Array("fLaC".utf8) else { return nil }
    var start = 4
    // More blocks than any program writes.
    for _ in 0..<1024 {
      guard start + 4 <= size else { return nil }
      let head = try file.read(4, at: start)
      start += 4 + (Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3]))
      if head[0] & 0x80 != 0 { return start <= size ? start : nil }
    }
    return nil
  }

  /// Appends frames to the tags in a file.
  private static func append(
    _ frames: Range<Int>, of source: borrowing OpenFile, behind target: String,
    isDigestWanted: Bool
  ) throws(SpoolError) -> Digest? {
    let model = try OpenFile(path: target, O_RDONLY)
    let blocks = try model.read(model.byteCount, at: 0)
    var copy = try CopiedFile(at: target, isDigestWanted: isDigestWanted)
    try copy.append(blocks)
    try copy.append(frames, of: source)
    return copy.digest()
  }

  /// Copies an M4A file and exchanges its tag box; false if it must be remuxed.
  private func tagMovie(
    from source: String, to target: String, tags: [String: String],
    cover: CoverArt?, _ isDigestWanted: Bool
  ) throws(SpoolError) -> (isDone: Bool, digest: Digest?) {
    try LibAV.require(for: target)
    // The template holds no sound, so its format does not matter.
    let settings = EncoderSettings(
      .aac(bitRate: 64_000), for: AudioFormat(sampleRate: Hertz(48_000), channelCount: 1))
    guard EncoderSettings.isMovie(self), let movie = try TaggedMovie.open(source) else {
      return (false, nil)
    }
    let model = try OutputFile(path: target, muxer: settings.muxer)
    _ = try model.addStream(for: EncoderContext(settings, path: target))
    try model.begin(options: settings.muxerOptions, tags: tags, cover: cover)
    try model.finish()
    return try movie.write(to: target, isDigestWanted: isDigestWanted)
  }

  /// Copies packet by packet.
  /// - Parameter isSoundLeftOut: whether to write only the header.
  func write(
    from source: String, to target: String, tags: [String: String],
    cover: CoverArt? = nil, isSoundLeftOut: Bool = false
  ) throws(SpoolError) {
    let input = try InputFile(SourceFile(source))
    let index = try input.chooseSoundStream()
    let stream = unsafe input.stream(index)
    let timeBase = unsafe stream.pointee.time_base
    let parameters = unsafe stream.pointee.codecpar.pointee
    let format = unsafe AudioFormat(
      sampleRate: Hertz(Double(parameters.sample_rate)),
      channelCount: Int(parameters.ch_layout.nb_channels))
    var settings = EncoderSettings(self, for: format)
    var tags = tags
    if settings.muxer == "mp3", isSoundLeftOut {
      settings.muxerOptions = ["id3v2_version": "4", "write_xing": "0"]
    } else if settings.muxer == "ogg" {
      tags["METADATA_BLOCK_PICTURE"] = cover?.commentText
    }

    let output = try OutputFile(path: target, muxer: settings.muxer)
    let sound = try unsafe output.addStream { copy in
      unsafe copy.pointee.time_base = timeBase
      let status = unsafe avcodec_parameters_copy(copy.pointee.codecpar, stream.pointee.codecpar)
      // The source's tag may be invalid in the new container; 0 lets the muxer choose.
      unsafe copy.pointee.codecpar.pointee.codec_tag = 0
      return status
    }
    try output.begin(
      options: settings.muxerOptions, tags: tags,
      cover: ["wav", "ogg"].contains(settings.muxer) ? nil : cover)
    let packet = Packet()
    while !isSoundLeftOut {
      packet.clear()
      let status = LibAV.calling { unsafe av_read_frame(input.context, packet.pointer) }
      if status == spool_averror_eof() { break }
      guard status >= 0 else {
        throw SpoolError("read", source, reason: LibAV.reason(status), advice: SpoolError.tryAgain)
      }
      guard unsafe Int(packet.pointer.pointee.stream_index) == index else { continue }
      try output.write(packet, stream: sound, timeBase: timeBase)
    }
    try output.finish()
  }
}

extension OutputFile {
  /// Writes the header, with a stream for a cover picture, and the picture.
  fileprivate func begin(
    options: [String: String], tags: [String: String], cover: CoverArt?
  ) throws(SpoolError) {
    let stream = try cover.map { (cover) throws(SpoolError) in try addStream(for: cover) }
    try begin(options: options, tags: tags)
    guard let cover, let stream else { return }
    let packet = Packet()
    packet.fill(with: cover.bytes)
    unsafe packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY
    unsafe packet.pointer.pointee.pts = 0
    unsafe packet.pointer.pointee.dts = 0
    try write(packet, stream: stream, timeBase: timeBase(ofStream: stream))
  }

  /// Adds the stream of a cover picture.
  private func addStream(for cover: CoverArt) throws(SpoolError) -> Int {
    guard let size = cover.size else {
      throw SpoolError(
        "write the cover picture to", path,
        reason: "the picture's header cannot be read", advice: "save it again as JPEG or PNG",
        cause: .input)
    }
    return try unsafe addStream { stream in
      unsafe stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
      let parameters = unsafe stream.pointee.codecpar
      unsafe parameters?.pointee.codec_type = AVMEDIA_TYPE_VIDEO
      unsafe parameters?.pointee.codec_id =
        cover.mimeType == "image/png" ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG
      unsafe parameters?.pointee.width = Int32(size.width)
      unsafe parameters?.pointee.height = Int32(size.height)
      return 0
    }
  }
}

/// An M4A file with exchanged tags: the sound is copied unchanged and only the tag box replaced.
/// This needs no packet table, and the bytes equal those of libavformat.
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

  /// Writes the file to `target`, with the tags of the soundless file of the same type that exists
  /// there; false, without any change, if that file is not as expected.
  /// - Returns: the SHA-256 of the written bytes, if `isDigestWanted`.
  func write(
    to target: String, isDigestWanted: Bool
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
    let body = tagged(with: Array(model[tags.range]), created: created)
    var copy = try CopiedFile(at: target, isDigestWanted: isDigestWanted)
    try copy.append(0..<soundByteCount, of: source)
    try copy.append((8 + body.count).bigEndianBytes(4) + Array("moov".utf8) + body)
    return (true, copy.digest())
  }

  /// The `moov` box's content, with other tags and times.
  private func tagged(with tags: [UInt8], created: UInt64) -> [UInt8] {
    var copy = movie
    func stamp(_ box: MovieBox) {
      let isLong = copy[box.content.lowerBound] == 1
      let count = isLong ? 8 : 4
      let start = box.content.lowerBound + 4
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
      }
    }
    return Array(copy[8..<parts[2].range.lowerBound]) + tags
  }

  /// The creation time, in seconds since 1904.
  private static func creation(_ bytes: [UInt8], _ header: MovieBox) -> UInt64? {
    guard header.content.count >= 20 else { return nil }
    let count = bytes[header.content.lowerBound] == 1 ? 8 : 4
    let start = header.content.lowerBound + 4
    return UInt64(bigEndianBytes: bytes[start..<start + count])
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

  private init?(_ head: [UInt8], at start: Int, end: Int) {
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
