/// A picture as pixels: three bytes each, red, green and blue, row after row from the top.
public struct Raster: Hashable, Sendable {
  /// Pixels from side to side.
  public let width: Int
  /// Pixels from top to bottom.
  public let height: Int
  /// Three bytes a pixel.
  public private(set) var bytes: [UInt8]

  /// A picture of one colour; at least one pixel each way.
  public init(width: Int, height: Int, filledWith colour: Colour) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
    var row: [UInt8] = []
    row.reserveCapacity(3 * width)
    for _ in 0..<width {
      row.append(colour.red)
      row.append(colour.green)
      row.append(colour.blue)
    }
    bytes = []
    bytes.reserveCapacity(3 * width * height)
    for _ in 0..<height { bytes += row }
  }

  /// A drawing with smooth edges, its words in strokes of Spool's own.
  public init(_ drawing: Drawing) {
    self.init(width: drawing.width, height: drawing.height, filledWith: drawing.background)
    draw(drawing.shapes)
  }

  /// Puts shapes over what is there.
  public mutating func draw(_ shapes: [Shape]) {
    for shape in shapes {
      switch shape {
      case .area(let points, let colour): fill(points, colour)
      case .rectangle(let x, let y, let width, let height, let colour):
        fill(
          [
            Point(x, y), Point(x + width, y), Point(x + width, y + height), Point(x, y + height),
          ], colour)
      case .line(let points, let width, let colour): stroke([points], width: width, colour)
      case .text(let words, let point, let size, let anchor, let colour):
        let font = StrokeFont(size: size)
        stroke(
          font.strokes(of: words, at: point, anchor), width: font.strokeWidth, colour)
      }
    }
  }

  /// The colour of a pixel.
  public subscript(x: Int, y: Int) -> Colour {
    get {
      let index = 3 * (y * width + x)
      return Colour(red: bytes[index], green: bytes[index + 1], blue: bytes[index + 2])
    }
    set {
      let index = 3 * (y * width + x)
      bytes[index] = newValue.red
      bytes[index + 1] = newValue.green
      bytes[index + 2] = newValue.blue
    }
  }

  /// Lays a colour over a pixel; a share of 1 hides what was there.
  mutating func blend(_ colour: Colour, share: Float, x: Int, y: Int) {
    guard share > 0 else { return }
    let index = 3 * (y * width + x)
    let share = min(share, 1)
    bytes[index] = Self.mean(bytes[index], colour.red, share)
    bytes[index + 1] = Self.mean(bytes[index + 1], colour.green, share)
    bytes[index + 2] = Self.mean(bytes[index + 2], colour.blue, share)
  }

  /// What is between two values, to the nearest; `share` is that of the second.
  private static func mean(_ old: UInt8, _ new: UInt8, _ share: Float) -> UInt8 {
    let mean = Float(old) + (Float(new) - Float(old)) * share
    // Of what is not negative, halves go up.
    return UInt8(Double(mean) + 0.5)
  }
}
