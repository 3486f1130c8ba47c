/// How far one channel reaches within a stretch of sound: what a waveform is drawn from.
public struct Peak: Hashable, Sendable, BitwiseCopyable {
  /// The lowest sample; full scale is −1.
  public var lowest: Float
  /// The highest sample; full scale is 1.
  public var highest: Float
  /// The sum of the squares of all samples; divided by their number it is the mean square.
  public var energy: Float

  /// Wraps the extent of a stretch.
  public init(lowest: Float, highest: Float, energy: Float) {
    self.lowest = lowest
    self.highest = highest
    self.energy = energy
  }

  /// The extent of no samples at all, which adds nothing to a union.
  public static let none = Peak(lowest: .infinity, highest: -.infinity, energy: 0)

  /// The extent of two stretches together.
  @inlinable
  public func union(_ other: Peak) -> Peak {
    Peak(
      lowest: min(lowest, other.lowest), highest: max(highest, other.highest),
      energy: energy + other.energy)
  }

  /// The root of the mean square over `count` samples; 0 for none.
  @inlinable
  public func rms(of count: Int) -> Float {
    count > 0 ? (energy / Float(count)).squareRoot() : 0
  }
}
