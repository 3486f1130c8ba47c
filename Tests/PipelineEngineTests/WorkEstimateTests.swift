@testable import PipelineEngine
import PipelineModel
import Testing

@Suite struct WorkEstimateTests {
  private let first = StepID("first")
  private let second = StepID("second")

  private func estimate(_ seconds: Double?...) -> WorkEstimate {
    WorkEstimate(
      units: zip([first, second], seconds).map { WorkEstimate.Unit(steps: [$0], seconds: $1) },
      isLearned: true)
  }

  @Test func `before the work begins, what is left is the sum`() {
    #expect(estimate(20, 40).seconds(at: 5) == 60)
    #expect(estimate(20, nil).seconds(at: 5) == nil)
    #expect(estimate(20, nil).unknownSteps == [second])
  }

  @Test func `what the current pass shows of its speed outweighs what was expected of it`() {
    var estimate = estimate(20, 40)
    estimate.take(.passStarted(steps: [first], replayed: [], mediaSeconds: 100), now: 10)
    estimate.take(.progress(first, done: 50, total: 100), now: 50)
    // 40 s for the first half: 40 s by that, 10 s by the estimate.
    #expect(estimate.seconds(at: 50) == 0.5 * 40 + 0.5 * 10 + 40)
    estimate.take(.progress(first, done: 100, total: 100), now: 90)
    #expect(estimate.seconds(at: 90) == 40)
  }

  @Test func `a pass that goes on with earlier work shows the speed of its rest alone`() {
    var estimate = estimate(nil)
    estimate.take(.passStarted(steps: [first], replayed: [], mediaSeconds: 100), now: 0)
    estimate.take(.resumed(steps: [first], atSeconds: 80, ofSeconds: 100, lostSeconds: 0), now: 0)
    #expect(estimate.seconds(at: 0) == nil)
    estimate.take(.progress(first, done: 90, total: 100), now: 3)
    #expect(estimate.seconds(at: 3).map { abs($0 - 3) < 1e-9 } == true)
  }

  @Test func `what runs of the whole took is spread over the unknown, or else over all`() {
    var estimate = estimate(20, nil)
    estimate.fit(to: 50)
    #expect(estimate.units.map(\.seconds) == [20, 30] && estimate.unknownSteps == [])
    estimate.fit(to: 100)
    #expect(estimate.units.map(\.seconds) == [40, 60] && estimate.isLearned)
  }

  @Test func `what begins leaves behind what was planned before it`() {
    var estimate = estimate(20, 40)
    estimate.take(.passStarted(steps: [second], replayed: [], mediaSeconds: nil), now: 0)
    #expect(estimate.seconds(at: 0) == 40)
  }
}

@Suite struct StageSpeedTests {
  /// A run of one pass of `seconds` over 100 s of sound, with the work inside each stage.
  private func run(
    _ seconds: Double, _ work: [String: Double], batch: RunRecord.Batch? = nil
  ) -> RunRecord {
    var run = RunRecord(
      id: RunID("r"), pipeline: "p", pipelinePath: "/p", inputs: [:], overrides: [:],
      startedAt: 0, batch: batch)
    run.state = .done
    run.mediaSeconds = 100
    run.steps = work.map { kind, work in
      var step = StepRecord(id: StepID(kind), kind: kind, outcome: .made)
      step.begunAt = 1000
      step.finishedAt = 1000 + seconds
      step.workSeconds = work
      return step
    }
    return run
  }

  @Test func `a pass's time is divided by the work inside its stages`() {
    let speeds = StageSpeeds([run(10, ["eq": 3, "export": 12])])
    #expect(speeds.cost(of: ["eq"], mediaSeconds: 50)?.seconds == 1)
    #expect(speeds.cost(of: ["eq", "export"], mediaSeconds: 100)?.seconds == 10)
    #expect(speeds.cost(of: ["eq", "export"], mediaSeconds: 100)?.coreSeconds == 15)
    #expect(speeds.cost(of: ["eq", "align"], mediaSeconds: 100) == nil)
  }

  @Test func `newer runs count more`() {
    let speeds = StageSpeeds([run(10, ["eq": 1]), run(20, ["eq": 1])])
    let seconds = speeds.cost(of: ["eq"], mediaSeconds: 100)?.seconds ?? 0
    #expect(seconds > 10 && seconds < 15)
  }

  @Test func `runs of batches, which shared the machine, count where no other did the work`() {
    let batch = RunRecord.Batch(batch: RunID("b"), folder: "/in", command: nil)
    let speeds = StageSpeeds([
      run(90, ["eq": 1], batch: batch), run(90, ["align": 1], batch: batch), run(10, ["eq": 1]),
    ])
    #expect(speeds.cost(of: ["eq"], mediaSeconds: 100)?.seconds == 10)
    #expect(speeds.cost(of: ["align"], mediaSeconds: 100)?.seconds == 90)
  }

  @Test func `reused stages and old records tell nothing`() {
    var reused = run(10, ["eq": 1])
    reused.steps[0].outcome = .reused
    var old = run(10, ["eq": 1])
    old.steps[0].workSeconds = nil
    #expect(StageSpeeds([reused, old]).isEmpty)
  }
}
