import AudioModel

/// What to reach.
enum NormalizeTarget: Sendable {
  case loudness(LUFS, ceiling: Decibels)
  case peak(Decibels)
  /// What was found for a whole album.
  case gain(Decibels, ceiling: Decibels)
}
