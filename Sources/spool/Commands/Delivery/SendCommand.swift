import Delivery
import Intake
import Media
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import Store

extension Command {
  /// `spool deliver send`: queues what runs or recordings gave, and sends it.
  static let send = Command(
    name: "deliver send", group: "Care",
    summary: "Send the files of a run or a recording to a destination.",
    discussion: """
      What the run exported, its receipt, its transcripts and the recordings as they arrived are queued \
      for the destinations, and sent for --deliver-wait seconds; what is left then is sent by a watch \
      with the same store, or by spool deliver run. A file that a destination has already is not sent \
      again.

      A recording is named by its ID, its device's noteId or its file's name, as with spool inbox show, or by \
      the name or the path of the file that a run was of; its last run counts. Where several have a \
      name, they are listed. Of one that came back from a destination, and that no run here has made, the \
      same files are sent under the same paths, from the store and from the folder where they were restored.

      The exit code is 1 if a file cannot be delivered, and 0 if all is delivered or waits.
      """,
    positionals: [Options.subjects],
    options: [
      Options.to, Options.what, Options.path, Options.encounter, Options.deliverWait,
      Options.destinations, Options.keys, Options.passphraseFile, Options.store, Options.json,
      Options.quiet,
    ],
    examples: [
      Example("The last run's files", "spool deliver send last --to nas"),
      Example("A recording to two places", "spool deliver send 3f9a12cd --to nas --to cloud"),
    ],
    perform: CommandContext.sendFiles)

  /// `spool deliver run`: sends what is queued.
  static let deliverRun = Command(
    name: "deliver run", group: "Care",
    summary: "Send what is queued, until it is stopped, or once.",
    discussion: """
      Each destination is served by itself: one that is off holds up no other. A failed file is tried \
      again after 2, 4 and 8 seconds, and then every minute to every six hours, for as long as it takes; \
      a destination that is away or refuses its password holds all its files, and is looked at after 5 \
      seconds, then less often, and whenever this command begins. A folder that is mounted again is used \
      at once.

      With --once, it ends when nothing is due any more. The exit code is then 0 if everything is \
      delivered, 3 if some of it waits or has failed, and 1 if nothing could be delivered. Without, it \
      runs until a signal, which it obeys at the next point from which it can go on, and exits with 0.
      """,
    options: [
      Options.once, Options.destinations, Options.keys, Options.passphraseFile, Options.store,
      Options.json, Options.quiet,
    ],
    examples: [
      Example("As a timer does", "spool deliver run --once"),
      Example("As a service", "spool deliver run --store /var/lib/spool"),
    ],
    perform: CommandContext.sendQueue)
}

extension Options {
  static let deliverWait = Option<DeliveryWait>.value(
    "deliver-wait", "TIME", default: DeliveryWait.usual,
    help: "How long files are sent before the rest is left to a watch or spool deliver run.")

  static let subjects = Positional<[String]>.repeated(
    "RUN|RECORDING", minimum: 1,
    help: "A run's name, or last; or a recording's ID or name.",
    completion: NameKind.runs.hint())
  fileprivate static let to = Option<[String]>.values(
    "to", "DESTINATION", help: "Where to; spool deliver destinations lists them.",
    completion: NameKind.destinations.hint())
  fileprivate static let what = Option<[String]>.values(
    "what", "KIND", help: "exports, receipt, transcript or original; left out, all of them.")
  fileprivate static let path = Option<String?>.value(
    "path", "TEMPLATE", help: "Folders and name there, with fields such as {date} and {name}.",
    defaultText: DeliveryRequest.usualPath)
  fileprivate static let encounter = Option<String?>.value(
    "if-there", "RULE", help: "same, rename or fail: what becomes of a name that is taken.",
    defaultText: "same")
  fileprivate static let once = Option<Bool>.flag(
    "once", help: "End when nothing is due any more.")
}

/// How long files are sent before a command ends: `0`, `30s`, `5min`.
struct DeliveryWait: ArgumentValue {
  let seconds: Double
  let argument: String

  static let usual = DeliveryWait(seconds: 60, argument: "60s")
  static let expectation = "a time from 0 on, like 0, 30s or 5min"

  private init(seconds: Double, argument: String) {
    (self.seconds, self.argument) = (seconds, argument)
  }

  init?(argument: String) {
    guard let seconds = try? Unit.seconds.parse(argument), seconds >= 0, seconds < 1e9 else {
      return nil
    }
    self.init(seconds: seconds, argument: argument)
  }
}

