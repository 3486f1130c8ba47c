import Glibc

/// A picture as pixels: RGB, three bytes each, row by row from the top.
package struct Raster: Hashable, Sendable {
  package let width: Int
  package let height: Int
  /// Three bytes a pixel.
  package private(set) var bytes: [UInt8]

  /// A picture of one colour, of at least one pixel each way.
  package init(width: Int, height: Int, filledWith colour: Colour) {
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

  /// An anti-aliased drawing, with text in Spool's stroke font.
  package init(_ drawing: Drawing) {
    self.init(width: drawing.width, height: drawing.height, filledWith: drawing.background)
    draw(drawing.shapes)
  }

  /// Paints shapes over the content.
  package mutating func draw(_ shapes: [Shape]) {
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

  package subscript(x: Int, y: Int) -> Colour {
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

  /// Blends a colour over a pixel; a share of 1 is opaque.
  mutating func blend(_ colour: Colour, share: Float, x: Int, y: Int) {
    guard share > 0 else { return }
    let index = 3 * (y * width + x)
    let share = min(share, 1)
    bytes[index] = Self.mean(bytes[index], colour.red, share)
    bytes[index + 1] = Self.mean(bytes[index + 1], colour.green, share)
    bytes[index + 2] = Self.mean(bytes[index + 2], colour.blue, share)
  }

  /// The rounded interpolation between two values; `share` is that of the second.
  private static func mean(_ old: UInt8, _ new: UInt8, _ share: Float) -> UInt8 {
    let mean = Float(old) + (Float(new) - Float(old)) * share
    // Rounds halves of non-negative values up.
    return UInt8(Double(mean) + 0.5)
  }

  /// Draws lines of `width` pixels: a pixel's coverage follows from the distance of its centre to
  /// the nearest line, so crossings are not drawn twice.
  mutating func stroke(_ lines: [[Point]], width: Double, _ colour: Colour) {
    let reach = width / 2 + 0.5
    let points = lines.joined()
    guard let left = points.map(\.x).min(), let right = points.map(\.x).max(),
      let upper = points.map(\.y).min(), let lower = points.map(\.y).max()
    else { return }
    let columns = clamped(left - reach, right + reach, to: self.width)
    let rows = clamped(upper - reach, lower + reach, to: height)
    guard !columns.isEmpty, !rows.isEmpty else { return }
    var shares = [Float](repeating: 0, count: columns.count * rows.count)
    for line in lines {
      for (a, b) in zip(line, line.dropFirst().isEmpty ? line[...] : line.dropFirst()) {
        for y in clamped(min(a.y, b.y) - reach, max(a.y, b.y) + reach, to: height) {
          for x in clamped(min(a.x, b.x) - reach, max(a.x, b.x) + reach, to: self.width) {
            let middle = Point(Double(x) + 0.5, Double(y) + 0.5)
            let share = Float(reach - distance(of: middle, from: a, to: b))
            let index = (y - rows.lowerBound) * columns.count + x - columns.lowerBound
            if share > shares[index] { shares[index] = share }
          }
        }
      }
    }
    // A line thinner than a pixel is proportionally fainter.
    let most = Float(min(width, 1))
    for y in rows {
      for x in columns {
        let share = shares[(y - rows.lowerBound) * columns.count + x - columns.lowerBound]
        blend(colour, share: min(share, most), x: x, y: y)
      }
    }
  }

  /// The pixels between two coordinates, clamped to the picture.
  private func clamped(_ from: Double, _ to: Double, to limit: Int) -> Range<Int> {
    let first = max(0, Int(from.rounded(.down)))
    return first..<max(first, min(limit, Int(to.rounded(.up))))
  }

  private func distance(of point: Point, from a: Point, to b: Point) -> Double {
    let (dx, dy) = (b.x - a.x, b.y - a.y)
    let length = dx * dx + dy * dy
    let along = length > 0 ? ((point.x - a.x) * dx + (point.y - a.y) * dy) / length : 0
    let t = min(max(along, 0), 1)
    let (x, y) = (point.x - a.x - t * dx, point.y - a.y - t * dy)
    return (x * x + y * y).squareRoot()
  }

  /// Fills an outline with anti-aliasing by area coverage.
  ///
  /// Each edge accumulates, in the cells it crosses, the area to its right; the running sum along a
  /// row gives each pixel's coverage. Linear in the pixels of the outline's rows and in its edges'
  /// height.
  mutating func fill(_ points: [Point], _ colour: Colour) {
    let top = max(0, Int((points.map(\.y).min() ?? 0).rounded(.down)))
    let bottom = min(height, Int((points.map(\.y).max() ?? 0).rounded(.up)))
    guard points.count > 2, top < bottom else { return }
    var cells = [Float](repeating: 0, count: (bottom - top) * (width + 2))
    for (index, point) in points.enumerated() {
      record(
        from: point, to: points[(index + 1) % points.count], rows: top..<bottom, in: &cells)
    }
    for y in top..<bottom {
      var sum: Float = 0
      for x in 0..<width {
        sum += cells[(y - top) * (width + 2) + x]
        // The remainder of cancelling edges is no coverage.
        if sum.magnitude > 1e-4 { blend(colour, share: sum.magnitude, x: x, y: y) }
      }
    }
  }

  /// Accumulates the coverage of one edge, row by row.
  private func record(from a: Point, to b: Point, rows: Range<Int>, in cells: inout [Float]) {
    guard a.y != b.y else { return }
    let direction: Double = a.y < b.y ? 1 : -1
    let (upper, lower) = a.y < b.y ? (a, b) : (b, a)
    let slope = (lower.x - upper.x) / (lower.y - upper.y)
    let first = max(rows.lowerBound, Int(upper.y.rounded(.down)))
    let last = min(rows.upperBound, Int(lower.y.rounded(.up)))
    guard first < last else { return }
    for row in first..<last {
      let begin = max(upper.y, Double(row))
      let end = min(lower.y, Double(row + 1))
      guard begin < end else { continue }
      let from = upper.x + (begin - upper.y) * slope
      let to = upper.x + (end - upper.y) * slope
      record(
        min(from, to), max(from, to), cover: (end - begin) * direction,
        row: row - rows.lowerBound, in: &cells)
    }
  }

  /// Spreads the coverage of a piece of edge within one row, between `left` and `right`, over the
  /// cells it crosses.
  private func record(
    _ left: Double, _ right: Double, cover: Double, row: Int, in cells: inout [Float]
  ) {
    let limit = Double(width)
    let (left, right) = (min(max(left, 0), limit), min(max(right, 0), limit))
    let base = row * (width + 2)
    var column = Int(left.rounded(.down))
    var start = left
    repeat {
      let end = min(right, Double(column + 1))
      let share = right > left ? cover * (end - start) / (right - left) : cover
      // In its own pixel a piece covers the area to the right of its middle.
      let inside = share * (Double(column + 1) - (start + end) / 2)
      cells[base + column] += Float(inside)
      cells[base + column + 1] += Float(share - inside)
      start = end
      column += 1
    } while start < right
  }
}

/// A stroke font for axis labels, readable at ten pixels, and the same on every machine.
struct StrokeFont {
  /// Pixels per glyph unit; a capital is six units high.
  private let scale: Double

  /// `size` is that of a usual font: capitals have 0.7 of it.
  init(size: Double) { scale = size * 0.7 / 6 }

  /// How wide the lines are.
  var strokeWidth: Double { max(1.1, scale * 0.8) }

  func width(of words: String) -> Double {
    let advance = words.reduce(0) { $0 + Self.glyph($1).advance }
    return (words.isEmpty ? 0 : advance - Self.gap) * scale
  }

  /// The strokes of a text. Unknown letters are blank.
  func strokes(of words: String, at point: Point, _ anchor: Shape.Anchor) -> [[Point]] {
    let shift =
      switch anchor {
      case .start: 0.0
      case .middle: width(of: words) / 2
      case .end: width(of: words)
      }
    var x = point.x - shift
    var lines: [[Point]] = []
    for character in words {
      let glyph = Self.glyph(character)
      for line in glyph.lines {
        lines.append(line.map { Point(x + $0.x * scale, point.y + ($0.y - 6) * scale) })
      }
      x += glyph.advance * scale
    }
    return lines
  }

  /// Letter spacing in units.
  private static let gap = 1.7

  private struct Glyph {
    let lines: [[Point]]
    let advance: Double

    init(width: Double, _ lines: [[Point]]) {
      self.lines = lines
      advance = width + StrokeFont.gap
    }
  }

  /// The points of an elliptic arc between two angles in degrees, clockwise from the right.
  private static func arc(
    _ x: Double, _ y: Double, _ radiusX: Double, _ radiusY: Double, _ from: Double, _ to: Double
  ) -> [Point] {
    (0...16).map { step in
      let angle = (from + (to - from) * Double(step) / 16) * .pi / 180
      return Point(x + radiusX * cos(angle), y + radiusY * sin(angle))
    }
  }

  private static func line(_ numbers: Double...) -> [Point] {
    stride(from: 0, to: numbers.count, by: 2).map { Point(numbers[$0], numbers[$0 + 1]) }
  }

  /// A glyph, in units from the top of a capital.
  private static func glyph(_ character: Character) -> Glyph {
    switch character {
    case "0": Glyph(width: 4, [arc(2, 3, 1.9, 3, 0, 360)])
    case "1": Glyph(width: 2.4, [line(0.5, 1.3, 2.1, 0, 2.1, 6)])
    case "2": Glyph(width: 4, [arc(2, 1.85, 1.85, 1.85, 190, 390) + line(0.1, 6, 4, 6)])
    case "3":
      Glyph(
        width: 4, [arc(1.9, 1.5, 1.6, 1.5, 200, 450), arc(1.9, 4.45, 1.95, 1.55, 270, 515)])
    case "4": Glyph(width: 4.2, [line(3.1, 6, 3.1, 0, 0, 4.2, 4.2, 4.2)])
    case "5":
      Glyph(width: 4, [line(3.6, 0, 0.7, 0, 0.4, 2.75) + arc(1.95, 4.05, 1.95, 1.95, 225, 500)])
    case "6": Glyph(width: 4, [arc(2, 4.1, 1.9, 1.9, 0, 360), arc(3.4, 4.1, 3.3, 4.1, 180, 270)])
    case "7": Glyph(width: 4, [line(0, 0, 4, 0, 1.4, 6)])
    case "8": Glyph(width: 4, [arc(2, 1.5, 1.6, 1.5, 0, 360), arc(2, 4.5, 1.95, 1.5, 0, 360)])
    case "9": Glyph(width: 4, [arc(2, 1.9, 1.9, 1.9, 0, 360), arc(0.6, 1.9, 3.3, 4.1, 0, 90)])
    case "-", "−": Glyph(width: 3, [line(0, 3.4, 3, 3.4)])
    case ".": Glyph(width: 0.6, [line(0.3, 5.9, 0.3, 6)])
    case ":": Glyph(width: 0.6, [line(0.3, 5.6, 0.3, 5.7), line(0.3, 2.6, 0.3, 2.7)])
    case "a": Glyph(width: 3.4, [arc(1.65, 4.2, 1.6, 1.8, 0, 360), line(3.3, 2.4, 3.3, 6)])
    case "e": Glyph(width: 3.6, [line(0.1, 4.2, 3.5, 4.2) + arc(1.8, 4.2, 1.7, 1.8, 0, -310)])
    case "g":
      Glyph(
        width: 3.6,
        [
          arc(1.75, 4.2, 1.7, 1.8, 0, 360),
          line(3.5, 2.4, 3.5, 6.4) + arc(1.8, 6.4, 1.7, 1.4, 0, 150),
        ])
    case "h":
      Glyph(width: 3.4, [line(0.2, 0, 0.2, 6), arc(1.75, 3.9, 1.55, 1.5, 180, 360) + line(3.3, 6)])
    case "i": Glyph(width: 0.6, [line(0.3, 2.4, 0.3, 6), line(0.3, 0.5, 0.3, 0.6)])
    case "n":
      Glyph(
        width: 3.4, [line(0.2, 2.4, 0.2, 6), arc(1.75, 3.9, 1.55, 1.5, 180, 360) + line(3.3, 6)])
    case "o": Glyph(width: 3.6, [arc(1.8, 4.2, 1.75, 1.8, 0, 360)])
    case "r": Glyph(width: 2.2, [line(0.2, 2.4, 0.2, 6), arc(1.7, 3.9, 1.5, 1.5, 180, 290)])
    case "t":
      Glyph(width: 2.4, [line(1, 0.8, 1, 5) + arc(2, 5, 1, 1, 180, 70), line(0, 2.4, 2.3, 2.4)])
    case "y": Glyph(width: 3.4, [line(0.1, 2.4, 1.8, 6), line(3.4, 2.4, 1.5, 7.1, 0.6, 7.7)])
    case "F": Glyph(width: 3.4, [line(0.2, 6, 0.2, 0, 3.4, 0), line(0.2, 2.9, 2.8, 2.9)])
    case "S": Glyph(width: 4, [arc(2, 1.5, 1.75, 1.5, -25, -270), arc(2, 4.5, 1.9, 1.5, -90, 155)])
    case "U":
      Glyph(width: 4, [line(0.2, 0, 0.2, 4.1) + arc(2, 4.1, 1.8, 1.9, 180, 0) + line(3.8, 0)])
    case "d": Glyph(width: 3.7, [arc(1.8, 4.15, 1.8, 1.85, 0, 360), line(3.6, 0, 3.6, 6)])
    case "k":
      Glyph(width: 3.3, [line(0.2, 0, 0.2, 6), line(3.1, 2.4, 0.2, 4.4), line(1.3, 3.6, 3.3, 6)])
    case "m":
      Glyph(
        width: 5.4,
        [
          line(0.2, 2.4, 0.2, 6), arc(1.5, 3.7, 1.25, 1.3, 180, 360) + line(2.75, 6),
          arc(4, 3.7, 1.25, 1.3, 180, 360) + line(5.25, 6),
        ])
    case "s":
      Glyph(width: 3, [arc(1.5, 3.25, 1.3, 0.9, -30, -270), arc(1.5, 5.05, 1.4, 0.93, -90, 160)])
    case "z": Glyph(width: 3.2, [line(0.1, 2.4, 3, 2.4, 0.1, 6, 3.1, 6)])
    case "B":
      Glyph(
        width: 4,
        [
          line(2.1, 0, 0.2, 0, 0.2, 6, 2.3, 6), line(0.2, 2.9, 2.2, 2.9),
          arc(2.1, 1.45, 1.5, 1.45, -90, 90), arc(2.3, 4.45, 1.6, 1.55, -90, 90),
        ])
    case "H": Glyph(width: 4.1, [line(0.2, 0, 0.2, 6), line(4, 0, 4, 6), line(0.2, 2.9, 4, 2.9)])
    case "L": Glyph(width: 3.4, [line(0.2, 0, 0.2, 6, 3.4, 6)])
    case "R":
      Glyph(
        width: 4,
        [
          line(0.2, 6, 0.2, 0, 2.2, 0), arc(2.2, 1.6, 1.6, 1.6, -90, 90), line(2.2, 3.2, 0.2, 3.2),
          line(2, 3.2, 3.9, 6),
        ])
    default: Glyph(width: 1.6, [])
    }
  }
}
