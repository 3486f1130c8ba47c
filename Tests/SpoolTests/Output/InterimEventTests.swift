import PipelineEngine
import PipelineModel
import Testing
@testable import spool

@Suite struct InterimNewsTests {
  private let steps = [StepID("eq"), StepID("export")]

  @Test("where a pass goes on, of how much, and what was lost, in one line")
  func resumed() {
    var news = InterimEvent()
    for name in ["decode", "eq", "compress"] {
      #expect(news.take(.reused(StepID(name), kind: name)) == nil)
    }
    #expect(
      news.take(.resumed(steps: steps, atSeconds: 432.9, ofSeconds: 600, lostSeconds: 1.26))
        == "Going on with eq, export at 7:12 of 10:00: 3 stages reused, about 1.3 s of work lost")
  }

  @Test("what is not known or not so is left out")
  func bare() {
    var news = InterimEvent()
    #expect(
      news.take(.resumed(steps: steps, atSeconds: 3723, lostSeconds: 0))
        == "Going on with eq, export at 1:02:03: no work lost")
    _ = news.take(.reused(StepID("a"), kind: "a"))
    _ = news.take(.passStarted(steps: steps, replayed: [], mediaSeconds: 61))
    #expect(
      news.take(.resumed(steps: steps, atSeconds: 5, lostSeconds: 2))
        == "Going on with eq, export at 0:05 of 1:01: 1 stage reused, about 2.0 s of work lost")
  }

  @Test("where nothing is left of what an earlier run had begun, that is said")
  func beganAnew() {
    var news = InterimEvent()
    let event = RunEvent.beganAnew(
      steps: steps, ResumeLoss(.notesLost, at: 0, run: RunID("20261121-142205-3f9a")))
    #expect(
      news.take(event)
        == "Beginning anew with eq, export: "
        + "of what run 20261121-142205-3f9a had begun, nothing was noted yet, or no notes are left")
    _ = news.take(.reused(StepID("a"), kind: "a"))
    #expect(news.take(event)?.contains("eq, export: 1 stage reused, of what run") == true)
    let upgrade = RunEvent.beganAnew(
      steps: steps,
      ResumeLoss(
        .pluginChanged, at: 0, run: RunID("r"), part: "files of the plugin eq 1 have changed"))
    #expect(
      news.take(upgrade)?.hasSuffix(
        "files of the plugin eq 1 have changed, and nothing that run r had begun with it is used")
        == true)
  }

  @Test("work that was taken over from a stopped process begins anew, and all of it is lost")
  func takenOver() {
    var news = InterimEvent()
    let run = RunID("20261121-142205-3f9a")
    #expect(
      news.take(
        .beganAnew(
          steps: steps, ResumeLoss(.takenOver, at: 0, run: run, processNumber: 4711),
          lostSeconds: 14.2))
        == "Beginning anew with eq, export: taken over from process 4711 of run "
        + "20261121-142205-3f9a, which is stopped, about 14.2 s of work lost")
    #expect(
      news.take(.beganAnew(steps: steps, ResumeLoss(.takenOver, at: 0), lostSeconds: 0))
        == "Beginning anew with eq, export: taken over from another process, which is stopped, "
        + "no work lost")
  }

  @Test("what was damaged is named, and where it is made again")
  func damaged() {
    var news = InterimEvent()
    #expect(
      news.take(.dropped(StepID("decode"), part: "kept sound", goesOnAtSeconds: 0))
        == "The kept sound of decode was damaged: decode begins anew with it")
    #expect(
      news.take(.dropped(StepID("export"), part: "unfinished m4a file", goesOnAtSeconds: 90))
        == "The unfinished m4a file of export was damaged: export goes on with it at 1:30")
    #expect(
      news.take(
        .beganAnew(
          steps: steps, ResumeLoss(.damaged, at: 0, part: "what was noted of the work"),
          lostSeconds: 3))
        == "Beginning anew with eq, export: what was noted of the work was damaged, "
        + "about 3.0 s of work lost")
  }

  @Test("waiting is told once for each process, and again when it stops")
  func waiting() {
    var news = InterimEvent()
    let wait = RunEvent.waiting(processNumber: 4711, isStopped: false)
    #expect(news.take(wait) == "Waiting for process 4711, which does the same work")
    #expect(news.take(wait) == nil)
    let stopped = news.take(.waiting(processNumber: 4711, isStopped: true))
    #expect(stopped?.contains("is stopped; kill -CONT 4711") == true)
    #expect(
      news.take(.waiting(processNumber: 0, isStopped: false))
        == "Waiting for another process, which does the same work")
  }
}
