import Glibc
import PipelineModel
import Platform
import Synchronization

/// The places of a run's files, which are checked before the work, so that a refusal leaves all of
/// them as they were.
extension Execution {
  /// What is said of a refusal.
  var isAsItWas: String {
    let placed = exports.placed.withLock { $0 }
    let replaced = exports.files.withLock(\.values).filter {
      !$0.wasThere && !placed.contains($0.path)
    }
    return replaced.isEmpty
      ? "no file was replaced"
      : "this run had written " + replaced.map(\.path).sorted().joined(separator: " and ")
  }

  /// A file that is in the way of an export.
  struct Obstacle {
    let step: StepID
    let path: String
    let error: SpoolError
    /// Whether it is certain to be refused; else it stays if it has the bytes of the export.
    let isCertain: Bool
  }

  /// Throws, before the work, for exports that would replace another recording's, another
  /// pipeline's, those of another receipt, or files of other programs. What only the bytes decide is
  /// published first.
  /// - Parameter record: the run's.
  func checkPlaces(_ survey: Survey, _ record: RunRecord) throws(PassFailure) {
    do throws(PassFailure) {
      try takePlaces(survey, record)
    } catch {
      throw PassFailure(error.step, error.error.noting(isAsItWas))
    }
  }

  /// Notes which places of the exports are free, and which are in doubt. Throws for the others.
  func takePlaces(_ survey: Survey, _ record: RunRecord) throws(PassFailure) {
    let (obstacles, free) = places(survey, record)
    exports.companions.withLock { $0 = free }
    exports.doubtful.withLock { $0 = Set(obstacles.lazy.filter { !$0.isCertain }.map(\.path)) }
    let certain = obstacles.filter(\.isCertain)
    guard let first = certain.first, !awaitsIdentity(survey) else { return }
    let others = certain.dropFirst().map(\.path).filter { $0 != first.path }
    let error =
      others.isEmpty
      ? first.error : first.error.noting("in the way too: \(others.joined(separator: ", "))")
    throw PassFailure(first.step, error)
  }

  /// Publishes everything, and writes the receipts. Of two processes with the same receipts, the
  /// second waits for the first, whose receipts it then finds.
  func publish(_ progress: inout RunProgress) throws {
    guard writesReceipts else {
      try publishAll(&progress)
      return warnOfBrokenReceipts(progress)
    }
    let paths = receiptNames.flatMap(\.fileNames).map { "\(folder)/\($0)" }
    let claim = try self.claim(
      SHA256.digest(of: "spool-receipts-1\n" + paths.joined(separator: "\n")),
      "receipts \(paths.last ?? folder)")
    try claim.settled {
      try publishAll(&progress)
      try writeReceipts(&progress)
    }
    warnOfBrokenReceipts(progress)
  }

  /// The exports that a run would be refused, as far as that is known before it; those that it may be
  /// refused where a recording is yet to be identified.
  func refusals(_ survey: Survey) -> [RunError] {
    places(survey, nil).obstacles.filter(\.isCertain).map {
      failure(PassFailure($0.step, $0.error))
    }
  }

