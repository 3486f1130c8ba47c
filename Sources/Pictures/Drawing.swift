/// A picture as a list of shapes, the later ones over the earlier: drawn once, and written as
/// scalable graphics or as pixels.
public struct Drawing: Hashable, Sendable {
  /// Pixels from side to side.
  public let width: Int
  /// Pixels from top to bottom.
  public let height: Int
  /// What everything lies on.
  public let background: Colour
  /// The shapes, from the lowest to the uppermost.
  public private(set) var shapes: [Shape] = []

  /// An empty picture; at least one pixel each way.
  public init(width: Int, height: Int, background: Colour) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
    self.background = background
  }

  /// Puts a shape over all others.
  public mutating func add(_ shape: Shape) { shapes.append(shape) }
}

/// A part of a drawing.
public enum Shape: Hashable, Sendable {
  /// A filled outline that does not cross itself; the last point is joined to the first.
  case area([Point], Colour)
  /// A line from point to point, round at its ends and corners.
  case line([Point], width: Double, Colour)
  /// A filled rectangle.
  case rectangle(x: Double, y: Double, width: Double, height: Double, Colour)
  /// Words beside a point, which is at the height of their baseline. `size` is the height of a
  /// capital letter and what lies around it, in pixels.
  case text(String, at: Point, size: Double, TextAnchor, Colour)
}

/// Which end of a text is at its point.
public enum TextAnchor: String, Hashable, Sendable {
  /// It begins there.
  case start
  /// It has its middle there.
  case middle
  /// It ends there.
  case end
}
