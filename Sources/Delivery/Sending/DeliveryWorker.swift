package import PipelineEngine
import PipelineModel
package import Platform
package import Store
internal import Synchronization

/// Sends what is queued: each destination has threads of its own, so that one that is slow or away
/// stops no other.
package final class DeliveryWorker: Sendable {
  package enum Event: Sendable {
    case began(QueuedDelivery)
    /// At most a few times a second.
    case progress(QueuedDelivery, UploadProgress)
    case delivered(QueuedDelivery, QueuedDelivery.Confirmation)
    /// It is tried again, after so many seconds.
    case postponed(QueuedDelivery, SpoolError, seconds: Double)
    case failed(QueuedDelivery, SpoolError)
    /// All files of a destination wait, for so many seconds.
    case held(destination: String, SpoolError, seconds: Double)
    /// The queue itself cannot be used.
    case trouble(SpoolError)
  }

  let queue: DeliveryQueue
  private let documents: DeliveryDocuments
  let destinations: Destinations
  let environment: [String: String]
  let clock: any RunClock
  let schedule = DeliverySchedule()
  let record: @Sendable (Event) -> Void
  /// The user's request to stop.
  let stop: StopRequest
  /// Ends the threads of the present run when nothing is left to do.
  private let end = Mutex(StopRequest())
  private let board = Mutex(Board())
  private let network: @Sendable () -> String

  /// What the threads share.
  private struct Board {
    /// Threads that look for work, or work.
    var busyCount = 0
    /// The files that failed one after the other, without a success between, by destination.
    var failing: [String: Set<Int64>] = [:]
    /// Whether a document may be made, as after a confirmation.
    var hasNews = true
  }

  /// Seconds between two looks at the network.
  private static let networkPeriod = 2.0
  /// Seconds between two looks at the queue.
  private static let lookPeriod = 0.5
  /// Seconds until a document is tried again that could not be made.
  private static let documentPeriod = 60.0
  /// Files of one destination that fail in a row until the destination itself counts as failing.
  private static let suspicion = 3

  /// - Parameters:
  ///   - sign: signs confirmations; nil where nothing can be signed.
  ///   - network: what changes when the machine gets another way to the network.
  package init(
    _ store: DiskStore, to destinations: Destinations, _ environment: [String: String],
    sign: DeliveryDocuments.Signer? = nil, clock: any RunClock, stop: StopRequest,
    network: @Sendable @escaping () -> String = NetworkRoutes.text,
    record: @Sendable @escaping (Event) -> Void
  ) {
    self.network = network
    queue = store.deliveries
    documents = DeliveryDocuments(store, sign: sign)
    self.destinations = destinations
    self.environment = environment
    self.clock = clock
    self.stop = stop
    self.record = record
  }

  /// Sends until it is stopped, or until a condition holds. Blocks.
  /// - Parameter isDone: asked several times a second, with whether anything is being sent or due.
  /// - Returns: false, and nothing is sent, if another process sends what this store has queued.
  package func run(until isDone: (_ isIdle: Bool) throws(SpoolError) -> Bool) throws(SpoolError)
    -> Bool
  {
    try queue.whileSending { () throws(SpoolError) in
      try queue.recover()
      let end = StopRequest()
      self.end.withLock { $0 = end }
      let threads = destinations.all.flatMap { destination in
        (0..<destination.laneCount).map { lane in
          BackgroundThread(name: "deliver") { [self] in serve(destination, lane) }
        }
      }
      defer {
        end.request(signal: 15)
        for thread in threads { thread.join() }
      }
      var (routes, lookedAt) = (network(), clock.elapsed)
      var state = Documents()
      while true {
        try makeDocuments(&state)
        if stop.isRequested { break }
        if try isDone(isIdle()) { break }
        clock.sleep(0.05, unless: stop)
        guard clock.elapsed - lookedAt >= Self.networkPeriod else { continue }
        lookedAt = clock.elapsed
        let now = network()
        if now != routes { try wake() }
        routes = now
      }
    }
  }

  /// Which documents could not be made, and when to look again.
  private struct Documents {
    var blocked: [Int64: Double] = [:]
    var lookedAt = -Double.infinity
    var troubles: Set<String> = []
  }

  /// Makes the documents whose files are all delivered: at once after a confirmation, and from time to
  /// time, for other processes add some.
  private func makeDocuments(_ state: inout Documents) throws(SpoolError) {
    let now = clock.elapsed
    let hasNews = board.withLock { board in
      defer { board.hasNews = false }
      return board.hasNews
    }
    guard hasNews || now - state.lookedAt >= Self.lookPeriod else { return }
    state.lookedAt = now
    state.blocked = state.blocked.filter { now - $0.value < Self.documentPeriod }
    var failed: [(QueuedDelivery, SpoolError)] = []
    try documents.makeDue(besides: Set(state.blocked.keys)) { failed.append(($0, $1)) }
    for (delivery, error) in failed {
      state.blocked[delivery.id] = now
      // One key may keep many of them waiting.
      if state.troubles.insert(error.account).inserted { record(.trouble(error)) }
    }
  }

  /// Has everything tried that may have waited for the network.
  private func wake() throws(SpoolError) {
    for destination in destinations.all where destination.usesNetwork {
      try queue.wake(destination.name)
    }
  }

  /// Whether nothing is being sent, and nothing is due that can be sent now.
  private func isIdle() throws(SpoolError) -> Bool {
    if board.withLock({ $0.busyCount > 0 || $0.hasNews }) { return false }
    let states = try queue.destinations()
    for destination in destinations.all
    where states[destination.name].isOpen(at: clock.now) && destination.isSending(at: clock.now) {
      if try !queue.due(destination.name, at: clock.now, limit: 1).isEmpty { return false }
    }
    return board.withLock { $0.busyCount == 0 && !$0.hasNews }
  }

  private var isEnding: Bool { stop.isRequested || end.withLock { $0.isRequested } }

  /// Whether what is being sent may go on.
  var mayGoOn: Bool { !isEnding }

  /// The work of one thread: one connection to one destination.
  /// - Parameter lane: the first alone looks whether a destination works again.
  private func serve(_ destination: Destination, _ lane: Int) {
    var lane = Lane(destination, number: lane)
    var lastTrouble: String?
    while !isEnding {
      var hasWorked = false
      do throws(SpoolError) {
        board.withLock { $0.busyCount += 1 }
        defer { board.withLock { $0.busyCount -= 1 } }
        if let delivery = try next(of: lane) {
          hasWorked = true
          try send(delivery, over: &lane)
        }
        lastTrouble = nil
      } catch {
        if lastTrouble != error.account { record(.trouble(error)) }
        lastTrouble = error.account
      }
      if !hasWorked {
        if lane.isStale(at: clock.elapsed) { lane.disconnect() }
        wait(Self.lookPeriod)
      }
    }
  }

  private func wait(_ seconds: Double) {
    let until = clock.elapsed + seconds
    while !isEnding, clock.elapsed < until { clock.sleep(0.05, unless: stop) }
  }

  /// The next file to send, which is this thread's from now on; nil if there is none.
  private func next(of lane: borrowing Lane) throws(SpoolError) -> QueuedDelivery? {
    let name = lane.destination.name
    let state = try queue.destinations()[name]
    if state?.isPaused == true || !lane.destination.isSending(at: clock.now) { return nil }
    if let state, state.failures > 0 {
      // One file tells whether a destination works again.
      guard lane.number == 0, state.isOpen(at: clock.now) || lane.hasReturned else { return nil }
    }
    for delivery in try queue.due(name, at: clock.now, limit: 4) {
      if try queue.begin(delivery) { return delivery }
    }
    return nil
  }

  private func send(
    _ delivery: QueuedDelivery, over lane: inout Lane
  ) throws(SpoolError) {
    record(.began(delivery))
    let failure: SpoolError
    do throws(SpoolError) {
      let (confirmation, path) = try DeliveryAttempt(self, delivery).run(over: &lane)
      lane.used(at: clock.elapsed)
      try queue.confirm(delivery.id, confirmation)
      // It is confirmed: what cannot be removed now is removed at the next start.
      if lane.destination.encryption != nil { try? queue.removeEncrypted(of: delivery.id) }
      board.withLock { board in
        board.failing[delivery.destination] = nil
        board.hasNews = true
      }
      if try queue.destinations()[delivery.destination]?.failures ?? 0 > 0 {
        try queue.release(delivery.destination)
      }
      let renamed = path == delivery.path ? nil : try queue.matching(.of(ids: [delivery.id])).first
      return record(.delivered(renamed ?? delivery, confirmation))
    } catch {
      failure = error
    }
    lane.used(at: clock.elapsed)
    lane.noteFailure()
    if delivery.document != nil, failure.kind == .missing,
      (try? queue.source(of: delivery.file)) == nil
    {
      // Its bytes are lost, and made again of what they were made of.
      try queue.remake(delivery.id)
      return board.withLock { $0.hasNews = true }
    }
    let now = clock.now
    switch failure.remedy {
    case _ where failure.cause == .cancelled:
      try queue.postpone(
        delivery.id, after: delivery.attempts, because: delivery.trouble,
        until: min(now, delivery.nextTry))
    case .giveUp where [.changed, .missing].contains(failure.kind):
      if try queue.withdrawReplaced(delivery.id) { return }
      fallthrough
    case .giveUp:
      record(.failed(delivery, failure))
      try queue.fail(delivery.id, because: failure.instruction)
    case .hold:
      lane.disconnect()
      try queue.postpone(
        delivery.id, after: delivery.attempts, because: failure.account, until: now)
      try hold(delivery.destination, failure, asked: lane.requestedPause)
    case .retry:
      lane.disconnect()
      let attempts = delivery.attempts + 1
      let pause = schedule.pause(
        after: attempts, chance: clock.jitter(), asked: lane.requestedPause)
      try queue.postpone(
        delivery.id, after: attempts, because: failure.account, until: now + pause)
      record(.postponed(delivery, failure, seconds: pause))
      let failing = board.withLock { board in
        board.failing[delivery.destination, default: []].insert(delivery.id)
        return board.failing[delivery.destination]?.count ?? 0
      }
      if failing >= Self.suspicion {
        try hold(delivery.destination, failure, asked: lane.requestedPause)
      }
    }
  }

  private func hold(
    _ name: String, _ failure: SpoolError, asked: Double?
  ) throws(SpoolError) {
    let failures = (try queue.destinations()[name]?.failures ?? 0) + 1
    let pause = schedule.hold(
      after: failures, chance: clock.jitter(), asked: asked, isAway: failure.kind == .unanswered)
    try queue.hold(name, after: failures, because: failure.account, until: clock.now + pause)
    record(.held(destination: name, failure, seconds: pause))
  }
}

