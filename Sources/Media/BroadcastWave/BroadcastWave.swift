public import AudioModel
internal import CPosix
import Glibc

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
  public static func copy(
    from source: String, to target: String, notes: BroadcastNotes, tags: [String: String] = [:]
  ) throws(MediaError) {
    try copy(
      from: source, to: target, notes: notes, tags: tags, limit: WaveHeader.greatestLength)
  }

  /// - Parameter limit: the length from which on the file is RF64.
  static func copy(
    from source: String, to target: String, notes: BroadcastNotes, tags: [String: String],
    limit: Int
  ) throws(MediaError) {
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
    let file = try RawFile(path: target, O_RDWR | O_CREAT)
    try file.truncate(to: 0)
    try file.write(head, at: 0)
    try copy(data.content, of: wave, to: file, at: head.count)
    if count % 2 == 1 { try file.write([0], at: head.count + count) }
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

  private static func copy(
    _ range: Range<Int>, of wave: borrowing WaveChunks, to file: borrowing RawFile,
    at start: Int
  ) throws(MediaError) {
    var done = 0
    // Within the kernel where the file systems can.
    if lseek(wave.descriptor, off_t(range.lowerBound), SEEK_SET) >= 0,
      lseek(file.descriptor, off_t(start), SEEK_SET) >= 0
    {
      while done < range.count {
        let count = posix_copy_range(wave.descriptor, file.descriptor, range.count - done)
        if count <= 0 { break }
        done += count
      }
    }
    while done < range.count {
      let piece = try wave.bytes(
        range.lowerBound + done..<min(range.upperBound, range.lowerBound + done + 1 << 20))
      try file.write(piece, at: start + done)
      done += piece.count
    }
  }
}
