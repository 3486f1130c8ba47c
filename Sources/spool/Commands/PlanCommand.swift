import PipelineEngine
import PipelineModel
import Platform
import SoundEngine
import Stages
import Store

extension Command {
  /// `spool pipeline plan`: shows what a run would do.
  static let plan = Command(
    name: "pipeline plan", group: "Pipelines",
    summary: "Show what a run would do: passes, reuse, disk and time. Changes nothing.",
    positionals: [Options.pipeline, Options.inputs],
    options: [
      Options.set, Options.plugins, Options.store, Options.out, Options.checkpoint,
      Options.destinations, Options.json,
    ],
    examples: [
      Example("Look before running", "spool pipeline plan Pipelines/voice-note.yaml note.m4a")
    ],
    perform: CommandContext.showPlan)
}

extension CommandContext {
  fileprivate func showPlan() throws(SpoolError) -> ExitCode {
    let pipeline = try pipeline(at: arguments[Options.pipeline])
    let inputs = try bind(arguments[Options.inputs], to: pipeline)
    let plan = try plan(pipeline, inputs: inputs, overrides: arguments[Options.set])
    warnOfUnused(arguments[Options.set], in: pipeline.definition)
    for (step, warning) in plan.captionsOfOtherSound {
      console.report("warning: \(Format.visible("\(step): \(warning)"))")
    }
    let folder = absolute(arguments[Options.out] ?? "exports")
    try OutputFolder.check(folder)
    let readable = try readableStore()
    _ = try delivery(for: plan, in: readable.store)
    var options = Runner.Options(folder: folder)
    options.keepsEverything = arguments[Options.checkpoint] == .every
    let forecast = try forecast(plan, options, in: readable.store)
    let need = need(forecast, folder: options.folder)
    answer(json(plan, forecast, need), text(plan, forecast, need))
    return .done
  }

  private func text(_ plan: Plan, _ forecast: Forecast, _ need: RoomNeed) -> String {
    var lines = ["\(plan.name)  \(plan.inputPaths.joined(separator: ", "))", ""]
    for (index, unit) in forecast.units.enumerated() {
      let steps = unit.steps.map(\.name).joined(separator: ", ")
      lines.append("pass \(index + 1)    \(steps)")
      if !unit.replayed.isEmpty {
        lines.append("  again   \(unit.replayed.map(\.name).joined(separator: ", "))")
      }
      if !unit.kept.isEmpty {
        lines.append("  keeps   \(unit.kept.map(\.name).joined(separator: ", "))")
      }
    }
    let reused = reused(forecast)
    if !reused.isEmpty {
      lines.append("reused    \(reused.map(\.name).joined(separator: ", "))")
    }
    for step in forecast.skipped { lines.append("skipped   \(step.id): \(step.reason)") }
    for receipt in forecast.receipts {
      let fate =
        receipt.isThere
        ? "stays if it says the same at the end, else it is signed again" : "is signed"
      lines.append("receipt   \(receipt.path.pathNames.last ?? receipt.path) \(fate)")
    }
    lines.append("")
    if forecast.units.isEmpty {
      let isAllThere =
        forecast.publishedByteCount == 0 && forecast.receipts.allSatisfy(\.isThere)
      lines.append(
        isAllThere
          ? "nothing to do: everything is in the store and in the output folder"
          : "nothing to compute: everything is in the store")
      if isAllThere { return Format.visible(lines: lines + refusals(forecast)) }
    }
    if let seconds = forecast.mediaSeconds { lines.append("length    \(Format.duration(seconds))") }
    lines += disk(need)
    lines += unsized(plan, forecast)
    if !forecast.units.isEmpty {
      let basis =
        forecast.pastRunCount > 0
        ? "as \(Count.of(forecast.pastRunCount, "earlier run")) took"
        : forecast.work.isLearned
          ? "from the speed of its stages in earlier runs"
          : "a rough guess, with no earlier run of all this to go by"
      lines.append(
        "time      \(Format.estimate(forecast.work))"
          + (forecast.work.unknownSteps.isEmpty ? ", \(basis)" : ""))
    }
    if let refusal = need.refusal {
      lines += ["", "It does not fit: \(refusal.message)."]
      if let advice = refusal.advice { lines.append("help:  \(advice)") }
    }
    return Format.visible(lines: lines + refusals(forecast))
  }

