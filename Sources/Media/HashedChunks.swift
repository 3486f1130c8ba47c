/// Chunks in files, and the hash of the samples, which is in no file: what was hashed is noted in
/// the encoder's state alone, so the sound is needed from wherever either of them lacks it.
struct HashedChunks: EncodingSurvival {
  let files: ChunkFiles
  let hash: StreamHash

  var extent: EncodingExtent {
    var extent = files.extent
    let hash = hash.current
    extent.frames = min(extent.frames, hash.frames)
    extent.hash = hash
    return extent
  }

  func flush() throws(MediaError) { try files.flush() }

  func discard() { files.discard() }
}
