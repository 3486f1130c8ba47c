import Pictures

/// How the pictures of sound look: calm, and alike.
enum ChartStyle {
  static let background = Colour(0xfcfcfa)
  static let lane = Colour(0xf2f4f5)
  static let grid = Colour(0xdde2e6)
  static let label = Colour(0x5f6b76)
  /// From the lowest to the highest sample, or what moves fast.
  static let light = Colour(0x93b7d1)
  /// The root mean square, or what moves slowly.
  static let strong = Colour(0x2f6690)
  /// What is to be noticed.
  static let accent = Colour(0xc8553d)

  /// The size of labels, in pixels.
  static let labelSize = 13.0
  /// Half the height of a label's capitals: what lies between a mark and its label's baseline.
  static let labelDrop = 4.5
}