  /// The exports that would be refused before the work, or may be, each with the reason.
  private func refusals(_ forecast: Forecast) -> [String] {
    let head =
      forecast.areRefusalsCertain
      ? "It would be refused" : "It may be refused, which is known when the recording is decoded"
    return forecast.refusals.flatMap { refusal -> [String] in
      let (error, step) = (refusal.error, refusal.step.map { "\($0): " } ?? "")
      return ["", "\(head): \(step)\(error.message)."]
        + (error.reason.map { ["why:   \($0)"] } ?? [])
        + (error.advice.map { ["help:  \($0)"] } ?? [])
    }
  }

  /// The steps whose results are used as they are: those of a pass are streamed again.
  private func reused(_ forecast: Forecast) -> [StepID] {
    let again = Set(forecast.units.flatMap(\.replayed) + forecast.receipts.map(\.step))
    return forecast.reused.filter { !again.contains($0) }
  }

  /// The required and the free space of each disk.
  private func disk(_ need: RoomNeed) -> [String] {
    let (store, exports) = (ByteCount(need.storeByteCount), ByteCount(need.folderByteCount))
    let free = ByteCount(need.storeFreeByteCount)
    guard !need.sharesDisk else {
      return ["disk      about \(store) in the store and \(exports) of exports; \(free) are free"]
    }
    return [
      "disk      about \(store) in the store, where \(free) are free",
      "          about \(exports) of exports, where \(ByteCount(need.folderFreeByteCount)) are free",
    ]
  }

  /// The steps whose files may have any size: those of programs.
  private func unsized(_ plan: Plan, _ forecast: Forecast) -> [String] {
    let done = Set(reused(forecast))
    let steps = plan.steps.filter { step in
      guard let stage = step.stage as? any PublishingStage else { return false }
      return !done.contains(step.id)
        && !stage.fileNames(of: step.id, recordings: plan.recordings(of: step.id)).isEmpty
        && (step.descriptor.kind == "command" || !(step.stage is any DeclaredStage))
    }
    guard !steps.isEmpty else { return [] }
    let names = steps.map(\.id.name).joined(separator: ", ")
    return ["          besides the files of \(names), whose size nobody knows before"]
  }

  private func json(_ plan: Plan, _ forecast: Forecast, _ need: RoomNeed) -> Value {
    func names(_ ids: [StepID]) -> Value { .list(ids.map { .text($0.name) }) }
    return .group([
      "pipeline": .text(plan.name),
      "inputs": .group(plan.inputs.mapValues { .text($0) }),
      "passes": .list(
        forecast.units.map {
          .group([
            "steps": names($0.steps), "again": names($0.replayed), "keeps": names($0.kept),
          ])
        }),
      "reused": names(reused(forecast)),
      "skipped": names(forecast.skipped.map(\.id)),
      "receipts": .list(
        forecast.receipts.map {
          .group([
            "step": .text($0.step.name), "file": .text($0.path), "isThere": .flag($0.isThere),
          ])
        }),
      "mediaSeconds": forecast.mediaSeconds.map { .number($0) } ?? .null,
      "storeBytes": .number(Double(forecast.storeByteCount)),
      "exportBytes": .number(Double(forecast.publishedByteCount)),
      "freeBytes": .number(Double(need.storeFreeByteCount)),
      "exportFreeBytes": .number(Double(need.folderFreeByteCount)),
      "sharesDisk": .flag(need.sharesDisk),
      "fits": .flag(need.refusal == nil),
      "refused": .list(
        forecast.refusals.map { refusal in
          .group([
            "step": refusal.step.map { .text($0.name) } ?? .null,
            "certain": .flag(forecast.areRefusalsCertain),
            "message": .text(refusal.error.message),
            "reason": refusal.error.reason.map { .text($0) } ?? .null,
            "help": refusal.error.advice.map { .text($0) } ?? .null,
          ])
        }),
      "seconds": .number(forecast.seconds),
      "unknown": names(forecast.work.unknownSteps),
      "pastRuns": .number(Double(forecast.pastRunCount)),
    ])
  }
}
