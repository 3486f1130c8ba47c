extension Raster {
  /// Draws lines of some width, in pixels: every pixel takes the more of the colour the nearer its
  /// middle is to a line. Where lines cross, nothing is drawn twice.
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
    // A line thinner than a pixel is as faint as it is thin.
    let most = Float(min(width, 1))
    for y in rows {
      for x in columns {
        let share = shares[(y - rows.lowerBound) * columns.count + x - columns.lowerBound]
        blend(colour, share: min(share, most), x: x, y: y)
      }
    }
  }

  /// The pixels between two places, as far as they are in the picture.
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
}
