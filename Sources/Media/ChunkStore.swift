/// Where the packets of finished chunks lie until they are muxed. Workers save, whoever muxes
/// loads.
protocol ChunkStore: Sendable {
  /// Keeps a chunk's packets.
  func save(_ run: PacketRun, as label: ChunkLabel) throws(MediaError)
  /// The packets that were saved as `label`; nil where there are none, or where they are not what
  /// was saved.
  func load(_ label: ChunkLabel) -> PacketRun?
  /// Nothing is saved any more, and no file touched, once this has returned.
  func close()
}
