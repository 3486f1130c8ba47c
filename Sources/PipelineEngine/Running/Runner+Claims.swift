import PipelineModel
import Platform

/// Claims: of several processes with the same work, one does it and the others wait.
extension Runner {
  /// Seconds between two checks of another process's work.
  private static let patience = 0.2

  /// Does a piece of work. If another process took it over while this one was stopped, the run uses
  /// that one's results.
  /// - Returns: the result of `work`; false if it was taken over.
  func unlessTakenOver(_ steps: [StepID], _ work: () throws -> Bool) throws -> Bool {
    do {
      return try work()
    } catch {
      let cause: SpoolError.Cause? =
        switch error {
        case let failure as PassFailure: failure.error.cause
        case let error as SpoolError: error.cause
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
    var wait = WaitNotice()
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
  /// Does the work, and then disposes of its unfinished files: they are deleted when it is done or
  /// impossible, and stay for resumption after a failure of the surroundings or a stop.
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
  /// Whether these steps are still undone since the survey.
  func isCurrent(_ steps: [StepID], in store: any ArtifactStore) throws(SpoolError) -> Bool {
    for id in steps {
      guard case .pending(let components) = findings[id] else { continue }
      if try store.checkpoint(for: components.key) != nil { return false }
    }
    return true
  }
}

/// The waits for other processes to report: each owner once. A pure value.
///
/// A process that has just claimed work holds its lock before its name is written. So an owner
/// without a name is reported only if the next check does not show one.
struct WaitNotice {
  private var last: WorkOwner?
  private var isUnnamed = false

  /// Records the owner of the work, and returns the owner to report, if any.
  mutating func take(_ owner: WorkOwner) -> WorkOwner? {
    guard owner.processNumber > 0 || isUnnamed else {
      isUnnamed = true
      return nil
    }
    isUnnamed = owner.processNumber <= 0
    // The same wait continues if only its name is missing for once.
    if isUnnamed, last != nil { return nil }
    guard owner != last else { return nil }
    last = owner
    return owner
  }
}
