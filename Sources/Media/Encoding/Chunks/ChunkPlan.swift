/// The division of a stream into chunks for parallel encoding, each with a fresh encoder.
///
/// The cuts depend on the codec alone, not on the number of processors, so the file is always the
/// same. Packets and frames are counted from the start of the stream.
struct ChunkPlan: Hashable, Sendable {
  /// Frames in a packet.
  let frameSize: Int
  /// Packets in a chunk.
  let packetsPerChunk: Int
  /// Packets encoded before a chunk and dropped, so that the encoder settles.
  let preRoll: Int
  /// Packets encoded after a chunk, into which the seam may move.
  let overlap: Int
  /// The encoder's delay in blocks.
  let delay: Int

  /// Packets at the start of the pre-roll with a raised bit rate, if the encoder has rate control.
  var boosted = 0

  /// Pre-roll packets before the first chunk, made from its own start played backwards, if that is
  /// long enough.
  var mirrored = 0

  /// Whether chunks are so long that their sound is kept in a file, and packets so many that the
  /// muxer's table matters: AAC has 47 a second.
  var isLong = false

  /// Apple Lossless packets do not depend on each other.
  static let alac = ChunkPlan(
    frameSize: ALACFrame.length, packetsPerChunk: 32, preRoll: 0, overlap: 0, delay: 0)

  /// FLAC frames depend on each other only by number. The encoder chooses their size by rate and
  /// level; a chunk has about 2¹⁸ frames (5.4 s at 48 kHz).
  static func flac(frameSize: Int) -> ChunkPlan {
    .flac(frameSize: frameSize, packetsPerChunk: max(1, (1 << 18) / frameSize))
  }

  /// For tests: FLAC with a given chunk length.
  static func flac(frameSize: Int, packetsPerChunk: Int) -> ChunkPlan {
    ChunkPlan(
      frameSize: frameSize, packetsPerChunk: packetsPerChunk, preRoll: 0, overlap: 0, delay: 0)
  }

  /// AAC chunks have 45 s (at 48 kHz): shorter ones waste time on pre-roll (see
  /// ``aac(packetsPerChunk:)``), of longer ones the last runs alone at the end.
  static let aac = ChunkPlan.aac(packetsPerChunk: 2112)

  /// For tests: AAC with a given chunk length.
  ///
  /// libavcodec's rate control adapts a factor λ, the price of noise, which starts at 120 and takes
  /// about 500 packets to settle (at 200 to 800, by sound and rate), because almost any λ meets the
  /// bit rate. Until then the quantizer search takes twice the time, and noise differs by up to 4
  /// dB from a settled encoder's. A 50 % higher bit rate for the first 12 packets of pre-roll moves
  /// λ there and beyond; from above it settles within 20. After 48 packets, noise was within 0.3 dB
  /// of a serial encoder's for speech, music and both, at 64 to 256 kbit/s. The pre-roll is 64
  /// packets; before the start of the stream, 32 mirrored ones.
  static func aac(packetsPerChunk: Int) -> ChunkPlan {
    ChunkPlan(
      frameSize: 1024, packetsPerChunk: packetsPerChunk, preRoll: 64, overlap: 16, delay: 1,
      boosted: 12, mirrored: 32, isLong: true)
  }

  /// The first packet of a chunk, unless the seam moves.
  func boundary(of chunk: Int) -> Int { chunk * packetsPerChunk }

  /// The first packet a chunk's encoder returns.
  func firstPacket(of chunk: Int) -> Int { max(0, boundary(of: chunk) - preRoll) }

  /// The number of boosted packets of a chunk's encoder; zero where its packets count.
  func boostedPackets(of chunk: Int) -> Int {
    min(boosted, boundary(of: chunk) - firstPacket(of: chunk))
  }

  /// The number of packets of mirrored sound before a chunk of so many frames.
  func mirroredPackets(of chunk: Int, frames: Int) -> Int {
    chunk == 0 && frames >= mirrored * frameSize ? mirrored : 0
  }

  /// The frames that a chunk's encoder takes; a stream that ends within them ends with this chunk.
  func input(of chunk: Int) -> Range<Int> {
    let end = boundary(of: chunk + 1) + overlap + delay
    return firstPacket(of: chunk) * frameSize..<end * frameSize
  }
}
