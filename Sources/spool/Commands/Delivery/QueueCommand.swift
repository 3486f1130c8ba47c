import Delivery
import PipelineEngine
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool deliver queue`: what is on its way, and how it stands.
  static let deliverQueue = Command(
    name: "deliver queue", group: "Care",
    summary: "Show what is on its way to destinations, and what they have.",
    discussion: """
      Files that wait or are being sent come first to last as they were added, each with its last \
      failure and when it is tried again. What is delivered is listed with --all: a destination has \
      given all of its bytes back.
      """,
    options: [
      Options.destination, Options.state, Options.all, Options.limit, Options.destinations,
      Options.store, Options.json,
    ],
    examples: [
      Example("What has failed", "spool deliver queue --state failed"),
      Example("All that a destination has", "spool deliver queue --to nas --state delivered"),
    ],
    perform: CommandContext.showQueue)

  /// `spool deliver retry`: has files tried at once.
  static let deliverRetry = Command(
    name: "deliver retry", group: "Care",
    summary: "Try files at once that wait for a later time or have failed.",
    discussion: """
      They wait again as if they were new, and their destinations are tried at once. What sends is a \
      watch that runs, or spool deliver run. A recording that failed because of them is processed \
      again, which finds all of its work done.

      A delivered file is sent again only by its number, as where it is gone at its destination. Nothing \
      there is replaced: where the file itself still lies under its name, nothing is sent, and another \
      file of that name has to be moved away first.
      """,
    positionals: [Options.files],
    options: [Options.destination, Options.destinations, Options.store, Options.quiet],
    examples: [
      Example("All of them", "spool deliver retry"),
      Example("What one destination is to get", "spool deliver retry --to nas"),
      Example("A file that is gone there", "spool deliver retry 12"),
    ],
    perform: CommandContext.retryDeliveries)

  /// `spool deliver release`: sends what is held of a sensitive recording.
  static let deliverRelease = Command(
    name: "deliver release", group: "Care",
    summary: "Send what is held of a recording that is marked as sensitive.",
    discussion: """
      A recording whose sidecar says "sensitive": true is queued for its destinations and held: nothing of \
      it leaves this machine before it is released. So is what still waits of a recording whose sidecar \
      says so later. What sends then is a watch that runs, or spool deliver run.
      """,
    positionals: [Options.subjects], options: [Options.store, Options.quiet],
    examples: [Example("This one may go", "spool deliver release 3f9a12cd")],
    perform: CommandContext.releaseDeliveries)

  /// `spool deliver pause`: sends nothing to a destination until it is resumed.
  static let deliverPause = Command(
    name: "deliver pause", group: "Care",
    summary: "Send nothing to a destination until it is resumed.",
    discussion: "What is being sent to it stops within a second, and goes on there later.",
    positionals: [Options.names], options: [Options.destinations, Options.store, Options.quiet],
    examples: [Example("On the road", "spool deliver pause cloud")],
    perform: { context in { () throws(SpoolError) in try context.pause(true) } })

  /// `spool deliver resume`: sends to a paused destination again.
  static let deliverResume = Command(
    name: "deliver resume", group: "Care",
    summary: "Send to a paused destination again.",
    positionals: [Options.names], options: [Options.destinations, Options.store, Options.quiet],
    examples: [Example("Back home", "spool deliver resume cloud")],
    perform: { context in { () throws(SpoolError) in try context.pause(false) } })
}

extension Options {
  fileprivate enum State: String, CaseIterable, ArgumentValue {
    case pending, held, waiting, uploading, delivered, failed
  }

  fileprivate static let destination = Option<String?>.value(
    "to", "DESTINATION", help: "Only what this destination is to get.",
    completion: NameKind.destinations.hint())
  fileprivate static let state = Option<State?>.value(
    "state", "STATE", help: "Only files in this state.")
  fileprivate static let all = Option<Bool>.flag("all", help: "Delivered files too.")
  fileprivate static let limit = Option<Int?>.value(
    "limit", "N", short: "n", help: "List so many; 0 lists all.",
    defaultText: "50, with --json all")
  fileprivate static let files = Positional<[String]>.repeated(
    "NUMBER", minimum: 0, help: "Numbers from spool deliver queue; left out, all files.")
  fileprivate static let names = Positional<[String]>.repeated(
    "DESTINATION", minimum: 1, help: "Names from spool deliver destinations.",
    completion: NameKind.destinations.hint())
}

extension CommandContext {
  fileprivate func showQueue() throws(SpoolError) -> ExitCode {
    let store = try existingStore()
    var query = DeliveryQueue.Query()
    query.destination = arguments[Options.destination]
    if let name = query.destination { try requireDestination(named: name, in: store) }
    if let state = arguments[Options.state].flatMap({
      QueuedDelivery.State(rawValue: $0.rawValue)
    }) {
      query.states = [state]
    } else if !arguments[Options.all] {
      query.states = [.pending, .held, .waiting, .uploading, .failed]
    }
    let limit = arguments[Options.limit] ?? (isJSON ? 0 : 50)
    guard limit >= 0 else { throw .usage("--limit is \(limit)", advice: "0 lists all") }
    query.limit = limit == 0 ? .max : limit + 1
    let found = try store.deliveries.matching(query)
    let shown = limit == 0 ? found : Array(found.prefix(limit))
    let states = try store.deliveries.destinations()
    let known = destinations(ofWaiting: store)
    let now = SystemClock().now
    if isJSON {
      for delivery in shown {
        console.print(json: delivery.line(heldUntil: states[delivery.destination]?.heldUntil))
      }
      return .done
    }
    let counts = try store.deliveries.tally()
    let resting = Set(known.filter { !$0.isSending(at: now) }.map(\.name))
    var lines = shown.map { delivery in
      Self.line(
        delivery, states[delivery.destination], isResting: resting.contains(delivery.destination),
        at: now)
    }
    if found.count > shown.count {
      lines.append("       and more: spool deliver queue --limit 0")
    }
    for (name, state) in states.sorted(by: { $0.key < $1.key }) {
      if let line = Self.line(state, at: now) { lines.append("\(name): \(line)") }
    }
    for destination in known where shown.contains(where: { $0.destination == destination.name }) {
      if let line = Self.hours(of: destination, at: now) {
        lines.append("\(destination.name): \(line)")
      }
    }
    let delivered = counts.filter { $0.state == .delivered }.reduce(0) { $0 + $1.count }
    if shown.isEmpty, let state = arguments[Options.state] {
      lines.append(state == .failed ? "no file has failed" : "no file is \(state.rawValue)")
    } else if shown.isEmpty {
      lines.append("nothing is on its way; \(Count.of(delivered, "file")) delivered")
    }
    console.print(Format.visible(lines: lines))
    return .done
  }

  /// `   12  waiting    nas:2025-03-01/walk.m4a  1.2 MB  again in 4 min: cannot …`
  /// - Parameter isResting: whether its destination waits for its hours.
  private static func line(
    _ delivery: QueuedDelivery, _ state: DestinationState?, isResting: Bool, at now: Double
  ) -> String {
    let size = delivery.file.byteCount
    var facts = delivery.state == .pending ? [] : [ByteCount(size).description]
    switch delivery.state {
    case .pending:
      facts.append(delivery.trouble == nil ? "made when what it is about is there" : "not made yet")
    case .held: facts.append("its recording is marked as sensitive")
    case .waiting:
      if delivery.sentByteCount > 0 {
        facts.append("\(100 * delivery.sentByteCount / max(1, size)) % there")
      }
      if state?.isPaused == true {
        facts.append("paused")
      } else if isResting {
        facts.append("in its hours")
      } else {
        let due = max(delivery.nextTry, state?.heldUntil ?? 0)
        facts.append(due > now ? "again in \(Format.duration(due - now))" : "due now")
      }
    case .uploading: facts.append("\(100 * delivery.sentByteCount / max(1, size)) % there")
    case .delivered:
      if let at = delivery.confirmation?.at { facts.append("confirmed \(Format.time(at))") }
    case .failed: break
    }
    return "\(Format.padLeft("\(delivery.id)", 6))  \(Format.pad(delivery.state.rawValue, 10))"
      + "\(delivery.destination):\(delivery.path)  \(facts.joined(separator: ", "))"
      + (delivery.trouble.map { ": \($0)" } ?? "")
  }

  /// When files are sent again; nil if it is not by its hours that they wait.
  static func hours(of destination: Destination, at now: Double) -> String? {
    guard !destination.isSending(at: now), let hours = destination.hours else { return nil }
    return "waits for its hours, which begin at \(hours.beginning)"
  }

  /// How a destination is held; nil if it is not.
  static func line(_ state: DestinationState, at now: Double) -> String? {
    if state.isPaused { return "paused" }
    guard let until = state.heldUntil else { return nil }
    let when = until > now ? "looked at again in \(Format.duration(until - now))" : "looked at now"
    return "\(state.trouble ?? "it failed"); \(when)"
  }

  fileprivate func retryDeliveries() throws(SpoolError) -> ExitCode {
    try requireStore()
    let typed = arguments[Options.files]
    let ids = typed.compactMap { Int64($0) }
    guard ids.count == typed.count else {
      throw .usage(
        "\(typed.first { Int64($0) == nil } ?? "") is no number",
        advice: "spool deliver queue shows the numbers")
    }
    let store = try openStore()
    if let name = arguments[Options.destination] {
      try requireDestination(named: name, in: store)
    }
    let (again, lostCount) = try deliveredAgain(ids, in: store)
    var count = try store.deliveries.retry(
      ids: ids.isEmpty ? nil : ids, destination: arguments[Options.destination])
    count += try store.deliveries.sendAgain(again)
    if count == 0, !typed.isEmpty, lostCount == 0 {
      throw .usage(
        "no such file waits or has failed", advice: "spool deliver queue shows the numbers")
    }
    if voice == .full, count == 0, lostCount == 0 {
      console.print("nothing waits, and nothing has failed")
    }
    if count > 0 { try tellDue(count, in: store) }
    return lostCount == 0 ? .done : .failed
  }

  /// Says who sends files that are due.
  private func tellDue(_ count: Int, in store: DiskStore) throws(SpoolError) {
    if voice != .full { return }
    let files = "\(Count.of(count, "file")) \(count == 1 ? "is" : "are")"
    if try store.deliveries.isSending() { return console.print("\(files) tried at once") }
    let waiting = try WaitingDeliveries.all(
      in: store.deliveries, destinations(ofWaiting: store)
    ).filter { $0.files > 0 }
    if waiting.allSatisfy(\.isResting) {
      let names = waiting.map(\.destination).joined(separator: ", ")
      return console.print(
        Format.visible(
          "\(files) due as soon as \(names) may be sent to: it is paused, or has other hours"))
    }
    console.print("\(files) due, and nothing sends now: the command below does")
    console.offer(
      try sendingCommands(in: store).compactMap { NextCommand(deliveryCommand($0)) })
  }

  fileprivate func releaseDeliveries() throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    var released = 0
    for name in arguments[Options.subjects] {
      let count = try store.deliveries.release(
        heldFor: try deliveryOwners(named: name, in: store))
      released += count
      if voice == .full {
        console.print(
          Format.visible(
            count == 0
              ? "nothing of \(name) is held"
              : "\(Count.of(count, "file")) of \(name) may be sent"))
      }
    }
    if released > 0 { try tellDue(released, in: store) }
    return .done
  }

  /// The delivered files among those that were named: they are sent again. Of several, each that is here
  /// no more is reported.
  /// - Throws: if the only one is here no more.
  private func deliveredAgain(
    _ ids: [Int64], in store: DiskStore
  ) throws(SpoolError) -> (there: [Int64], lostCount: Int) {
    if ids.isEmpty { return ([], 0) }
    var query = DeliveryQueue.Query()
    (query.ids, query.states) = (ids, [.delivered])
    query.destination = arguments[Options.destination]
    let delivered = try store.deliveries.matching(query)
    var there: [Int64] = []
    for delivery in delivered {
      do throws(SpoolError) {
        _ = try store.deliveries.source(of: delivery.file)
        there.append(delivery.id)
      } catch {
        guard delivered.count > 1 else { throw error }
        console.report("\(delivery.id): " + error.text(console))
      }
    }
    return (there, delivered.count - there.count)
  }

  fileprivate func pause(_ isPaused: Bool) throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    for name in arguments[Options.names] { try requireDestination(named: name, in: store) }
    for name in arguments[Options.names] {
      try store.deliveries.pause(name, isPaused)
      if voice == .full {
        console.print(Format.visible("\(name) is \(isPaused ? "paused" : "resumed")"))
      }
    }
    return .done
  }
}
