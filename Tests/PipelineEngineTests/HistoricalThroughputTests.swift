@testable import PipelineEngine
import PipelineModel
import TestSupport
import Testing

@Suite struct PastSpeedTests {
  private let plan: Plan

  init() throws {
    plan = try Plan(
      .sample([.step("open"), .step("change", id: "a"), .step("write")]),
      catalog: SampleStages.catalog, inputs: ["note": "/a.wav"])
  }

  private func run(
    _ seconds: Double, media: Double = 100, outcomes: [StepRecord.Outcome] = [.made, .made, .made],
    state: RunRecord.State = .done, batch: RunRecord.Batch? = nil
  ) -> RunRecord {
    var run = RunRecord(
      id: RunID("r"), pipeline: "sample", pipelinePath: "/p", inputs: [:], overrides: [:],
      startedAt: 0, batch: batch)
    run.state = state
    run.activeSeconds = seconds
    run.mediaSeconds = media
    run.steps = zip(plan.steps, outcomes).map {
      StepRecord(id: $0.id, kind: $0.descriptor.kind, outcome: $1)
    }
    return run
  }

  private func speed(_ runs: [RunRecord]) -> Forecast.Throughput? {
    Forecast.Throughput(runs, of: plan.steps, pipeline: "sample")
  }

  @Test func `the middle one of the newest runs counts, whatever one of them was kept from`() {
    let speed = speed([run(2), run(50), run(3), run(2.5), run(2.2), run(0.1)])
    #expect(speed?.secondsPerMediaSecond == 0.025)
    #expect(speed?.runCount == 5)
  }

  @Test func `runs that reused, failed or shared the machine tell nothing`() {
    let batch = RunRecord.Batch(batch: RunID("b"), folder: "/in", command: nil)
    #expect(speed([]) == nil)
    #expect(
      speed([
        run(1, outcomes: [.reused, .made, .made]), run(1, state: .interrupted),
        run(1, batch: batch), run(1, media: 0),
      ]) == nil)
    #expect(Forecast.Throughput([run(1)], of: plan.steps, pipeline: "other") == nil)
  }
}
