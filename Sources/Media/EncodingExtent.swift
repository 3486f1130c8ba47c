/// How far an encoding is, in the encoder's own frames.
struct EncodingExtent: Hashable, Sendable, Codable {
  /// Frames from the start of the stream that need not come again.
  var frames = 0
  /// Bytes at the start of the file that hold them; 0 where other files do.
  var byteCount = 0
  /// The checksum of the sound among those bytes.
  var checksum: UInt64 = 0
  /// The hash of the samples, for FLAC: of at least `frames` frames.
  var hash: SampleHash?
}
