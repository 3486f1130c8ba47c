/// How much each channel counts for loudness, by its place, ITU-R BS.1770-4, table 4: channels at
/// the sides 1.41, those in front and behind 1, the low-frequency channel nothing.
enum ChannelWeights {
  private static let side = 1.41

  /// The weights of so many channels in the order in which libav and WAV files have them: mono;
  /// left, right; left, right, centre; four: left, right and two surrounds; five: left, right,
  /// centre and two surrounds; six and more add the low-frequency channel, and then the back
  /// channels. Of more than eight nobody knows the places: each counts with weight 1.
  static func weights(channelCount: Int) -> [Double] {
    switch channelCount {
    case 4: [1, 1, side, side]
    case 5: [1, 1, 1, side, side]
    case 6: [1, 1, 1, 0, side, side]
    case 7: [1, 1, 1, 0, 1, side, side]
    case 8: [1, 1, 1, 0, 1, 1, side, side]
    default: Array(repeating: 1, count: channelCount)
    }
  }
}