extension CommandContext {
  fileprivate func sendFiles() throws(SpoolError) -> ExitCode {
    try requireStore()
    let request = try request()
    let destinations = try destinations()
    for name in request.destinations {
      _ = try destination(named: name, in: destinations)
    }
    let store = try openStore()
    let clock = SystemClock()
    let stop = console.heed(SignalWatch.begin())
    var result = SendingResult()
    let writer = confirmationWriter(for: store)
    let end = clock.elapsed + arguments[Options.deliverWait].seconds
    for name in arguments[Options.subjects] {
      let (owner, wasKnown) = try queue(named: name, request, to: destinations, in: store)
      try writer.unlock()
      let sent = try send(
        .of(owner), to: destinations, in: store, signing: writer,
        atMost: max(0, end - clock.elapsed), clock, stop: stop)
      result.open += sent.open.filter { request.destinations.contains($0.destination) }
      result.deliveredCount += sent.deliveredCount
      result.reported.merge(sent.reported) { $1 }
      result.resting = sent.resting
      if wasKnown, !sent.wasOpen, voice == .full {
        let places = request.destinations.joined(separator: ", ")
        console.print(
          Format.visible(
            "\(name): \(places) confirmed all of it before; "
              + "\(deliveryCommand(["verify"] + request.destinations.prefix(1))) reads it again"))
      }
    }
    tell(result)
    if let signal = stop.signalNumber { return .interrupted(by: signal) }
    return result.failed.isEmpty ? .done : .failed
  }

  /// Queues what a name means.
  /// - Returns: whose deliveries these are, and whether all were known before.
  private func queue(
    named name: String, _ request: DeliveryRequest, to destinations: Destinations,
    in store: DiskStore
  ) throws(SpoolError) -> (DeliveryOwner, wasKnown: Bool) {
    let subject = try deliveredSubject(named: name, in: store)
    if let restored = try restored(subject, in: store) {
      if arguments[Options.path] != nil {
        throw .usage(
          "--path does not count for \(name)",
          reason: "it came back from a destination, and keeps the paths that its files have there")
      }
      let delivery = QueuedRunDelivery(
        store.deliveries, to: destinations,
        of: QueuedRunDelivery.Subject(of: restored, in: store))
      var query = DeliveryQueue.Query.of(.recording(restored.key))
      query.states = [.delivered]
      let wasKnown = try delivery.queue(
        copiesOf: restored.key, store.deliveries.matching(query), request)
      return (.recording(restored.key), wasKnown)
    }
    let recording = subject.recording
    let run = try finished(subject)
    let delivery = Self.runDelivery(
      to: destinations, in: store,
      of: recording.map { QueuedRunDelivery.Subject(of: $0, in: store) }
        ?? QueuedRunDelivery.Subject())
    let wasKnown = try delivery.queue(
      DeliveryContext(request, of: run, files: store.files(of: run), exportFolder: store))
    return (recording.map { .recording($0.key) } ?? .run(run.id), wasKnown)
  }

  private func request() throws(SpoolError) -> DeliveryRequest {
    let names = arguments[Options.to].flatMap { $0.split(separator: ",").map(String.init) }
    guard !names.isEmpty else {
      throw .usage(
        "no destination is named", advice: "--to NAME; spool deliver destinations lists them")
    }
    // By hand, a recording need not wait for it.
    var request = DeliveryRequest(to: names, isRequired: false)
    if let contents = try contents(arguments[Options.what]) { request.contents = contents }
    if let path = arguments[Options.path] {
      if let fault = DeliveryPath.fault(of: path) {
        throw .usage(
          "--path is \"\(path)\": \(fault)",
          advice: "the fields are "
            + DeliveryPath.fields.map { "{\($0.name)}" }.joined(separator: ", "))
      }
      request.path = path
    }
    if let word = arguments[Options.encounter] {
      guard let encounter = DeliveryRequest.Encounter(rawValue: word) else {
        throw .usage("--if-there is \"\(word)\"", advice: "choose among same, rename, fail")
      }
      request.encounter = encounter
    }
    return request
  }

  /// The kinds of files that `--what` names; nil for none.
  func contents(_ typed: [String]) throws(SpoolError) -> Set<DeliveryRequest.Content>? {
    let words = typed.flatMap { $0.split(separator: ",").map(String.init) }
    let kinds = DeliveryRequest.Content.choices.map(\.rawValue)
    for word in words where !kinds.contains(word) {
      throw .usage("--what is \"\(word)\"", advice: "choose among \(kinds.joined(separator: ", "))")
    }
    return words.isEmpty ? nil : Set(words.compactMap(DeliveryRequest.Content.init(rawValue:)))
  }

  /// The run whose files are to be sent.
  private func finished(
    _ subject: (run: RunRecord?, recording: Recording?)
  ) throws(SpoolError) -> RunRecord {
    guard let run = subject.run else {
      let key = subject.recording.map { "\($0.key)" } ?? ""
      throw SpoolError(
        "\(key) was not processed to its end yet",
        advice: "spool inbox show \(key) says how it stands")
    }
    if run.state == .done { return run }
    throw SpoolError(
      "the run \(run.id) did not come to its end", reason: "it is \(run.status)",
      advice: run.wayOn.map { "\($0) goes on with it" })
  }

