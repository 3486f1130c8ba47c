import AudioModel

/// What is written down about a mix.
struct MixReport: Codable {
  /// One track.
  struct Track: Codable {
    let name: String?
    let isHeard: Bool
    /// Where it began, in frames of the mix.
    let offset: Frames
    let volume: Double
    let pan: Double
    /// Its own loudness, where voices were matched.
    let loudness: LUFS?
    /// What matching it took.
    let matching: Decibels?
  }

  let sampleRate: Hertz
  let channels: Int
  let masterVolume: Double
  /// What the ceiling took from the mix.
  let reduction: Decibels
  let tracks: [Track]

  init(
    _ layout: MixLayout, matching: [Decibels], loudness: [Int: LUFS], _ reduction: Decibels
  ) {
    sampleRate = layout.format.sampleRate
    channels = layout.format.channelCount
    masterVolume = layout.settings.masterVolume
    self.reduction = reduction
    tracks = layout.lanes.enumerated().map { index, lane in
      Track(
        name: lane.track.name, isHeard: lane.isHeard, offset: lane.offset,
        volume: lane.track.volume, pan: lane.track.pan, loudness: loudness[index],
        matching: loudness[index].map { _ in matching[index] })
    }
  }
}
