import PipelineModel
import Testing
@testable import spool

@Suite("What many files of a batch have in common is told once, and counted")
struct WarningTallyTests {
  @Test func `equal warnings of a step are one, others are their own`() {
    var tally = WarningTally()
    let (export, decode) = (StepID("export"), StepID("decode"))
    let told = [
      (export, "wav: 24 bit"), (export, "wav: 24 bit"), (export, "wav: 24 bit"),
      (decode, "wav: 24 bit"), (export, "other"),
    ].map { tally.isNew($0, $1) }
    #expect(told == [true, false, false, true, true])
    #expect(tally.lines == ["warning: export: wav: 24 bit; the same for 2 more files"])
  }
}
