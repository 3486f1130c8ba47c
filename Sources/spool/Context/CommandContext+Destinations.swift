import Delivery
import Intake
import Media
import PipelineModel
import Platform
import Receipts
import Store

extension Options {
  static let destinations = Option<String?>.value(
    "destinations", "FILE", help: "The file of destinations.",
    defaultText: "~/.config/spool/destinations.yaml, or /etc/spool/destinations.yaml",
    completion: .files(extensions: ["yaml", "yml"]))
}

/// The destinations of deliveries.
extension CommandContext {
  /// Where destinations are looked for, in this order: `$XDG_CONFIG_HOME/spool/destinations.yaml`, else
  /// `~/.config/spool/destinations.yaml`; then `/etc/spool/destinations.yaml`.
  static func destinationsPaths(_ environment: [String: String]) -> [String] {
    settingsPaths(environment).map { "\(FilePath.folder(of: $0))/destinations.yaml" }
  }

  /// The file that counts; nil if there is none and none was named.
  func destinationsPath() throws(SpoolError) -> String? {
    if let named = named(Options.destinations) {
      try requireThere(named)
      return absolute(named)
    }
    return Self.destinationsPaths(Environment.variables).first { FilePath.exists($0) }
  }

  /// The destinations that the file names; none without a file.
  func destinations() throws(SpoolError) -> Destinations {
    guard let path = try destinationsPath() else { return Destinations() }
    return try destinations(at: path)
  }

  /// Those of the usual file, and those of the files that have named the destinations of what waits.
  /// Mistakes in these are for the commands that use them.
  func destinations(ofWaiting store: DiskStore) -> [Destination] {
    var all = (try? destinations().all) ?? []
    for path in (try? store.deliveries.settings())?.compactMap(\.self) ?? [] {
      for destination in (try? destinations(at: path).all) ?? []
      where !all.contains(where: { $0.name == destination.name }) {
        all.append(destination)
      }
    }
    return all
  }

  private func destinations(at path: String) throws(SpoolError) -> Destinations {
    let text = try TextFile.read("the destinations", path)
    var problems: [Problem] = []
    let destinations = Destinations(
      ParsedDestinations(text), from: path,
      home: Environment.variables["HOME"].flatMap { $0.isEmpty ? nil : $0 }, problems: &problems)
    // Without its lines: a password may stand in them by mistake.
    guard problems.isEmpty else { throw refusal(problems, in: nil, at: path) }
    return destinations
  }

  /// A destination that the command line names.
  /// - Throws: a mistake of usage if there is none of that name.
  func destination(
    named name: String, in destinations: Destinations
  ) throws(SpoolError) -> Destination {
    do throws(SpoolError) { return try destinations.destination(named: name) } catch {
      throw error.asUsage
    }
  }

  /// Requires a name to be that of a destination, or of one that was taken out of the file and that the
  /// queue still has files for.
  func requireDestination(named name: String, in store: DiskStore) throws(SpoolError) {
    if try store.deliveries.tally().contains(where: { $0.destination == name }) { return }
    _ = try destination(named: name, in: destinations())
  }

  /// `--destinations` as a command names it that is typed in any folder; empty without it.
  var destinationsOption: [String] {
    named(Options.destinations).map { ["--destinations", ResolvedPath.asTyped($0)] } ?? []
  }

  /// A command line with `--store` and, if it takes that, `--destinations` likewise.
  func deliveryCommand(_ words: [String]) -> String {
    let command = Spool.program.commands.first { $0.name == "deliver \(words.first ?? "")" }
    let takes = command?.options.contains { $0.name == Options.destinations.declaration.name }
    let options =
      (namedStore.map { ["--store", $0] } ?? []) + (takes == true ? destinationsOption : [])
    return ShellWords.line(["spool", "deliver"] + words + options)
  }

  /// The sidecar beside a recording, and what it says; nil if there is none.
  @Sendable static func arrivedSidecar(
    besides recording: String
  ) throws(SpoolError) -> QueuedRunDelivery.Sidecar? {
    guard let path = Sidecar.path(besides: recording) else { return nil }
    let bytes = try doing("read the sidecar", path) { () throws(SystemError) in
      try FileOperations.system.beginning(of: path, byteCount: Sidecar.byteLimit + 1)
    }
    if bytes.count > Sidecar.byteLimit { return nil }
    let sidecar = Sidecar(json: bytes)
    return QueuedRunDelivery.Sidecar(
      path, bytes, facts: sidecar.facts, tags: sidecar.tags, isSensitive: sidecar.isSensitive)
  }

  /// What the file of a recording that came through no inbox says of itself.
  @Sendable static func details(of recording: String) -> QueuedRunDelivery.Subject {
    let sidecar = Sidecar.path(besides: recording)
      .flatMap { try? FileOperations.system.beginning(of: $0, byteCount: Sidecar.byteLimit) }
      .map { Sidecar(json: $0) }
    let media = try? MediaProbe.describe(SourceFile(recording))
    let date = NameTemplate.date(
      of: recording, sidecar: sidecar?.nameFields ?? [:], tags: media?.tags ?? [:])
    var details = QueuedRunDelivery.Subject()
    (details.title, details.date) = (media?.tags["title"], date)
    details.milliseconds = media?.durationInSeconds.map { Int(($0 * 1000).rounded()) }
    return details
  }

