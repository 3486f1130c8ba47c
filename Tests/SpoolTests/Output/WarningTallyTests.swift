@testable import spool
import Testing

@Suite("The warnings of a batch")
struct WarningTallyTests {
  @Test("are told once each, whatever file they name, and counted at the end")
  func once() {
    var tally = WarningTally()
    #expect(tally.add("export: iXML of a.wav is lost", of: "in/a.wav") != nil)
    #expect(tally.add("export: iXML of b.wav is lost", of: "in/b.wav") == nil)
    #expect(tally.add("export: iXML of c.wav is lost", of: "in/c.wav") == nil)
    #expect(
      tally.add("export: 3 samples are clipped", of: "in/c.wav")
        == "in/c.wav: export: 3 samples are clipped")
    #expect(tally.repeated == ["2 more files, as in/a.wav: export: iXML of a.wav is lost"])
  }
}
