import PipelineEngine
import PipelineModel
import Testing

@Suite struct RunEventConcernTests {
  private let eq = StepID("eq")

  @Test func `warnings, damage and work that was taken over concern a log`() {
    #expect(RunEvent.warning(eq, "hums").concern.map { "\($0.step): \($0.text)" } == "eq: hums")
    #expect(
      RunEvent.dropped(eq, part: "kept sound", goesOnAtSeconds: 3).concern?.text
        == "the kept sound was damaged, and is made again")
    let owner = ResumeLoss(.takenOver, at: 0, processNumber: 4711)
    #expect(
      RunEvent.beganAnew(steps: [eq, StepID("gate")], owner).concern?.text
        == "taken over from process 4711, which is stopped: it begins anew")
    let damage = ResumeLoss(.damaged, at: 0, part: "what was noted of the work")
    #expect(
      RunEvent.beganAnew(steps: [eq], damage, lostSeconds: 2).concern?.text
        == "what was noted of the work was damaged: it begins anew")
  }

  @Test func `what happens in every run does not`() {
    #expect(RunEvent.progress(eq, done: 1, total: 2).concern == nil)
    #expect(RunEvent.resumed(steps: [eq], atSeconds: 1, lostSeconds: 0).concern == nil)
    #expect(RunEvent.beganAnew(steps: [eq], ResumeLoss(.notesLost, at: 0)).concern == nil)
  }
}
