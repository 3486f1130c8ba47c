public import AudioModel
public import Hashing

/// Copies WAV files, and gives them what Broadcast Wave tells about sound; the samples are copied as
/// they lie there.
public enum BroadcastWave {
  /// The rate and the channels of a WAV file, and how many frames it has; nil where the file at
  /// `path` is no WAV file.
  public static func extent(
    of path: String
  ) throws(MediaError) -> (format: AudioFormat, frames: Frames)? {
    guard let wave = try WaveChunks.open(path), let data = wave.first("data"),
      let format = try WaveFormat(of: wave)
    else { return nil }
    return (
      AudioFormat(sampleRate: Hertz(Double(format.rate)), channelCount: format.channelCount),
      Frames(data.content.count / format.blockByteCount)
    )
  }

  /// Copies the WAV file at `source` to the file at `target`, with these notes and tags in place of
  /// its own. The file is RF64 where it has to be. O(file size); the bytes depend on the arguments
  /// alone.
  ///
  /// Tags have libavformat's common names; those that the `INFO` list has no place for are left out.
  /// - Returns: the SHA-256 of what was written, if `isDigestWanted`.
  @discardableResult
  public static func copy(
    from source: String, to target: String, notes: BroadcastNotes, tags: [String: String] = [:],
    isDigestWanted: Bool = false
  ) throws(MediaError) -> Digest? {
    try copy(
      from: source, to: target, notes: notes, tags: tags, limit: WaveHeader.greatestLength,
      isDigestWanted: isDigestWanted)
  }

  /// - Parameter limit: the length from which on the file is RF64.
  @discardableResult
  static func copy(
    from source: String, to target: String, notes: BroadcastNotes, tags: [String: String],
    limit: Int, isDigestWanted: Bool = false
  ) throws(MediaError) -> Digest? {
    guard let wave = try WaveChunks.open(source), let data = wave.first("data"),
      let format = try WaveFormat(of: wave)
    else {
      throw MediaError(.unsupported, "tag", path: source, reason: "it is no WAV file")
    }
    let lists = tags.isEmpty ? [] : try informationLists(tags, model: target)
    var header = WaveHeader()
    // In front, as the standard recommends: readers of streams find it before the samples.
    header.chunks = notes.chunks.filter { $0.name == "bext" }
    header.append("fmt ", format.bytes)
    if let fact = wave.first("fact"), let bytes = try wave.bytes(of: fact) {
      header.append("fact", bytes)
    }
    for list in lists { header.append("LIST", Array("INFO".utf8) + list) }
    header.chunks += notes.chunks.filter { $0.name != "bext" }

    let count = data.content.count
    let head = header.bytes(
      dataByteCount: count, blockByteCount: format.blockByteCount, limit: limit)
    var file = try CopiedFile(at: target, isDigestWanted: isDigestWanted)
    try file.append(head)
    try file.append(data.content, of: wave.file)
    if count % 2 == 1 { try file.append([0]) }
    return file.digest()
  }

  /// The lists of tags that libavformat writes, by way of a file at `path` without sound.
  private static func informationLists(
    _ tags: [String: String], model path: String
  ) throws(MediaError) -> [[UInt8]] {
    let settings = EncoderSettings(
      .wav(.integer(.bits16)), for: AudioFormat(sampleRate: Hertz(48_000), channelCount: 1))
    let model = try OutputFile(path: path, muxer: settings.muxer)
    _ = try model.addStream(for: EncoderContext(settings, path: path))
    try model.begin(options: settings.muxerOptions, tags: tags)
    try model.finish()
    return try WaveChunks.open(path)?.lists("INFO") ?? []
  }
}
