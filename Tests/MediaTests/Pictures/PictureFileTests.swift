import Foundation
import FoundationXML
import Media
import TestSupport
import Testing

/// What is written down, as other programs read it.
@Suite struct PictureFileTests {
  private func drawing() -> Drawing {
    var drawing = Drawing(width: 161, height: 47, background: Colour(0xfcfcfa))
    drawing.add(.rectangle(x: 10, y: 5.5, width: 100, height: 20, Colour(0x2f6690)))
    drawing.add(.area([Point(20, 40), Point(80.25, 12.125), Point(140, 44)], Colour(0x93b7d1)))
    drawing.add(.line([Point(3, 3), Point(150, 30), Point(90, 45)], width: 1.5, Colour(0xc8553d)))
    drawing.add(.text("0:30 <&> dB", at: Point(80, 20), size: 12, .middle, Colour(0x5f6b76)))
    return drawing
  }

  @Test func `ffmpeg reads back the very pixels`() throws {
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let raster = Raster(drawing())
    let scratch = try ScratchFolder()
    let png = try raster.png(path: "test")
    try Data(png).write(to: URL(fileURLWithPath: scratch.file("picture.png")))
    let result = try ffmpeg.run([
      "-v", "error", "-i", scratch.file("picture.png"), "-f", "rawvideo", "-pix_fmt", "rgb24", "-",
    ])
    #expect(result.errorOutput == "")
    #expect(Array(result.output) == raster.bytes)
    // Width and height stand in the file's head, ISO/IEC 15948, 11.2.2.
    #expect(Array(png[16..<24]) == [0, 0, 0, 161, 0, 0, 0, 47])
  }

  @Test func `the same pixels give the same bytes`() throws {
    let raster = Raster(drawing())
    let files = try (0..<2).map { _ in try raster.png(path: "test") }
    #expect(files[0] == files[1])
  }

  @Test func `scalable graphics are well-formed and hold every shape`() throws {
    final class Reader: NSObject, XMLParserDelegate {
      var elements: [(name: String, attributes: [String: String])] = []
      var words = ""
      func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
      ) { elements.append((name, attributes)) }
      func parser(_ parser: XMLParser, foundCharacters string: String) { words += string }
    }
    let reader = Reader()
    let parser = XMLParser(data: Data(drawing().svg.utf8))
    parser.delegate = reader
    #expect(parser.parse())
    #expect(reader.elements.map(\.name) == ["svg", "rect", "rect", "path", "path", "text"])
    #expect(reader.elements[0].attributes["viewBox"] == "0 0 161 47")
    #expect(reader.elements[2].attributes["y"] == "5.5")
    #expect(reader.elements[3].attributes["d"] == "M20 40L80.25 12.13L140 44Z")
    #expect(reader.words.trimmingCharacters(in: .whitespacesAndNewlines) == "0:30 <&> dB")
  }
}