  /// What queues the files of a run that no watch has made.
  /// - Parameter subject: what is known of its recording, if an inbox took that in.
  static func runDelivery(
    to destinations: Destinations, in store: DiskStore,
    of subject: QueuedRunDelivery.Subject = QueuedRunDelivery.Subject()
  ) -> QueuedRunDelivery {
    QueuedRunDelivery(
      store.deliveries, to: destinations, of: subject, known: store.deliveredSubject,
      sidecar: arrivedSidecar, details: details)
  }

  /// Queues what a plan gives.
  /// - Throws: if the plan sends to a destination that is not known here.
  func delivery(
    for plan: Plan, in store: DiskStore
  ) throws(SpoolError) -> QueuedRunDelivery? {
    if plan.deliveringSteps.isEmpty { return nil }
    let delivery = Self.runDelivery(to: try destinations(), in: store)
    for step in plan.deliveringSteps {
      guard let request = step.stage.delivery else { continue }
      do throws(SpoolError) { try delivery.check(request) } catch { throw error.asUsage }
    }
    return delivery
  }
}

// MARK: Sending

/// What became of files that a command sends.
struct SendingResult {
  /// The files that are not delivered, in the order of the queue.
  var open: [QueuedDelivery] = []
  var deliveredCount = 0
  /// The failures that were reported while they were sent, by the numbers of their files.
  var reported: [Int64: SpoolError] = [:]
  /// Whether any of it was not delivered at the beginning.
  var wasOpen = false
  /// The destinations that a user has so that nothing is sent to them now, and why.
  var resting: [String: String] = [:]

  var failed: [QueuedDelivery] { open.filter { $0.state == .failed } }

  /// Whether nothing of it can be sent without a person's help: it has failed, or is a document that
  /// cannot be made, or that is about such files; or its destination is paused, or has other hours.
  var isStuck: Bool {
    let behind = behindStuck
    return open.allSatisfy {
      $0.isStuck || behind.contains($0.id) || resting[$0.destination] != nil
    }
  }

  /// The numbers of the documents that are about such files.
  private var behindStuck: Set<Int64> {
    var stuck = Set(open.filter(\.isStuck).map(\.id))
    var behind: Set<Int64> = []
    for delivery in open where delivery.document?.parts.contains(where: stuck.contains) == true {
      stuck.insert(delivery.id)
      if delivery.state == .pending { behind.insert(delivery.id) }
    }
    return behind
  }

  /// What a process that sends will send.
  var waiting: [QueuedDelivery] {
    let behind = behindStuck
    return open.filter { ![.failed, .held].contains($0.state) && !behind.contains($0.id) }
  }

  /// Those of them that wait for their destination's hours, or for a user to resume it, by destination.
  var restingCounts: [(destination: String, count: Int, why: String)] {
    resting.sorted { $0.key < $1.key }.compactMap { name, why in
      let count = waiting.count { $0.destination == name }
      return count == 0 ? nil : (name, count, why)
    }
  }
}

extension QueuedDelivery {
  /// Whether a person has to help: it has failed, is held, or is a document that cannot be made.
  fileprivate var isStuck: Bool {
    state == .failed || state == .held || state == .pending && trouble != nil
  }
}

extension CommandContext {
  /// The last work of a run or a batch: sends what it has queued, for a limited time, and says what is
  /// left. That does not affect the run's own result.
  /// - Parameter isSummed: as for ``SendingRecorder``.
  func sendLast(
    _ query: DeliveryQueue.Query, in store: DiskStore, signing writer: ConfirmationWriter,
    isSummed: Bool = false, _ clock: SystemClock, stop: StopRequest
  ) {
    do throws(SpoolError) {
      let result = try send(
        query, to: destinations(), in: store, signing: writer,
        atMost: arguments[Options.deliverWait].seconds, isSummed: isSummed, clock, stop: stop)
      tell(result)
    } catch {
      console.report("warning: \(Format.visible(error.account))")
    }
  }

