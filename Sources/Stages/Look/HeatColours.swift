import Pictures

/// From silence to full scale: dark blue over violet and orange to a warm white, ever lighter, so
/// that it reads without colours too.
enum HeatColours {
  /// What can be read on silence.
  static let onDark = Colour(0xb8c2d6)

  private static let stops: [Colour] = [
    Colour(0x0c1222), Colour(0x1d2b53), Colour(0x4b3f8f), Colour(0x8e4a94), Colour(0xcc5a78),
    Colour(0xf0835a), Colour(0xfbbd67), Colour(0xfdf3d3),
  ]

  /// Every colour there is, so that painting a pixel is no more than looking it up.
  private static let table: [Colour] = (0...255).map { index in
    let place = Double(index) / 255 * Double(stops.count - 1)
    let below = min(Int(place), stops.count - 2)
    let share = place - Double(below)
    func mix(_ part: (Colour) -> UInt8) -> UInt8 {
      let (a, b) = (Double(part(stops[below])), Double(part(stops[below + 1])))
      return UInt8((a + (b - a) * share).rounded())
    }
    return Colour(red: mix(\.red), green: mix(\.green), blue: mix(\.blue))
  }

  /// The colour of a level from 0, as good as silent, to 1, full scale.
  static func colour(_ level: Double) -> Colour {
    table[Int((min(max(level, 0), 1) * 255).rounded())]
  }
}
