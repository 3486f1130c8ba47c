package import PipelineModel
package import Platform

/// Queues the files of runs for their destinations: the last work of a run, after its receipts.
package protocol RunDelivery: Sendable {
  /// Throws, before any work, if the destinations of a request are not known here.
  func check(_ request: DeliveryRequest) throws(SpoolError)

  /// Queues what a run gives, durably and idempotently. Nothing is sent yet.
  /// - Returns: whether everything was queued or delivered before.
  func queue(_ context: DeliveryContext) throws(SpoolError) -> Bool
}

/// What a run gives to its destinations.
package struct DeliveryContext: Sendable {
  package let request: DeliveryRequest
  /// The run: every export and receipt is published.
  package let run: RunRecord
  /// Its input files, by input.
  package let files: [String: SourceFile]
  package let exportFolder: any ExportFolder

  package init(
    _ request: DeliveryRequest, of run: RunRecord, files: [String: SourceFile],
    exportFolder: any ExportFolder
  ) {
    self.request = request
    self.run = run
    self.files = files
    self.exportFolder = exportFolder
  }
}

extension Execution {
  /// Throws, before any work, if what a step wants delivered could not be queued at the end.
  func checkDelivery() throws(PassFailure) {
    for step in plan.deliveringSteps {
      guard let request = step.stage.delivery else { continue }
      do throws(SpoolError) {
        guard let delivery = runner.delivery else {
          throw SpoolError(
            "nothing can be delivered here", reason: "no destinations are known to this command")
        }
        try delivery.check(request)
      } catch {
        throw PassFailure(step.id, error)
      }
    }
  }

  /// Queues the files of the run for every step that wants them delivered. The queue's entry is what
  /// such a step leaves behind: sending has its own time.
  func deliver(_ progress: inout RunProgress) throws {
    for step in plan.deliveringSteps {
      guard let request = step.stage.delivery, let delivery = runner.delivery else { continue }
      do throws(SpoolError) {
        try runner.stop.check()
        let (begunAt, began) = (clock.now, clock.elapsed)
        let wasThere = try delivery.queue(
          DeliveryContext(
            request, of: progress.record, files: plan.files, exportFolder: exportFolder))
        guard let checkpoint = try survey().checkpoint(of: step.id),
          progress.settleLast(step.id, checkpoint, wasThere: wasThere, store: store)
        else { continue }
        if wasThere {
          recorder.record(.reused(step.id, kind: step.descriptor.kind))
        } else if let made = progress.makeAgain(
          step.id, begunAt: begunAt, workSeconds: clock.elapsed - began)
        {
          recorder.record(.finished(made))
        }
      } catch {
        throw PassFailure(step.id, error)
      }
    }
  }
}
