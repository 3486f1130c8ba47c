import Audio
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine
import Store

/// The gain that the recordings of one quick command share, so that they keep their loudness among
/// each other.
extension QuickRuns {
  /// Listens to all recordings for the album step of their pipelines, as a batch does; nil without
  /// such a step, and where nothing is heard.
  ///
  /// What is found goes into a temporary store, also with `--keep`: the gain is in the pipelines of the
  /// runs that are kept. A recording that cannot be read does not count: its own run says why.
  func albumGain(of jobs: [Result<QuickJob, SpoolError>]) throws(SpoolError) -> Decibels? {
    let jobs = jobs.compactMap { try? $0.get() }
    guard let first = jobs.first, let step = first.plan.albumSteps.first,
      let album = first.plan.step(step)?.stage.album
    else { return nil }
    let store = try temporaryStore(for: first.plan, request(first))
    defer { temporary.remove() }
    let figures = try album.figures { (asked, _) throws(SpoolError) in
      var findings: [String] = []
      for job in jobs {
        try stop.check()
        guard let plan = try job.plan.surveying(step, with: asked) else { continue }
        if let finding = try hear(job, plan, step, in: store) { findings.append(finding) }
      }
      return findings
    }
    return figures["album-gain"].map { Decibels($0) }
  }

  /// What a survey finds in one recording; nil if it cannot be read.
  private func hear(
    _ job: QuickJob, _ plan: Plan, _ step: StepID, in store: DiskStore
  ) throws(SpoolError) -> String? {
    let recorder = QuickRecorder(
      "listening to \(job.inputs.joined(separator: ", "))", isSilent: context.voice != .full,
      clock: clock, console: context.console)
    let record = RunRecord(
      id: clock.makeRunID(), pipeline: plan.name, pipelinePath: job.pipeline.path,
      inputs: plan.inputs, overrides: [:], startedAt: clock.now)
    do throws(RunError) {
      let run = try context.runner(in: store, recorder, clock, stop)
        .run(plan, Runner.Options(request(job)), record: record)
      return run.steps.first { $0.id == step }?.findings
    } catch {
      guard [.cancelled, .fullDisk].contains(error.error.cause) else { return nil }
      throw wording(error)
    }
  }

  private func request(_ job: QuickJob) -> RunRequest {
    RunRequest(
      pipelineText: job.pipeline.text, folder: folder, isReplacing: false, keepsEverything: false,
      names: nil, pluginFolder: nil, chapters: nil)
  }
}
