import Glibc

/// Letters as lines: enough for the labels of an axis, readable at ten pixels, and the same on every
/// machine whatever fonts it has.
struct StrokeFont {
  /// Pixels of a unit of the glyphs, of which a capital letter is six high.
  private let scale: Double

  /// Letters whose `size` is that of a usual font: capitals have 0.7 of it.
  init(size: Double) { scale = size * 0.7 / 6 }

  /// How wide the lines are.
  var strokeWidth: Double { max(1.1, scale * 0.8) }

  /// How wide a text is, in pixels.
  func width(of words: String) -> Double {
    let advance = words.reduce(0) { $0 + Self.glyph($1).advance }
    return (words.isEmpty ? 0 : advance - Self.gap) * scale
  }

  /// The lines of a text. A letter that the font lacks is left blank.
  func strokes(of words: String, at point: Point, _ anchor: TextAnchor) -> [[Point]] {
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

  /// Units between two letters.
  private static let gap = 1.7

  private struct Glyph {
    let lines: [[Point]]
    let advance: Double

    init(width: Double, _ lines: [[Point]]) {
      self.lines = lines
      advance = width + StrokeFont.gap
    }
  }

  /// Points of an ellipse between two angles in degrees, clockwise from the right.
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

  /// A letter, in units from the top of a capital.
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
