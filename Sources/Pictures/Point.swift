/// A place in a picture: pixels from its left edge and from its top.
public struct Point: Hashable, Sendable {
  /// Pixels from the left edge.
  public var x: Double
  /// Pixels from the top.
  public var y: Double

  /// A place.
  public init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }
}
