/// Chunks that survive, and the hash of the samples, which is in no file: what was hashed is noted in
/// the encoder's state alone, so the sound is needed from wherever either of them lacks it.
struct HashedChunks: EncodingSurvival {
  let chunks: any EncodingSurvival
  let hash: StreamHash

  var extent: EncodingExtent {
    var extent = chunks.extent
    let hash = hash.current
    extent.frames = min(extent.frames, hash.frames)
    extent.hash = hash
    return extent
  }

  func flush() throws(MediaError) { try chunks.flush() }

  func discard() { chunks.discard() }
}
