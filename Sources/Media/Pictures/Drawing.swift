/// A picture as a list of shapes in painting order, for SVG or a raster.
package struct Drawing: Hashable, Sendable {
  package let width: Int
  package let height: Int
  /// The background colour.
  package let background: Colour
  /// In painting order.
  package private(set) var shapes: [Shape] = []

  /// An empty picture of at least one pixel each way.
  package init(width: Int, height: Int, background: Colour) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
    self.background = background
  }

  /// Puts a shape over all others.
  package mutating func add(_ shape: Shape) { shapes.append(shape) }
}

/// A part of a drawing.
package enum Shape: Hashable, Sendable {
  /// A filled closed outline that does not cross itself.
  case area([Point], Colour)
  case line([Point], width: Double, Colour)
  case rectangle(x: Double, y: Double, width: Double, height: Double, Colour)
  /// Text at a point on its baseline. `size` is the font size in pixels.
  case text(String, at: Point, size: Double, TextAnchor, Colour)
}

/// The alignment of a text at its point.
package enum TextAnchor: String, Hashable, Sendable {
  case start
  case middle
  case end
}

package struct Point: Hashable, Sendable {
  package var x: Double
  package var y: Double

  package init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }
}

/// An opaque sRGB colour.
package struct Colour: Hashable, Sendable {
  package let red: UInt8
  package let green: UInt8
  package let blue: UInt8

  package init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  package init(_ hexadecimal: UInt32) {
    red = UInt8(truncatingIfNeeded: hexadecimal >> 16)
    green = UInt8(truncatingIfNeeded: hexadecimal >> 8)
    blue = UInt8(truncatingIfNeeded: hexadecimal)
  }

  package var text: String {
    let digits = String(UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue), radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }
}