extension DestinationState? {
  /// Whether files of the destination may be sent.
  func isOpen(at time: Double) -> Bool { self?.isOpen(at: time) ?? true }
}

extension DestinationState {
  func isOpen(at time: Double) -> Bool { !isPaused && (heldUntil.map { $0 <= time } ?? true) }
}

/// A connection to a destination, and the thread that has it.
struct Lane: ~Copyable {
  let destination: Destination
  let number: Int
  private var transport: (any Transport & ~Copyable)?
  private var usedAt: Double?
  /// What the server asked for in its last refusal.
  private(set) var requestedPause: Double?
  private var failed: FolderCondition?

  /// Seconds for which an unused connection stays open.
  private static let patience = 20.0

  init(_ destination: Destination, number: Int) {
    self.destination = destination
    self.number = number
  }

  func isStale(at time: Double) -> Bool { usedAt.map { time - $0 > Self.patience } ?? false }

  mutating func used(at time: Double) {
    usedAt = time
    requestedPause = transport?.requestedPause
  }

  mutating func disconnect() {
    transport = nil
    usedAt = nil
  }

  /// Records how a folder is after a failure.
  mutating func noteFailure() { failed = FolderCondition(of: destination) }

  /// Whether a folder has come back since it was last used, as when its disk is mounted.
  var hasReturned: Bool {
    guard let failed, failed.mayReturn, let now = FolderCondition(of: destination) else {
      return false
    }
    return now != failed && now != .missing
  }

  /// Calls `body` with the connection, which is opened if there is none.
  mutating func with<Result>(
    _ environment: [String: String],
    _ body: (inout any Transport & ~Copyable) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    var open: any Transport & ~Copyable
    if let held = transport.take() {
      open = held
    } else {
      open = try destination.connect(environment)
    }
    do throws(SpoolError) {
      let result = try body(&open)
      transport = consume open
      return result
    } catch {
      transport = consume open
      throw error
    }
  }
}

/// The ways to the network that the kernel knows.
package enum NetworkRoutes {
  /// The routing tables as text, which changes when a network comes or goes. proc(5)
  @Sendable package static func text() -> String {
    ["route", "ipv6_route"].map { SmallFile.text(at: "/proc/net/\($0)") ?? "" }.joined()
  }
}
