import Hashing
import PipelineModel

/// Whose work it is: of several processes that come to the same work, one does it and the others
/// wait for it.
extension Runner {
  /// Seconds between two looks at work that somebody else does.
  private static let patience = 0.2

  /// Does a piece of work. Where another process has taken it over while this one was stopped, the run
  /// goes on with what that one does of it.
  /// - Returns: what `work` does; false where it was taken over.
  func unlessTakenOver(_ steps: [StepID], _ work: () throws -> Bool) throws -> Bool {
    do {
      return try work()
    } catch {
      let cause: StageError.Cause? =
        switch error {
        case let failure as PassFailure: failure.error.cause
        case let error as StageError: error.cause
        case let error as StoreError: StageError(error).cause
        default: nil
        }
      guard cause == .takenOver else { throw error }
      if let step = steps.first {
        recorder.record(
          .warning(
            step,
            "another process took this over while this one was stopped; what that does is reused"))
      }
      return false
    }
  }

  /// Claims a piece of work, waiting while another process does it.
  func claim(_ work: Digest, _ summary: String) throws -> any WorkClaim {
    var wait = WaitNews()
    while true {
      switch try store.claim(work, summary: summary) {
      case .granted(let claim): return claim
      case .taken(let owner):
        if let owner = wait.take(owner) {
          recorder.record(
            .waiting(processNumber: owner.processNumber, isStopped: owner.isStopped))
        }
        clock.sleep(Self.patience, unless: stop)
        try stop.check()
      }
    }
  }
}

extension WorkClaim {
  /// Does the work, and then settles what becomes of its unfinished files: they go when it is done
  /// or cannot be done, and stay for whoever goes on with it where the surroundings are at fault or
  /// the user stopped it.
  func settled<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      let result = try work()
      end()
      return result
    } catch let failure as PassFailure where failure.error.cause == .input {
      end()
      throw failure
    } catch {
      if heldByteCount > 0 { release() } else { end() }
      throw error
    }
  }
}

extension Survey {
  /// Whether nobody has done these steps since the survey.
  func isCurrent(_ steps: [StepID], in store: any ArtifactStore) throws(StoreError) -> Bool {
    for id in steps {
      guard case .pending(let components) = findings[id] else { continue }
      if try store.checkpoint(for: components.key) != nil { return false }
    }
    return true
  }
}
