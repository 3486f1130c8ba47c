/// A drawing as SVG 1.1.
package struct SVGDocument {
  private let drawing: Drawing

  package init(_ drawing: Drawing) { self.drawing = drawing }

  /// The whole file. O(points).
  package var text: String {
    let (width, height) = (drawing.width, drawing.height)
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\""
        + " viewBox=\"0 0 \(width) \(height)\""
        + " font-family=\"system-ui, 'Helvetica Neue', Helvetica, Arial, sans-serif\">",
      "<rect width=\"\(width)\" height=\"\(height)\" fill=\"\(drawing.background.text)\"/>",
    ]
    lines += drawing.shapes.map(element)
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
    var text = ""
    for (index, point) in points.enumerated() {
      text += (index == 0 ? "M" : "L") + number(point.x) + " " + number(point.y)
    }
    return text
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
