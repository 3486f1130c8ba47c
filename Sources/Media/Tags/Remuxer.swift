import Audio
import CLibAV
import CLibAVLoader
import Glibc
package import Platform

/// Copies encoded sound into a new file with tags, chapters and a cover picture, without re-encoding;
/// the copy's bytes depend on the arguments alone.
extension ExportSpec {
  /// Copies the sound of the file at `source`, which was exported like this, to a new file at
  /// `target`.
  ///
  /// Tags have libavformat's common names (`title`, `artist`, `album`, `date`, `genre`, `comment`,
  /// `description`, `creation_time` as ISO 8601); unsupported ones are omitted: M4A takes these and
  /// a few more, MP3 (ID3v2), FLAC, Opus and Vorbis take all, WAV takes the INFO ones and no
  /// picture. Tags of the source are dropped. Chapters are frames of ID3v2 in MP3, a track and a list
  /// in M4A, and comments in FLAC, Opus and Vorbis; WAV takes none. O(file size).
  /// - Parameter severalValues: of tags whose text joins them by semicolons: comments of FLAC, Opus and
  ///   Vorbis each hold one, other formats the text.
  /// - Returns: the SHA-256 of the written bytes, if `isDigestWanted`; computed during writing, or
  ///   by reading the file again if libavformat wrote it non-sequentially.
  @discardableResult
  package func copy(
    from source: String, to target: String, tags: [String: String],
    severalValues: [String: [String]] = [:],
    cover: CoverArt? = nil, chapters: [MediaProbe.Marker] = [], isDigestWanted: Bool = false
  ) throws(SpoolError) -> Digest? {
    let isTimeWithoutZone = Self.hasTimeWithoutZone(tags)
    let tags = inItsTime(tags)
    let (isDone, digest) = try tagMovie(
      from: source, to: target, tags: tags, cover: cover, chapters, isDigestWanted)
    if isDone { return digest }
    if case .mp3 = self {
      // Behind the tags come the bytes as they are: their first frame tells the exact length.
      try write(
        from: source, to: target, tags: tags, cover: cover, chapters: chapters,
        isSoundLeftOut: true)
      let source = try OpenFile(path: source, O_RDONLY)
      return try Self.append(
        0..<source.byteCount, of: source, behind: target,
        correcting: { ID3Tag.corrected($0, isTimeWithoutZone: isTimeWithoutZone) },
        isDigestWanted: isDigestWanted)
    }
    if case .flac = self {
      let source = try OpenFile(path: source, O_RDONLY)
      if let start = try Self.flacFramesStart(in: source) {
        try write(
          from: source.path, to: target, tags: tags, severalValues: severalValues, cover: cover,
          chapters: chapters, isSoundLeftOut: true)
        return try Self.append(
          start..<source.byteCount, of: source, behind: target, isDigestWanted: isDigestWanted)
      }
    }
    try write(
      from: source, to: target, tags: tags, severalValues: severalValues, cover: cover,
      chapters: chapters)
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

  /// Appends frames to the tags in a file, which `corrected` puts right.
  private static func append(
    _ frames: Range<Int>, of source: borrowing OpenFile, behind target: String,
    correcting corrected: ([UInt8]) -> [UInt8] = { $0 }, isDigestWanted: Bool
  ) throws(SpoolError) -> Digest? {
    let model = try OpenFile(path: target, O_RDONLY)
    let blocks = try model.read(model.byteCount, at: 0)
    var copy = try CopiedFile(at: target, isDigestWanted: isDigestWanted)
    try copy.append(corrected(blocks))
    try copy.append(frames, of: source)
    return copy.digest()
  }

  /// Copies an M4A file and exchanges its tag box; false if it must be remuxed.
  private func tagMovie(
    from source: String, to target: String, tags: [String: String],
    cover: CoverArt?, _ markers: [MediaProbe.Marker], _ isDigestWanted: Bool
  ) throws(SpoolError) -> (isDone: Bool, digest: Digest?) {
    try LibAV.require(for: target)
    // The template holds no sound, so its format does not matter.
    var settings = EncoderSettings(
      .aac(bitRate: 64_000), for: AudioFormat(sampleRate: Hertz(48_000), channelCount: 1))
    guard EncoderSettings.isMovie(self), let movie = try TaggedMovie.open(source) else {
      return (false, nil)
    }
    // The track of the chapters counts in it.
    settings.muxerOptions["movie_timescale"] = "\(movie.timeScale)"
    let chapters = markers.chapters(within: movie.duration, limit: chapterLimit)
      .fromBeginning(titled: tags["title"])
    let model = try OutputFile(path: target, muxer: settings.muxer)
    _ = try model.addStream(for: EncoderContext(settings, path: target))
    model.add(chapters)
    try model.begin(options: settings.muxerOptions, tags: tags, cover: cover)
    try model.finish()
    return try movie.write(
      to: target, hasChapters: !chapters.isEmpty, language: Self.language(in: tags),
      isDigestWanted: isDigestWanted)
  }

  /// Copies packet by packet.
  /// - Parameter isSoundLeftOut: whether to write only the header.
  func write(
    from source: String, to target: String, tags: [String: String],
    severalValues: [String: [String]] = [:], cover: CoverArt? = nil,
    chapters markers: [MediaProbe.Marker] = [], isSoundLeftOut: Bool = false
  ) throws(SpoolError) {
    let input = try InputFile(SourceFile(source))
    let index = try input.chooseSoundStream()
    let stream = unsafe input.stream(index)
    let timeBase = unsafe stream.pointee.time_base
    let parameters = unsafe stream.pointee.codecpar.pointee
    let format = unsafe AudioFormat(
      sampleRate: Hertz(Double(parameters.sample_rate)),
      channelCount: Int(parameters.ch_layout.nb_channels),
      positions: input.positions(ofStream: index))
    var settings = EncoderSettings(self, for: format)
    var tags = tags.merging(settings.formatTags) { _, own in own }
    if settings.muxer == "mp3", isSoundLeftOut {
      settings.muxerOptions = ["id3v2_version": "4", "write_xing": "0"]
    } else if settings.muxer == "ogg" {
      tags["METADATA_BLOCK_PICTURE"] = cover?.commentText
    }

    let chapters = markers.chapters(
      within: StreamLength(of: input, stream: index).duration, limit: chapterLimit)
    if settings.muxer == "mp3", chapters.contains(where: \.hasLongTitle) {
      settings.muxerOptions["id3v2_version"] = "3"
    }
    var commentNames: [String: String] = [:]
    if ["ogg", "flac"].contains(settings.muxer) {
      (tags, commentNames) = VorbisComments.draft(of: tags, severalValues: severalValues)
      tags.merge(chapters.comments) { _, new in new }
    }

    let output = try OutputFile(path: target, muxer: settings.muxer)
    if settings.muxer == "mp3" { output.add(chapters) }
    if settings.muxer == "ipod" { output.add(chapters.fromBeginning(titled: tags["title"])) }
    let sound = try unsafe output.addStream { copy in
      unsafe copy.pointee.time_base = timeBase
      let status = unsafe avcodec_parameters_copy(copy.pointee.codecpar, stream.pointee.codecpar)
      // The source's tag may be invalid in the new container; 0 lets the muxer choose.
      unsafe copy.pointee.codecpar.pointee.codec_tag = 0
      if settings.muxer == "ipod", let language = Self.language(in: tags) {
        unsafe av_dict_set(&copy.pointee.metadata, "language", language, 0)
      }
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
    try VorbisComments.name(commentNames, inFileAt: target)
  }
}

extension ExportSpec {
  /// The names of tags that the format has no place for, sorted. The sound of an M4A file has a
  /// language of three letters.
  /// - Parameter tags: by libavformat's common names.
  package func droppedTags(of tags: [String: String]) -> [String] {
    guard let held = heldTags else { return [] }
    let hasLanguage = EncoderSettings.isMovie(self) && Self.language(in: tags) != nil
    return tags.keys.filter { name in
      !held.contains(name.lowercased()) && !holds(information: name)
        && !(hasLanguage && name == "language")
    }.sorted()
  }

  /// The language of ISO 639-2 that tags name; nil if they name none, or in other words.
  private static func language(in tags: [String: String]) -> String? {
    guard let language = tags["language"]?.lowercased(), language.utf8.count == 3,
      language.utf8.allSatisfy({ (0x61...0x7A).contains($0) })
    else { return nil }
    return language
  }

  /// The tags as the format can tell a time: an M4A file's headers hold one in UTC alone, so that a time
  /// without a zone, of a recorder's own clock, counts as one. Other formats say it as it is; that of an
  /// MP3 file goes through libavformat as one in UTC, as it would take it for one of this machine's zone.
  private func inItsTime(_ tags: [String: String]) -> [String: String] {
    switch self {
    case .aac, .alac, .mp3: break
    case .wav, .flac, .opus, .vorbis: return tags
    }
    guard let time = tags["creation_time"], Self.hasTimeWithoutZone(tags) else { return tags }
    return tags.merging(["creation_time": time + "Z"]) { $1 }
  }

  private static func hasTimeWithoutZone(_ tags: [String: String]) -> Bool {
    tags["creation_time"]?.contains(/^\d{4}-\d\d-\d\d[T ][\d:.]+$/) == true
  }

  /// The entries of a WAV file's `INFO` list that have no common name; libavformat writes them by
  /// these very names.
  package static let informationTags = [
    "IARL", "ICMS", "ICRP", "IDIM", "IDPI", "IENG", "IKEY", "ILGT", "IMED", "IPLT", "ISBJ", "ISHP",
    "ISRC", "ISRF",
  ]

  /// The name of a tag for an entry of an `INFO` list; nil for entries that are none.
  static func tag(ofInformation entry: String) -> String? {
    let common = [
      "IART": "artist", "ICMT": "comment", "ICOP": "copyright", "ICRD": "date", "IGNR": "genre",
      "ILNG": "language", "INAM": "title", "IPRD": "album", "IPRT": "track", "ITRK": "track",
      "ISMP": "timecode", "ITCH": "encoded_by",
    ]
    return common[entry] ?? (informationTags.contains(entry) ? entry.lowercased() : nil)
  }

  private func holds(information name: String) -> Bool {
    if case .wav = self { Self.informationTags.contains(name) } else { false }
  }

  /// What libavformat writes into an M4A file's list, and into the `INFO` list of a WAV file; nil for
  /// formats that hold any tag. `creation_time` is in an M4A file's headers and in `bext`.
  private var heldTags: Set<String>? {
    switch self {
    case .aac, .alac:
      [
        "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre",
        "copyright", "grouping", "lyrics", "description", "synopsis", "show", "episode_id",
        "network", "keywords", "episode_sort", "season_number", "media_type", "hd_video",
        "gapless_playback", "compilation", "track", "disc", "tmpo", "creation_time",
      ]
    case .wav:
      [
        "title", "artist", "album", "date", "comment", "genre", "copyright", "track", "encoded_by",
        "timecode", "creation_time", "language",
      ]
    case .flac, .mp3, .opus, .vorbis: nil
    }
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
      // Muxers take the kind of the picture from here.
      unsafe av_dict_set(&stream.pointee.metadata, "comment", "Cover (front)", 0)
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
