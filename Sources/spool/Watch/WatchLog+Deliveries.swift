import Delivery
import Intake
import PipelineModel
import Platform
import Receipts
import Store
import Synchronization

/// Sends what is queued in the store, on threads of their own, without delaying recordings.
extension WatchLog {
  /// Seconds between two attempts to become the process that sends.
  private static let turnPeriod = 2.0

  /// Starts the threads.
  /// - Returns: stops them; what is being sent can be gone on with later.
  func beginDelivering(
    to destinations: Destinations, signing writer: ConfirmationWriter
  ) -> () -> Void {
    if destinations.all.isEmpty { return {} }
    let stop = StopRequest()
    let thread = BackgroundThread(name: "deliveries") {
      deliver(to: destinations, signing: writer, until: stop)
    }
    return {
      stop.request(signal: 15)
      thread.join()
    }
  }

  private func deliver(
    to destinations: Destinations, signing writer: ConfirmationWriter, until stop: StopRequest
  ) {
    let clock = SystemClock()
    let told = Mutex<[String: String]>([:])
    let worker = DeliveryWorker(
      store, to: destinations, Environment.variables, sign: writer.sign, clock: clock, stop: stop
    ) { event in tell(event, at: clock.now, told) }
    var lastTrouble: String?
    while !stop.isRequested {
      do throws(SpoolError) {
        // Where another process sends, this one takes its turn when that has ended.
        _ = try worker.run { _ in false }
        lastTrouble = nil
      } catch {
        if error.account != lastTrouble {
          record(WatchEvent(.trouble, at: clock.now, text: Format.visible(error.account)))
        }
        lastTrouble = error.account
      }
      clock.sleep(Self.turnPeriod, unless: stop)
    }
  }

  private func tell(
    _ event: DeliveryWorker.Event, at now: Double, _ told: borrowing Mutex<[String: String]>
  ) {
    func tell(
      _ event: WatchEvent.Event, _ text: String, of delivery: QueuedDelivery? = nil,
      seconds: Double? = nil
    ) {
      record(
        WatchEvent(
          event, at: now, file: delivery.map { Format.visible($0.file.name) },
          text: Format.visible(text), seconds: seconds))
    }
    switch event {
    case .began, .progress: break
    case .delivered(let delivery, _):
      told.withLock { $0[delivery.destination] = nil }
      tellDelivered(delivery, at: now)
      tellUploaded(behind: delivery, at: now)
    case .postponed(let delivery, let error, let seconds):
      guard isNews(error, delivery.destination, told) else { return }
      tell(
        .retrying, "\(delivery.destination): \(error.account)", of: delivery, seconds: seconds)
    case .failed(let delivery, let error):
      tell(
        .trouble,
        "\(delivery.destination) cannot get it: \(error.instruction); spool deliver retry tries again",
        of: delivery)
      tellFailed(behind: delivery, at: now)
    case .held(let name, let error, let seconds):
      guard isNews(error, name, told) else { return }
      tell(.retrying, "\(name): \(error.account)", seconds: seconds)
    case .trouble(let error): tell(.trouble, error.account)
    }
  }

  private func tellDelivered(_ delivery: QueuedDelivery, at now: Double) {
    let owners = (try? store.deliveries.owners(of: [delivery.id]))?[delivery.id] ?? []
    let recording = owners.lazy.compactMap { (owner) -> Recording? in
      guard case .recording(let key) = owner else { return nil }
      return (try? store.recordings.recording(key)) ?? nil
    }.first
    var event = WatchEvent(
      .delivered, at: now, recording: recording?.key.name,
      file: Format.visible(delivery.file.name),
      text: Format.visible("\(delivery.destination):\(delivery.path)"))
    (event.inbox, event.destination) = (recording?.inbox, delivery.destination)
    record(event)
  }

  /// A failure of a destination that repeats is reported once.
  private func isNews(
    _ error: SpoolError, _ name: String, _ told: borrowing Mutex<[String: String]>
  ) -> Bool {
    told.withLock { told in
      let isNews = told[name] != error.account
      told[name] = error.account
      return isNews
    }
  }

  /// Tells of the recordings that have failed because a destination cannot get this file.
  private func tellFailed(behind delivery: QueuedDelivery, at now: Double) {
    let owners = (try? store.deliveries.owners(of: [delivery.id]))?[delivery.id] ?? []
    for case .recording(let key) in owners {
      guard let recording = try? store.recordings.recording(key), recording.state == .failed
      else { continue }
      record(
        WatchEvent(
          .failed, at: now, inbox: recording.inbox, recording: key.name, file: recording.fileName,
          text: recording.reason.map { Format.visible($0) }))
    }
  }

  /// Tells of the recordings that waited for nothing but this file.
  private func tellUploaded(behind delivery: QueuedDelivery, at now: Double) {
    let owners = (try? store.deliveries.owners(of: [delivery.id]))?[delivery.id] ?? []
    for case .recording(let key) in owners {
      guard let recording = try? store.recordings.recording(key), recording.state == .uploaded,
        let last = try? store.deliveries.lastConfirmed(of: key), last == delivery.id
      else { continue }
      let copies = (try? store.deliveries.copies(of: key))?.destinations ?? []
      record(WatchEvent(confirmed: recording, by: copies, at: now))
    }
  }
}

extension CommandContext {
  /// The destinations as their file has them now, which has to have those of the pipelines.
  func destinations(
    for settings: WatchSettings, in store: DiskStore
  ) throws(SpoolError) -> Destinations {
    let destinations = try destinations()
    for request in settings.inboxes.flatMap(\.pipeline.deliveries) {
      try QueuedRunDelivery(store.deliveries, to: destinations).check(request)
    }
    return destinations
  }
}
