internal import AudioModel
internal import CLibAV
internal import CLibAVLoader
import Glibc
public import Hashing

/// Copies encoded sound into a new file with tags and a cover picture, without encoding it again:
/// the decoded samples stay the same, and the copy's bytes depend on the arguments alone.
public enum Remuxer {
  /// Copies the sound of the file at `source`, which was exported as `spec`, to a new file at
  /// `target`.
  ///
  /// Tags have libavformat's common names (`title`, `artist`, `album`, `date`, `genre`, `comment`,
  /// `description`, `creation_time` as ISO 8601); a container leaves out what it has no place for:
  /// M4A takes these and a few more, FLAC takes all, WAV takes the INFO ones and no picture. Tags
  /// of the source are not kept. O(file size).
  /// - Returns: the SHA-256 of what was written, if `isDigestWanted`: reckoned while it is written,
  ///   except of what libavformat goes back in, which is read once more.
  @discardableResult
  public static func copy(
    from source: String, to target: String, spec: ExportSpec, tags: [String: String],
    cover: CoverArt? = nil, isDigestWanted: Bool = false
  ) throws(MediaError) -> Digest? {
    let (isDone, digest) = try tagMovie(
      from: source, to: target, spec: spec, tags: tags, cover: cover, isDigestWanted)
    if isDone { return digest }
    if case .flac = spec {
      let source = try RawFile(path: source, O_RDONLY)
      if let start = try FLACBlocks.framesStart(in: source) {
        try write(
          from: source.path, to: target, spec: spec, tags: tags, cover: cover, isSoundLeftOut: true)
        return try Self.append(
          start..<source.byteCount, of: source, behind: target, isDigestWanted: isDigestWanted)
      }
    }
    try write(from: source, to: target, spec: spec, tags: tags, cover: cover)
    return isDigestWanted ? try CopiedFile.digest(ofWritten: target) : nil
  }

  /// Puts frames behind the blocks that are in a file already.
  private static func append(
    _ frames: Range<Int>, of source: borrowing RawFile, behind target: String,
    isDigestWanted: Bool
  ) throws(MediaError) -> Digest? {
    let model = try RawFile(path: target, O_RDONLY)
    let blocks = try model.read(model.byteCount, at: 0)
    var copy = try CopiedFile(at: target, isDigestWanted: isDigestWanted)
    try copy.append(blocks)
    try copy.append(frames, of: source)
    return copy.digest()
  }

  /// Copies an M4A file by exchanging the box with its tags; not done where it has to be written anew.
  private static func tagMovie(
    from source: String, to target: String, spec: ExportSpec, tags: [String: String],
    cover: CoverArt?, _ isDigestWanted: Bool
  ) throws(MediaError) -> (isDone: Bool, digest: Digest?) {
    try LibAV.require(for: target)
    // What kind of sound the model would have does not matter: it has none.
    let settings = EncoderSettings(
      .aac(bitRate: 64_000), for: AudioFormat(sampleRate: Hertz(48_000), channelCount: 1))
    guard EncoderSettings.isMovie(spec), let movie = try TaggedMovie.open(source) else {
      return (false, nil)
    }
    let model = try OutputFile(path: target, muxer: settings.muxer)
    _ = try model.addStream(for: EncoderContext(settings, path: target))
    let pictureStream = try cover.map { (cover) throws(MediaError) in
      try model.addStream(for: cover)
    }
    try model.begin(options: settings.muxerOptions, tags: tags)
    if let cover, let pictureStream { try model.write(cover, stream: pictureStream) }
    try model.finish()
    return try movie.write(to: target, isDigestWanted: isDigestWanted)
  }

  /// Copies packet by packet.
  /// - Parameter isSoundLeftOut: whether only what stands before the first packet is written.
  static func write(
    from source: String, to target: String, spec: ExportSpec, tags: [String: String],
    cover: CoverArt? = nil, isSoundLeftOut: Bool = false
  ) throws(MediaError) {
    let input = try InputFile(path: source)
    let index = try input.chooseSoundStream()
    let stream = unsafe input.stream(index)
    let timeBase = unsafe stream.pointee.time_base
    let parameters = unsafe stream.pointee.codecpar.pointee
    let format = unsafe AudioFormat(
      sampleRate: Hertz(Double(parameters.sample_rate)),
      channelCount: Int(parameters.ch_layout.nb_channels))
    let settings = EncoderSettings(spec, for: format)

    let output = try OutputFile(path: target, muxer: settings.muxer)
    let sound = try unsafe output.addStream { copy in
      unsafe copy.pointee.time_base = timeBase
      let status = unsafe avcodec_parameters_copy(copy.pointee.codecpar, stream.pointee.codecpar)
      // The source's tag may mean nothing in the new container; 0 lets it choose.
      unsafe copy.pointee.codecpar.pointee.codec_tag = 0
      return status
    }
    let picture = settings.muxer == "wav" ? nil : cover
    let pictureStream = try picture.map { (cover) throws(MediaError) in
      try output.addStream(for: cover)
    }
    try output.begin(options: settings.muxerOptions, tags: tags)

    if let picture, let pictureStream { try output.write(picture, stream: pictureStream) }
    let packet = Packet()
    while !isSoundLeftOut {
      packet.clear()
      let status = LibAV.calling { unsafe av_read_frame(input.context, packet.pointer) }
      if status == spool_averror_eof() { break }
      guard status >= 0 else {
        throw MediaError(.unreadable, "read", path: source, reason: LibAV.reason(status))
      }
      guard unsafe Int(packet.pointer.pointee.stream_index) == index else { continue }
      try output.write(packet, stream: sound, timeBase: timeBase)
    }
    try output.finish()
  }
}

extension OutputFile {
  /// Writes a cover picture into its stream.
  fileprivate func write(_ cover: CoverArt, stream: Int) throws(MediaError) {
    let packet = Packet()
    packet.fill(with: cover.bytes)
    unsafe packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY
    unsafe packet.pointer.pointee.pts = 0
    unsafe packet.pointer.pointee.dts = 0
    try write(packet, stream: stream, timeBase: timeBase(ofStream: stream))
  }

  /// Adds the stream of a cover picture.
  fileprivate func addStream(for cover: CoverArt) throws(MediaError) -> Int {
    guard let size = cover.size else {
      throw MediaError(
        .unsupported, "write the cover picture to", path: path,
        reason: "the picture's header cannot be read", advice: "save it again as JPEG or PNG")
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
