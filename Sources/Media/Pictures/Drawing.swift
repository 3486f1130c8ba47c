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
  case text(String, at: Point, size: Double, Anchor, Colour)

  /// The alignment of a text at its point.
  package enum Anchor: String, Hashable, Sendable {
    case start
    case middle
    case end
  }
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

extension Drawing {
  /// The drawing as a file of SVG 1.1. O(points).
  package var svg: String {
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\""
        + " viewBox=\"0 0 \(width) \(height)\""
        + " font-family=\"system-ui, 'Helvetica Neue', Helvetica, Arial, sans-serif\">",
      "<rect width=\"\(width)\" height=\"\(height)\" fill=\"\(background.text)\"/>",
    ]
    lines += shapes.map(element)
    lines.append("</svg>\n")
    return lines.joined(separator: "\n")
  }

  private func element(_ shape: Shape) -> String {
    switch shape {
    case .area(let points, let colour):
      return "<path d=\"\(path(points))Z\" fill=\"\(colour.text)\"/>"
    case .line(let points, let width, let colour):
      return "<path d=\"\(path(points))\" fill=\"none\" stroke=\"\(colour.text)\""
        + " stroke-width=\"\(number(width))\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
    case .rectangle(let x, let y, let width, let height, let colour):
      return "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\""
        + " height=\"\(number(height))\" fill=\"\(colour.text)\"/>"
    case .text(let words, let point, let size, let anchor, let colour):
      return "<text x=\"\(number(point.x))\" y=\"\(number(point.y))\" font-size=\"\(number(size))\""
        + " text-anchor=\"\(anchor.rawValue)\" fill=\"\(colour.text)\">\(escaped(words))</text>"
    }
  }

  private func path(_ points: [Point]) -> String {
    points.enumerated().map { index, point in
      (index == 0 ? "M" : "L") + number(point.x) + " " + number(point.y)
    }.joined()
  }

  /// Two decimals: hundredths of a pixel are invisible.
  private func number(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
    var text = (hundredths < 0 ? "-" : "") + "\(whole)"
    if rest > 0 {
      text += "." + (rest < 10 ? "0" : "") + (rest % 10 == 0 ? "\(rest / 10)" : "\(rest)")
    }
    return text
  }

  private func escaped(_ words: String) -> String {
    words.reduce(into: "") { text, character in
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      default: text.append(character)
      }
    }
  }
}
