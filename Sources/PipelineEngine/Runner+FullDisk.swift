import PipelineModel

/// What is said when a disk fills up in the middle of a run: which one, how much is missing, and
/// that nothing done is lost.
extension Runner {
  /// Adds place, figures and advice to a failure for want of room; gives any other back as it is.
  /// - Parameter progress: how far the run came.
  func explainFullDisk(
    _ failure: RunError, _ plan: Plan, _ options: Options, _ progress: RunProgress
  ) -> RunError {
    guard failure.error.cause == .fullDisk, !RoomNeed.isRefusal(failure.error) else {
      return failure
    }
    if progress.isUntouched { return refuse(failure, plan, options, progress) }
    let isFolder = failure.error.message.contains(options.folder + "/")
    var reason = failure.error.reason ?? "No space left on device"
    if let need = remainingNeed(plan, options, progress) {
      let isExports = isFolder && !need.sharesDisk
      let needed =
        isExports
        ? need.folderByteCount : need.storeByteCount + (need.sharesDisk ? need.folderByteCount : 0)
      let free = isExports ? need.folderFreeByteCount : need.storeFreeByteCount
      // A file that did not fit is gone by now, so what is free may look like enough.
      reason +=
        "; the rest of the run needs about \(ByteCount(needed)), \(ByteCount(free)) are free"
      let missing = max(needed - free, 0)
      if missing > 0 { reason += ", so about \(ByteCount(missing)) more are needed" }
    }
    let error = StageError(
      "\(isFolder ? options.folder : "the store") is full: \(failure.error.message)",
      reason: reason,
      advice: "what is done is kept: free some space, then "
        + (options.resumeCommand ?? "running the same again") + " goes on",
      cause: .fullDisk)
    return RunError(
      error, step: failure.step, kind: failure.kind, recording: failure.recording)
  }

  /// Says of a run whose first word already did not fit that it was not begun, and what it takes.
  private func refuse(
    _ failure: RunError, _ plan: Plan, _ options: Options, _ progress: RunProgress
  ) -> RunError {
    let need = remainingNeed(plan, options, progress)
    let figures = need.map { need in
      let needed = need.storeByteCount + (need.sharesDisk ? need.folderByteCount : 0)
      return "; the run needs about \(ByteCount(needed)) there, and "
        + "\(ByteCount(need.storeFreeByteCount)) are free"
    }
    let error =
      need?.finalRefusal
      ?? StageError(
        "the store is full: \(failure.error.message)",
        reason: (failure.error.reason ?? "No space left on device") + (figures ?? ""),
        advice: "nothing was begun: free some space" + RoomNeed.collection, cause: .fullDisk)
    return RunError(error, recording: failure.recording)
  }

  /// What the rest of a run will write, and what is free now; nil where that cannot be told.
  private func remainingNeed(
    _ plan: Plan, _ options: Options, _ progress: RunProgress
  ) -> RoomNeed? {
    var recordings: [String: StepOutput] = [:]
    if let identities = progress.record.recordings {
      for (name, digest) in identities {
        recordings[name] = StepOutput(kind: plan.inputKinds[name] ?? .file, identity: digest)
      }
    } else {
      // Nothing could be written before they were read.
      guard let read = try? identify(plan) else { return nil }
      recordings = read
    }
    guard let survey = try? Survey(plan, recordings: recordings, store: store) else { return nil }
    let publisher = Publisher(self, plan, options, recordings)
    return try? roomNeed(plan, survey, options, publisher, held: progress.heldByteCount)
  }
}
