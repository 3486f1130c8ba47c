package import Audio
package import Platform

/// Copies WAV files and adds Broadcast Wave metadata; the samples are copied unchanged.
package enum BroadcastWave {
  /// The rate, channels and frame count of a WAV file; nil if the file at `path` is not one.
  package static func extent(
    of path: String
  ) throws(SpoolError) -> (format: AudioFormat, frames: Frames)? {
    guard let samples = try Samples.open(path) else { return nil }
    return (samples.format, Frames(samples.frameCount))
  }

  /// The samples of a WAV file, as bytes.
  package struct Samples: ~Copyable {
    let format: AudioFormat
    package let frameByteCount: Int
    /// How many whole frames there are.
    package let frameCount: Int
    private let file: OpenFile
    private let start: Int

    /// Opens the file at `path`; nil if it is not a WAV file. Throws if it cannot be read.
    package static func open(_ path: String) throws(SpoolError) -> Samples? {
      guard let wave = try WaveChunks.open(path), let data = wave.first("data"),
        let format = try WaveChunks.Format(of: wave)
      else { return nil }
      return Samples(
        format: AudioFormat(
          sampleRate: Hertz(Double(format.rate)), channelCount: format.channelCount),
        frameByteCount: format.blockByteCount,
        frameCount: data.content.count / format.blockByteCount, file: wave.file,
        start: data.content.lowerBound)
    }

    /// The bytes of existing frames. O(bytes).
    package func bytes(_ frames: Range<Int>) throws(SpoolError) -> [UInt8] {
      precondition(frames.lowerBound >= 0 && frames.upperBound <= frameCount)
      return try file.read(
        frames.count * frameByteCount, at: start + frames.lowerBound * frameByteCount)
    }
  }

  /// Copies the WAV file at `source` to `target` with these notes and tags instead of its own. The
  /// file is RF64 if it needs to be. O(file size); the bytes depend on the arguments alone.
  ///
  /// Tags have libavformat's common names; those without a place in the `INFO` list are omitted.
  /// - Returns: the SHA-256 of the written bytes, if `isDigestWanted`.
  @discardableResult
  package static func copy(
    from source: String, to target: String, notes: BroadcastMetadata, tags: [String: String] = [:],
    isDigestWanted: Bool = false
  ) throws(SpoolError) -> Digest? {
    try copy(
      from: source, to: target, notes: notes, tags: tags, limit: WaveHeader.greatestLength,
      isDigestWanted: isDigestWanted)
  }

  /// - Parameter limit: the length from which the file is RF64.
  @discardableResult
  static func copy(
    from source: String, to target: String, notes: BroadcastMetadata, tags: [String: String],
    limit: Int, isDigestWanted: Bool = false
  ) throws(SpoolError) -> Digest? {
    guard let wave = try WaveChunks.open(source), let data = wave.first("data"),
      let format = try WaveChunks.Format(of: wave)
    else {
      throw SpoolError("tag", source, reason: "it is no WAV file", cause: .input)
    }
    let lists = tags.isEmpty ? [] : try informationLists(tags, model: target)
    var header = WaveHeader()
    // Before the samples, as the standard recommends for streaming readers.
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

  /// The tag lists that libavformat writes, from a file at `path` without sound.
  private static func informationLists(
    _ tags: [String: String], model path: String
  ) throws(SpoolError) -> [[UInt8]] {
    let settings = EncoderSettings(
      .wav(.integer(.bits16)), for: AudioFormat(sampleRate: Hertz(48_000), channelCount: 1))
    let model = try OutputFile(path: path, muxer: settings.muxer)
    _ = try model.addStream(for: EncoderContext(settings, path: path))
    try model.begin(options: settings.muxerOptions, tags: tags)
    try model.finish()
    return try WaveChunks.open(path)?.lists("INFO") ?? []
  }
}
