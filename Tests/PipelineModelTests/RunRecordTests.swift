import PipelineModel
import Platform
import Testing

@Suite("A run's record") struct RunRecordTests {
  private func run(
    _ state: RunRecord.State = .failed, _ cause: SpoolError.Cause? = nil,
    inputs: [String: String] = [:], names: [String]? = nil
  ) -> RunRecord {
    var run = RunRecord(
      id: RunID("r"), pipeline: "p", pipelinePath: "/p.yaml", inputs: inputs, overrides: [:],
      startedAt: 0)
    run.state = state
    run.failureCause = cause
    run.inputNames = names
    return run
  }

  @Test("resuming can succeed unless the recording or a parameter is wrong, or nothing is left")
  func resumable() {
    for state in [RunRecord.State.cutOff, .interrupted, .paused] { #expect(run(state).isResumable) }
    for state in [RunRecord.State.running, .done, .dropped] { #expect(!run(state).isResumable) }
    for cause in [SpoolError.Cause.environment, .fullDisk, .blocked, .transient] {
      #expect(run(.failed, cause).isResumable && run(.refused, cause).isResumable)
    }
    #expect(!run(.failed, .input).isResumable && !run(.refused, .input).isResumable)
    // Old records do not say who can change the outcome.
    #expect(run(.failed).isResumable)
  }

  @Test("inputs are in the pipeline's order, and in old records those of a list by number")
  func order() {
    let tracks = Dictionary(uniqueKeysWithValues: (1...11).map { ("tracks.\($0)", "/\(20 - $0)") })
    #expect(
      run(inputs: tracks).inputPaths == (1...11).map { "/\(20 - $0)" }, "\(run(inputs: tracks))")
    let two = run(inputs: ["a": "/1", "b": "/2"], names: ["b", "a"])
    #expect(two.inputPaths == ["/2", "/1"] && two.orderedInputs.map(\.name) == ["b", "a"])
  }
}
