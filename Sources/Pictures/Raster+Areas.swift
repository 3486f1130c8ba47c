extension Raster {
  /// Fills an outline: every pixel takes as much of the colour as the outline covers of it.
  ///
  /// Each edge notes, in the cells that it crosses, how much it covers to its right; the running sum
  /// along a row is then each pixel's share. Linear in the pixels of the outline's rows and in its
  /// edges' height.
  mutating func fill(_ points: [Point], _ colour: Colour) {
    let top = max(0, Int((points.map(\.y).min() ?? 0).rounded(.down)))
    let bottom = min(height, Int((points.map(\.y).max() ?? 0).rounded(.up)))
    guard points.count > 2, top < bottom else { return }
    var cells = [Float](repeating: 0, count: (bottom - top) * (width + 2))
    for (index, point) in points.enumerated() {
      note(
        from: point, to: points[(index + 1) % points.count], rows: top..<bottom, in: &cells)
    }
    for y in top..<bottom {
      var sum: Float = 0
      for x in 0..<width {
        sum += cells[(y - top) * (width + 2) + x]
        // What is left of opposite edges that cancel each other is no colour.
        if sum.magnitude > 1e-4 { blend(colour, share: sum.magnitude, x: x, y: y) }
      }
    }
  }

  /// Notes what one edge covers, row by row.
  private func note(from a: Point, to b: Point, rows: Range<Int>, in cells: inout [Float]) {
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
      note(
        min(from, to), max(from, to), cover: (end - begin) * direction,
        row: row - rows.lowerBound, in: &cells)
    }
  }

  /// Spreads the cover of a piece of edge, which lies within one row between `left` and `right`,
  /// over the cells that it crosses.
  private func note(
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
      // Of its own pixel a piece covers what lies to the right of its middle.
      let inside = share * (Double(column + 1) - (start + end) / 2)
      cells[base + column] += Float(inside)
      cells[base + column + 1] += Float(share - inside)
      start = end
      column += 1
    } while start < right
  }
}
