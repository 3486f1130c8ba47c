/// How a stream is cut into chunks that are encoded side by side, each by a fresh encoder.
///
/// The cuts depend on the codec alone, never on the number of processors, so the file is always
/// the same. Packets and frames are counted from the start of the stream.
struct ChunkPlan: Hashable, Sendable {
  /// Frames in a packet.
  let frameSize: Int
  /// Packets in a chunk.
  let packetsPerChunk: Int
  /// Packets that are encoded ahead of a chunk and dropped, so that the encoder has settled when
  /// the chunk begins.
  let preRoll: Int
  /// Packets that are encoded behind a chunk, for the seam to move into.
  let overlap: Int
  /// Blocks that the encoder holds back before it gives the first packet.
  let delay: Int

  /// Packets at the beginning of the pre-roll for which the encoder is promised more bits, where it
  /// controls its rate.
  var boosted = 0

  /// Packets of pre-roll before the stream's first chunk, whose own beginning is played backwards for
  /// that, where it is as long.
  var mirrored = 0

  /// Whether a chunk is so much sound that it is kept in a file rather than in memory, and whether
  /// there are so many packets that a muxer's index of them counts: AAC has 47 a second.
  var isLong = false

  /// Apple Lossless packets do not depend on each other.
  static let alac = ChunkPlan(
    frameSize: ALACFrame.length, packetsPerChunk: 32, preRoll: 0, overlap: 0, delay: 0)

  /// FLAC frames depend on each other by their number alone. Their size is the encoder's choice, by
  /// rate and level; a chunk has about 2¹⁸ sample frames (5.4 s at 48 kHz).
  static func flac(frameSize: Int) -> ChunkPlan {
    .flac(frameSize: frameSize, packetsPerChunk: max(1, (1 << 18) / frameSize))
  }

  /// FLAC in chunks of a length that tests choose.
  static func flac(frameSize: Int, packetsPerChunk: Int) -> ChunkPlan {
    ChunkPlan(
      frameSize: frameSize, packetsPerChunk: packetsPerChunk, preRoll: 0, overlap: 0, delay: 0)
  }

  /// AAC is cut into 45 s (at 48 kHz): in shorter chunks, what comes before each costs too much (see
  /// ``aac(packetsPerChunk:)``); of longer ones, the last runs alone when everything else is done.
  static let aac = ChunkPlan.aac(packetsPerChunk: 2112)

  /// AAC in chunks of a length that tests choose.
  ///
  /// libavcodec's rate control steers a factor λ, the price of noise, which begins at 120 and of
  /// itself takes about 500 packets to where it belongs (200 to 800, by sound and rate), because
  /// almost any λ gives the bits that are asked for. On the way there the search for quantizers
  /// takes twice the time, and noise is up to 4 dB off that of an encoder that has been at work.
  /// Half as many bits more, promised for the first 12 packets of pre-roll, carry λ there and
  /// beyond; from above it falls back within 20. Behind 48 packets, noise was within 0.3 dB of a
  /// serial encoder's for speech, music and both, at 64 to 256 kbit/s. The pre-roll is 64. Before
  /// the stream's own beginning it is 32, and made from that.
  static func aac(packetsPerChunk: Int) -> ChunkPlan {
    ChunkPlan(
      frameSize: 1024, packetsPerChunk: packetsPerChunk, preRoll: 64, overlap: 16, delay: 1,
      boosted: 12, mirrored: 32, isLong: true)
  }

  /// The packet that a chunk begins with, unless the seam moves.
  func boundary(of chunk: Int) -> Int { chunk * packetsPerChunk }

  /// The first packet that a chunk's encoder gives.
  func firstPacket(of chunk: Int) -> Int { max(0, boundary(of: chunk) - preRoll) }

  /// How many packets of a chunk's encoder, from its first on, are boosted: none where they count.
  func boostedPackets(of chunk: Int) -> Int {
    min(boosted, boundary(of: chunk) - firstPacket(of: chunk))
  }

  /// How many packets' sound is played backwards before a chunk of so many frames.
  func mirroredPackets(of chunk: Int, frames: Int) -> Int {
    chunk == 0 && frames >= mirrored * frameSize ? mirrored : 0
  }

  /// Which frames a chunk's encoder takes, if the stream goes on long enough; a stream that ends
  /// within them ends with this chunk.
  func input(of chunk: Int) -> Range<Int> {
    let end = boundary(of: chunk + 1) + overlap + delay
    return firstPacket(of: chunk) * frameSize..<end * frameSize
  }
}