  /// What is in the way of the run's exports, and the recordings of those that nothing is in the way
  /// of, by path.
  /// - Parameter record: the run's; nil before there is one.
  private func places(
    _ survey: Survey, _ record: RunRecord?
  ) -> (obstacles: [Obstacle], free: [String: RecordingIdentity?]) {
    noteSamples(outputs(survey))
    let signed = exports.signed.withLock { $0 }
    lazy var isShared =
      record.map { earlierRun(than: $0) != nil || runUnderWay(on: $0) != nil } ?? false
    // What is done and has the same content as the file there stays.
    lazy var news = Set(unpublished(survey).map(\.path))
    var found: [Obstacle] = []
    var free: [String: RecordingIdentity?] = [:]
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      let exportFolder = exportFolder.of(step, namesake: namesake(of: step))
      let source = ExportSource(recording(of: step.id))
      for name in stage.fileNames(of: step.id, recordings: names(of: step)) {
        let path = folder + "/" + name
        if let refusal = exportFolder.refusal(toTake: path) {
          found.append(Obstacle(step: step.id, path: path, error: refusal, isCertain: true))
          continue
        }
        guard let stamp = try? FileStamp(at: path) else {
          if step.stage.receipt == nil, !stage.stepsAside {
            free.updateValue(source.recording, forKey: path)
          }
          continue
        }
        if stage.stepsAside,
          exportFolder.byteCount(ofPublished: path) == nil || isInput(path)
        {
          continue
        }
        if options.isReplacing {
          if let refusal = try? exportFolder.refusal(toReplaceRecording: path) {
            found.append(Obstacle(step: step.id, path: path, error: refusal, isCertain: true))
          }
        } else if exportFolder.byteCount(ofPublished: path) != nil {
          // What cannot be told here is found when it is published.
          guard let refusal = try? exportFolder.refusal(toReplace: path, with: source) else {
            if step.stage.receipt == nil { free.updateValue(source.recording, forKey: path) }
            continue
          }
          // Receipts are not made in the store: one that was written before tells nothing.
          if survey.checkpoint(of: step.id) == nil || news.contains(path)
            || step.stage.receipt != nil
          {
            found.append(Obstacle(step: step.id, path: path, error: refusal, isCertain: true))
          }
        } else if step.stage.receipt == nil {
          // A killed process may have left it before it was recorded, one that works on the same is
          // about to record it, and copies have other times.
          let mayBeOurs =
            stamp.isRegularFile && stage.mayHaveWritten(name, beginning: Self.beginning(of: path))
            && (survey.checkpoint(of: step.id) != nil || signed.contains(path)
              || exportFolder.mayBeCopy(path) || isShared)
          found.append(
            Obstacle(
              step: step.id, path: path, error: SpoolError(isForeign: path), isCertain: !mayBeOurs))
        }
      }
    }
    return (found, free)
  }

  /// The first bytes of a file; fewer if it is shorter or cannot be read.
  private static func beginning(of path: String) -> [UInt8] {
    guard let file = try? FileOperations.system.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    else { return [] }
    return (try? file.bytes(16)) ?? []
  }

  /// Whether a recording is yet to be decoded whose samples the store may know under other bytes.
  func awaitsIdentity(_ survey: Survey) -> Bool {
    plan.steps.contains { step in
      // What is made of other steps' sound is another recording only if theirs is.
      guard case .streaming(let family, .source) = step.descriptor.flow,
        survey.checkpoint(of: step.id) == nil, !plan.files(of: step).isEmpty
      else { return false }
      // What cannot be known beforehand is known when the work is done.
      return (try? isLikeKnown(step, family, survey)) ?? true
    }
  }

  /// Whether the store has content that may be that of a pending source.
  func isLikeKnown(_ step: BoundStep, _ family: StageFamily, _ survey: Survey) throws -> Bool {
    let order = try PassOrder(
      PassPlanner.Outline(start: nil, path: [step.id]), plan: plan, survey: survey,
      pending: [step.id])
    let hints = try runner.executors[family]?.estimate(order).hints ?? []
    if hints.isEmpty { return true }
    for hint in hints where try store.hasCheckpoint(kind: step.descriptor.kind, hint: hint) {
      return true
    }
    return false
  }

  /// Records the identities of the sound inputs' samples that the outputs of the steps state.
  func noteSamples(_ outputs: [StepID: [PortName: StepOutput]]) {
    var samples: [String: Digest] = [:]
    for step in plan.steps {
      guard case .streaming(_, .source) = step.descriptor.flow,
        let port = step.descriptor.outputs.first?.name,
        let identity = outputs[step.id]?[port]?.identity
      else { continue }
      let inputs = step.sources.values.compactMap { source -> String? in
        if case .input(let name) = source { name } else { nil }
      }
      // A source of several inputs says nothing of each.
      if inputs.count == 1, let input = inputs.first, samples[input] == nil {
        samples[input] = identity
      }
    }
    exports.samples.withLock { $0 = samples }
  }
}