  /// Sends what is asked for, for a limited time, and says what of it is left. What another process
  /// sends is awaited.
  func send(
    _ query: DeliveryQueue.Query, to destinations: Destinations, in store: DiskStore,
    signing writer: ConfirmationWriter, atMost seconds: Double, isSummed: Bool = false,
    _ clock: SystemClock, stop: StopRequest
  ) throws(SpoolError) -> SendingResult {
    let queue = store.deliveries
    var result = SendingResult()
    let end = clock.elapsed + seconds
    func look() throws(SpoolError) -> Bool {
      let all = try queue.matching(query)
      result.resting = try resting(destinations, in: queue, at: clock.now)
      result.open = all.filter { $0.state != .delivered }
      result.deliveredCount = all.count - result.open.count
      return result.isStuck || clock.elapsed >= end
    }
    let isDone = try look()
    result.wasOpen = !result.open.isEmpty
    if isDone { return result }
    let awaited = Set(result.open.map(\.id))
    let recorder = sendingRecorder(of: queue, destinations, clock, isSummed: isSummed)
    // Another process may send and not have the keys.
    try DeliveryDocuments(store, sign: writer.sign).makeDue()
    let worker = DeliveryWorker(
      store, to: destinations, Environment.variables, sign: writer.sign, clock: clock, stop: stop
    ) { recorder.record($0) }
    var wasSent = false
    while !stop.isRequested, try !look() {
      wasSent = try worker.run { _ throws(SpoolError) in try look() }
      if wasSent { break }
      // Another process sends.
      clock.sleep(0.2, unless: stop)
    }
    if !wasSent {
      for delivery in try queue.matching(query) where awaited.contains(delivery.id) {
        guard delivery.state == .delivered, let confirmation = delivery.confirmation else {
          continue
        }
        recorder.record(.delivered(delivery, confirmation))
      }
    }
    recorder.end()
    result.reported = recorder.failures
    _ = try look()
    return result
  }

  /// - Parameter isSummed: as for ``SendingRecorder``.
  func sendingRecorder(
    of queue: DeliveryQueue, _ destinations: Destinations, _ clock: SystemClock,
    isSummed: Bool = false
  ) -> SendingRecorder {
    SendingRecorder(console, voice, clock, isSummed: isSummed) {
      (try? WaitingDeliveries.all(in: queue, destinations.all)) ?? []
    }
  }

  /// The destinations to which nothing is sent now because a user has it so, and why.
  func resting(
    _ destinations: Destinations, in queue: DeliveryQueue, at now: Double
  ) throws(SpoolError) -> [String: String] {
    let states = try queue.destinations()
    var found: [String: String] = [:]
    for destination in destinations.all {
      if states[destination.name]?.isPaused == true {
        found[destination.name] =
          "is paused; " + deliveryCommand(["resume", destination.name]) + " goes on"
      } else {
        found[destination.name] = Self.hours(of: destination, at: now)
      }
    }
    return found
  }

  /// Says which files wait because a user has it so.
  func tellResting(_ counts: [(destination: String, count: Int, why: String)]) {
    for (name, count, why) in counts {
      console.report(
        Format.visible("note: \(Count.of(count, "file")) for \(name) not sent: it \(why)"))
    }
  }

  /// Says how many files a person has to release, if there are any.
  func tellHeld(_ count: Int) {
    if count == 0 { return }
    console.report(
      "note: \(Count.of(count, "file")) \(count == 1 ? "is" : "are") held: the recording is "
        + "marked as sensitive; spool deliver release sends what is held")
  }

  /// The commands that send what waits: with each of the files that named its destinations, but for the
  /// usual one.
  func sendingCommands(in store: DiskStore) throws(SpoolError) -> [[String]] {
    let command = ["run", "--once"]
    if named(Options.destinations) != nil { return [command] }
    let usual = try destinationsPath()
    let files = try store.deliveries.settings().compactMap(\.self)
      .filter { $0 != usual && FilePath.exists($0) }
    return files.isEmpty ? [command] : files.map { command + ["--destinations", $0] }
  }

  /// Says what is left, and how it is sent.
  func tell(_ result: SendingResult) {
    for delivery in result.open {
      if isJSON {
        console.print(
          json: delivery.event(
            delivery.state == .failed ? "delivery-failed" : "delivery-waiting",
            trouble: delivery.trouble))
      } else if delivery.state == .failed, result.reported[delivery.id] == nil {
        console.report(
          Format.visible(
            "failed: \(delivery.destination):\(delivery.path): \(delivery.trouble ?? "")"))
      }
    }
    tellHeld(result.open.count { $0.state == .held })
    tellResting(result.restingCounts)
    let waiting = result.waiting.filter { result.resting[$0.destination] == nil }
    if !waiting.isEmpty {
      let why = waiting.lazy.compactMap(\.trouble).first
      console.report(
        Format.visible(
          "note: \(Count.of(waiting.count, "file")) \(waiting.count == 1 ? "waits" : "wait") for "
            + "\(Set(waiting.map(\.destination)).sorted().joined(separator: ", "))"
            + (why.map { ": \($0)" } ?? "")))
      console.offer(NextCommand(deliveryCommand(["run", "--once"])).map { [$0] } ?? [])
    }
    // A name that is taken stays so, and so do other bytes.
    let isMendable = result.failed.contains {
      ![.occupied, .changed].contains(result.reported[$0.id]?.kind)
    }
    if isMendable {
      console.offer(NextCommand(deliveryCommand(["retry"])).map { [$0] } ?? [])
    }
  }
}
