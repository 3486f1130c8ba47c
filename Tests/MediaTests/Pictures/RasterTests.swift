import Media
import Testing

@Suite struct RasterTests {
  private static let white = Colour(0xffffff)
  private static let black = Colour(0)

  private func raster(_ shapes: [Shape], width: Int = 20, height: Int = 12) -> Raster {
    var drawing = Drawing(width: width, height: height, background: Self.white)
    shapes.forEach { drawing.add($0) }
    return Raster(drawing)
  }

  /// How much of the picture is covered with black, in pixels.
  private func cover(_ raster: Raster) -> Double {
    stride(from: 0, to: raster.bytes.count, by: 3).reduce(0) {
      $0 + Double(255 - raster.bytes[$1]) / 255
    }
  }

  @Test func `a rectangle on whole pixels has sharp edges`() {
    let raster = raster([.rectangle(x: 3, y: 2, width: 5, height: 4, Self.black)])
    for y in 0..<12 {
      for x in 0..<20 {
        let isInside = (3..<8).contains(x) && (2..<6).contains(y)
        #expect(raster[x, y] == (isInside ? Self.black : Self.white), "\(x) \(y)")
      }
    }
  }

  @Test func `a pixel takes the colour by the share that is covered`() {
    let raster = raster([.rectangle(x: 3.25, y: 2.5, width: 2, height: 1, Self.black)])
    // Three quarters of the column by half of the row, and a quarter by half.
    #expect(raster[3, 2] == Colour(red: 159, green: 159, blue: 159))
    #expect(raster[4, 2] == Colour(red: 128, green: 128, blue: 128))
    #expect(raster[5, 3] == Colour(red: 223, green: 223, blue: 223))
  }

  @Test(arguments: [
    [Point(1, 1), Point(17, 3), Point(4, 10)],
    [Point(4, 10), Point(17, 3), Point(1, 1)],
    [Point(2.3, 1.7), Point(9.1, 0.4), Point(18.6, 5.5), Point(8.2, 11.2)],
    [Point(1, 6), Point(19, 5.9), Point(19, 6.1)],
  ])
  func `an area covers what geometry says`(points: [Point]) {
    var area = 0.0
    for (a, b) in zip(points, points.dropFirst() + points.prefix(1)) {
      area += (a.x * b.y - b.x * a.y) / 2
    }
    // Each pixel is rounded to 255 steps.
    #expect(abs(cover(raster([.area(points, Self.black)])) - area.magnitude) < 0.15)
  }

  @Test func `what leaves the picture is cut off`() {
    let outline = [Point(-30, -5), Point(50, -5), Point(50, 6), Point(-30, 6)]
    #expect(abs(cover(raster([.area(outline, Self.black)])) - 120) < 0.01)
    let beyond = raster([
      .line([Point(-9, -9), Point(-2, 40)], width: 2, Self.black),
      .area([Point(30, 1), Point(40, 1), Point(40, 9)], Self.black),
      .text("0:00", at: Point(90, 90), size: 13, .start, Self.black),
    ])
    #expect(cover(beyond) == 0)
  }

  @Test func `a line is as wide as it says, and no darker where it crosses itself`() {
    let straight = raster([.line([Point(2, 6), Point(18, 6)], width: 3, Self.black)])
    #expect(abs(cover(straight) - (16 * 3 + .pi * 2.25)) < 1)
    let grey = raster([
      .line(
        [Point(2, 6), Point(18, 6), Point(10, 6), Point(10, 1), Point(10, 11)], width: 0.5,
        Self.black)
    ])
    #expect((0..<12).allSatisfy { grey[10, $0].red >= 127 })
  }

  @Test func `every sign of a label leaves its mark, between its own edges`() {
    for sign in "0123456789-.:dkmszBHLR\u{2212}" {
      let picture = raster(
        [.text(String(sign), at: Point(15, 24), size: 26, .middle, Self.black)], width: 30,
        height: 30)
      #expect(cover(picture) > 3, "\(sign)")
      // Above the capitals and below the baseline lies nothing.
      for y in Array(0..<4) + Array(27..<30) {
        #expect((0..<30).allSatisfy { picture[$0, y] == Self.white }, "\(sign) at row \(y)")
      }
    }
  }

  @Test func `anchors hold a text at its beginning, middle and end`() {
    func columns(_ anchor: Shape.Anchor) -> [Int] {
      let picture = raster(
        [.text("12:34", at: Point(60, 20), size: 13, anchor, Self.black)], width: 120, height: 30)
      return (0..<120).filter { x in (0..<30).contains { picture[x, $0] != Self.white } }
    }
    #expect((columns(.start).first ?? 0) >= 59)
    #expect((columns(.end).last ?? 120) <= 61)
    let middle = columns(.middle)
    #expect(abs((middle.first ?? 0) + (middle.last ?? 0) - 119) <= 4)
  }
}