  fileprivate func sendQueue() throws(SpoolError) -> ExitCode {
    try requireStore()
    let destinations = try destinations()
    let store = try openStore()
    let clock = SystemClock()
    let stop = console.heed(SignalWatch.begin())
    let recorder = sendingRecorder(of: store.deliveries, destinations, clock)
    let isOnce = arguments[Options.once]
    let before = try open(in: store, destinations).count
    // Who sends by hand may have mended what was in the way.
    for destination in destinations.all { try store.deliveries.lookNow(at: destination.name) }
    let writer = confirmationWriter(for: store)
    try writer.unlock()
    // A process that sends already may not have the keys.
    try DeliveryDocuments(store, sign: writer.sign).makeDue()
    let worker = DeliveryWorker(
      store, to: destinations, Environment.variables, sign: writer.sign, clock: clock, stop: stop
    ) { recorder.record($0) }
    let isSent = try worker.run { isIdle in isOnce && isIdle }
    recorder.end()
    guard isSent else {
      throw SpoolError(
        "another process sends what this store has queued",
        reason: "one process sends at a time, such as a watch",
        advice: deliveryCommand(["queue"]) + " shows how far it is", cause: .environment)
    }
    if let signal = stop.signalNumber { return isOnce ? .interrupted(by: signal) : .done }
    let unknown = try store.deliveries.tally().filter { row in
      row.state != .delivered && !destinations.all.contains { $0.name == row.destination }
    }
    for name in Set(unknown.map(\.destination)).sorted() {
      do throws(SpoolError) { _ = try destinations.destination(named: name) } catch {
        console.report(error.text(console))
      }
    }
    let (rest, after) = try open(in: store, destinations)
    if voice != .json {
      let resting = try resting(destinations, in: store.deliveries, at: clock.now)
      tellResting(
        rest.compactMap { one in
          resting[one.destination].flatMap {
            one.files > 0 ? (one.destination, one.files, $0) : nil
          }
        })
    }
    if after == 0 {
      tellHeld(rest.reduce(0) { $0 + $1.held })
      return .done
    }
    if voice != .json {
      console.report(
        "note: \(Count.of(after, "file")) not delivered; "
          + "\(Format.visible(deliveryCommand(["queue"]))) says why, and "
          + "\(Format.visible(deliveryCommand(["retry"]))) tries at once")
    }
    return after < before ? .someFailed : .failed
  }

  /// What destinations have yet to get, and how many files of it count. What is held does not: a person
  /// decides on it. Nor does what a user has paused, or limited to some hours.
  private func open(
    in store: DiskStore, _ destinations: Destinations
  ) throws(SpoolError) -> (rest: [WaitingDeliveries], count: Int) {
    let rest = try WaitingDeliveries.all(in: store.deliveries, destinations.all)
    return (rest, rest.reduce(0) { $0 + $1.failed + ($1.isResting ? 0 : $1.files) })
  }
}

extension DiskStore {
  /// What is known of the recording that an inbox took in and a run by hand has processed once more.
  func deliveredSubject(of run: RunRecord) throws(SpoolError) -> QueuedRunDelivery.Subject? {
    for (input, _) in run.orderedInputs {
      guard let digest = run.recordings?[input],
        let recording = try recordings.recording(of: digest, pipeline: run.pipeline)
      else { continue }
      return QueuedRunDelivery.Subject(of: recording, in: self)
    }
    return nil
  }
}

extension QueuedRunDelivery.Subject {
  /// What is known of a recording of an inbox.
  init(of recording: Recording, in store: DiskStore) {
    self.init()
    self.recording = recording.key
    noteID = recording.shownID
    receivedAt = recording.receivedAt
    name = recording.fileName
    tags = recording.tags
    let facts = StoredFacts(of: recording)
    let sidecar = recording.sidecar.flatMap { try? store.path(of: $0) }
      .flatMap { try? FileOperations.system.beginning(of: $0, byteCount: Sidecar.byteLimit) }
      .map { Sidecar(json: $0) }
    createdAt = facts.createdAt(with: sidecar)
    let tags =
      (try? store.path(of: recording.content))
      .flatMap { try? MediaProbe.describe(SourceFile($0, named: recording.fileName)).tags } ?? [:]
    title = recording.title ?? tags["title"]
    date = NameTemplate.date(
      of: recording.fileName,
      sidecar: facts.nameFields(of: recording, sidecar: sidecar, tags: tags), tags: tags)
    isSensitive = facts.isSensitive
    devices = facts.devices
    milliseconds = facts.milliseconds
    let files = (try? store.recordings.files(of: recording.key)) ?? []
    folder = files.first { $0.role == .recording }
      .map { $0.path.pathNames.dropLast().joined(separator: "/") }
    // Of several versions of a sidecar or a text, the newest has the name.
    for file in files.reversed() where file.role != .recording {
      guard let artifact = file.companion, let name = file.path.pathNames.last else { continue }
      companions.append((name, artifact))
    }
  }
}
