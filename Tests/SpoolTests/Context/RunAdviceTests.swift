import PipelineModel
import Platform
import Testing
@testable import spool

@Suite("What a failed run advises") struct RunAdviceTests {
  private func run(_ pipeline: String) -> RunRecord {
    RunRecord(
      id: RunID("r"), pipeline: "p", pipelinePath: pipeline, inputs: ["note": "/a b.wav"],
      overrides: ["title": "Talk #12"], startedAt: 0)
  }

  @Test("where a file is in the way, to move it away, or the line that overwrites it")
  func occupied() {
    let error = SpoolError(isForeign: "/out/a.wav")
    let advice = run("/p.yaml").advice(to: "move it", behind: error.advice, ["--store", "s"])
    let line = "spool run /p.yaml 'note=/a b.wav' --set 'title=Talk #12' --store s --replace"
    #expect(advice == "move it; or overwrite it: \(line)")
    #expect(run("quick").advice(to: "move it", behind: error.advice, []) == "move it")
    #expect(run("/p.yaml").advice(to: "move it", behind: "something else", []) == nil)
    // Another attempt finds it there again: nothing offers to resume it.
    var failed = run("/p.yaml")
    (failed.state, failed.failureCause) = (.failed, error.cause)
    #expect(failed.wayOn == nil)
  }
}
