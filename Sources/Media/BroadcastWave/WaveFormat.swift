/// What a WAV file's `fmt ` chunk says.
struct WaveFormat {
  /// The chunk's content.
  let bytes: [UInt8]
  let channelCount: Int
  /// Frames a second.
  let rate: Int
  /// Bytes of a frame.
  let blockByteCount: Int

  /// Reads the chunk; nil where it is missing or says nothing sensible.
  init?(of wave: borrowing WaveChunks) throws(MediaError) {
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
