@testable import Plugins
import Testing

@Suite("A plugin's warnings do not bury what else there is to read")
struct PluginWarningsTests {
  @Test("each text is kept once, and only so many of them")
  func kept() {
    var warnings = PluginWarnings()
    for number in 0..<3000 { warnings.add("block \(number % 30)") }
    #expect(warnings.texts.prefix(20) == (0..<20).map { "block \($0)" }[...])
    #expect(warnings.texts.count == 21)
    #expect(warnings.texts.last?.hasSuffix("more warnings are left out") == true)
  }

  @Test("a text without end is cut")
  func long() {
    var warnings = PluginWarnings()
    warnings.add(String(repeating: "x", count: 60_000))
    #expect(warnings.texts.map(\.count) == [501])
  }
}
