import PipelineModel
import Platform
import SoundEngine
import Testing
@testable import spool

@Suite("Nothing that something is called steers a terminal")
struct FormatTests {
  private static let steering = [
    "\u{1B}", "\u{7F}", "\u{9B}", "\r", "\u{61C}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202E}",
    "\u{2066}", "\u{2069}", "\u{2028}", "\u{2029}",
  ]

  @Test("in a line it is a sign of its own, and what joins letters stays", arguments: steering)
  func visible(scalar: String) {
    #expect(Format.visible("a\(scalar)b\nc") == "a\u{FFFD}b\u{FFFD}c")
    #expect(Format.visible("क्‍ष 👩‍🔬 é שלום") == "क्‍ष 👩‍🔬 é שלום")
  }

  @Test("what is left goes out as JSON writes it, beside the colours of the console")
  func harmless() {
    for scalar in Self.steering {
      let shown = Format.harmless("{\"a\":\"\(scalar)é\"}\n")
      #expect(shown.hasPrefix(#"{"a":"\u"#) && shown.hasSuffix("é\"}\n"), "\(shown)")
      #expect(!shown.unicodeScalars.contains { $0.isSteering && $0 != "\n" })
    }
    let coloured = "\u{1B}[1;31merror:\u{1B}[0m \u{1B}[1mé\u{1B}[0m\n"
    #expect(Format.harmless(coloured) == coloured)
    #expect(Format.harmless("\u{1B}[31m") == #"\u001B[31m"#)
  }
}
