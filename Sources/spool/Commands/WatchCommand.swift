import Audio
import Delivery
import Glibc
import Intake
import PipelineModel
import Platform
import Receipts
import SoundEngine
import Stages
import Store
import Synchronization

extension Command {
  /// `spool watch`: the service that processes recordings arriving in inboxes.
  static let watch = Command(
    name: "watch", group: "Work",
    summary: "Take in and process whatever arrives in a folder.",
    discussion: """
      A recording is taken once its writer is done with it, and is in the store, flushed and \
      verified, before anything else happens. It is processed once, however often it comes and \
      under whatever name, and its file leaves the inbox only when everything is done. What cannot \
      be accepted goes to the inbox's folder quarantine with the reason beside it; with --keep leave it stays \
      where it is, and spool inbox show says why.

      Where a disk was mounted on the inbox, the outbox or the output folder, or on a folder above, \
      the store remembers that: with nothing mounted there, the inbox pauses until the disk is back, \
      also after a restart. --ignore-mounts, given once, takes the folders as they lie now. \
      An inbox remembers its store: another one, as is made where the disk of the first is not mounted, \
      is refused unless --adopt is given once.

      With a deliver stage in its pipeline, a recording is uploaded, and its file leaves the inbox, once \
      every destination that is required has all of it and has given it back; the watch sends what any \
      command has queued in its store. Without one, there is a single copy, in this machine's store: \
      --keep delete then needs --single-copy.

      Ctrl-C or SIGTERM ends at a clean point, and the next watch goes on there; after a crash as \
      well. SIGHUP reads the settings, pipelines and destinations anew. Under systemd, readiness, status and \
      watchdog are told; Debian's package has the unit spool-watch@NAME, which reads /etc/spool/NAME.yaml. A file for --config \
      has a list inboxes:, each entry with inbox:, pipeline:, and what else is to be other than \
      usual: out:, outbox:, name:, keep:, single-copy:, settle:, sidecar:, done-marker:, give-up:, overlooked:, set: and retry:, which \
      has attempts:, pause:, longest: and jitter:; and beside the list store:, jobs: and drain:. \
      Paths in it start from its own folder.
      """,
    positionals: [Options.watchedPipeline, Options.inbox],
    options: [
      Options.config, Options.out, Options.outbox, Options.name, Options.plugins, Options.store,
      Options.settle, Options.sidecar, Options.keep, Options.giveUp, Options.overlooked,
      Options.singleCopy, Options.attempts, Options.set, Options.jobs, Options.drain,
      Options.destinations, Options.ignoreMounts, Options.adopt, Options.keys,
      Options.passphraseFile, Options.noSandbox, Options.json,
    ],
    examples: [
      Example(
        "Voice notes from a phone",
        "spool watch voice-note ~/Sync/notes --out ~/Notes --outbox ~/Sync/acks"),
      Example("Several inboxes", "spool watch --config /etc/spool/watch.yaml"),
    ],
    perform: { $0.sharingPlugins().watch })
}

extension Options {
  static let singleCopy = Option<Bool>.flag(
    "single-copy", help: "With --keep delete, delete files that no second place has.")
  fileprivate static let watchedPipeline = Positional<String?>.optional(
    "PIPELINE", help: "The pipeline's file, or a name from spool pipeline list.",
    completion: NameKind.pipelines.hint(orFiles: ["yaml", "yml"]))
  fileprivate static let inbox = Positional<String?>.optional(
    "INBOX", help: "The folder that recordings arrive in.", completion: .folder)
  fileprivate static let config = Option<String?>.value(
    "config", "FILE", help: "A file that names several inboxes and their pipelines.",
    completion: .files(extensions: ["yaml", "yml"]))
  fileprivate static let outbox = Option<String?>.value(
    "outbox", "DIR", help: "The folder for acknowledgements, state.json and results of commands.",
    defaultText: "outbox", completion: .folder)
  fileprivate static let name = Option<String?>.value(
    "name", "TEMPLATE",
    help: "How the exports are called, as {date}-{title}; see spool help batch.",
    defaultText: "as the recordings, cleaned as with a template")
  fileprivate static let settle = Option<TimeSpan?>.value(
    "settle", "TIME", help: "How long a file must rest before it is taken.", defaultText: "2s")
  fileprivate static let sidecar = Option<WatchDefinition.SidecarExpectation?>.value(
    "sidecar", "WHEN", help: "optional, required, ignored, or how long one is waited for.",
    defaultText: "optional")
  fileprivate static let keep = Option<WatchDefinition.Keep?>.value(
    "keep", "WHAT",
    help: "What becomes of a file that is done: moved to accepted/, deleted, or left.",
    defaultText: "move")
  fileprivate static let giveUp = Option<TimeSpan?>.value(
    "give-up", "TIME", help: "How long a file that is not whole may rest until it is quarantined.",
    defaultText: "10min")
  fileprivate static let overlooked = Option<TimeSpan?>.value(
    "overlooked", "TIME",
    help: "After how long a file with a temporary or hidden name, never taken, is told.",
    defaultText: "1h")
  fileprivate static let attempts = Option<Int?>.value(
    "attempts", "N", help: "How often a recording that fails is tried.", defaultText: "3")
  fileprivate static let drain = Option<TimeSpan?>.value(
    "drain", "TIME", help: "How long work under way may take to stop at a clean point.",
    defaultText: "30s")
  fileprivate static let adopt = Option<Bool>.flag(
    "adopt", help: "Take the inbox over from another store that has served it.")
  fileprivate static let jobs = Option<Int?>.value(
    "jobs", "N", short: "j", help: "Recordings worked on at once.", defaultText: "one for each core"
  )
}

extension CommandContext {
  fileprivate func watch() throws(SpoolError) -> ExitCode {
    if let jobs = arguments[Options.jobs], !(1...256).contains(jobs) {
      throw usage("--jobs is a whole number from 1 to 256, not \(jobs)")
    }
    if let attempts = arguments[Options.attempts], !(1...100).contains(attempts) {
      throw usage("--attempts is a whole number from 1 to 100, not \(attempts)")
    }
    let order = try read()
    do throws(SpoolError) {
      try requireOwnStore(of: order)
      return try watch(order, try store(at: order.store))
    } catch {
      order.removeMadeFolders()
      throw error
    }
  }

  /// Refuses to create a new store for an inbox that another store served.
  private func requireOwnStore(of order: WatchOrder) throws(SpoolError) {
    let path = Self.path(ofStore: order.store)
    guard !arguments[Options.adopt], !DiskStore.isThere(at: path) else { return }
    for inbox in order.settings.inboxes {
      guard let former = ServingStore(of: inbox.path) else { continue }
      throw former.refusal(of: inbox.path, by: path)
    }
  }

  private static func path(ofStore option: String?) -> String {
    ResolvedPath.of(storePath(option))
  }

  private func watch(_ order: WatchOrder, _ store: DiskStore) throws(SpoolError) -> ExitCode {
    let console = console
    let receiptWriter = receiptWriter(for: store)
    // Fails now rather than leave months of recordings without receipts.
    let asksForReceipts = order.settings.inboxes.contains(where: \.pipeline.asksForReceipts)
    if asksForReceipts { try receiptWriter.prepare() }
    let clock = SystemClock()
    let log = WatchLog(store: store, line: line(order), console: console, isJSON: isJSON)
    let destinations = Mutex(try destinations(for: order.settings, in: store))
    let engine = WatchEngine(
      store: store, at: Self.path(ofStore: order.store), option: Self.lastingOption(order.store),
      executors: [SoundPassExecutor(coreCount: CoreCount.online)],
      clock: clock, probe: .containers, makeRunID: { clock.makeRunID() },
      record: log.record, receiptWriter: receiptWriter,
      delivery: { recording in
        QueuedRunDelivery(
          store.deliveries, to: destinations.withLock { $0 },
          of: QueuedRunDelivery.Subject(
            of: (try? store.recordings.recording(recording.key)) ?? recording, in: store))
      }, corrections: store.wordOverlay)
    let watch = Watch(engine, notifier: ServiceNotifier(environment: Environment.variables))
    let stop = console.heed(StopRequest())
    SignalWatch.beginService(
      end: {
        stop.request(signal: SIGTERM)
        watch.end()
      }, reload: { watch.reload() })
    let endStamping = log.beginStamping()
    defer { endStamping() }
    let confirmationWriter = confirmationWriter(
      for: store, besides: asksForReceipts ? receiptWriter : nil)
    var endDelivering = log.beginDelivering(
      to: destinations.withLock { $0 }, signing: confirmationWriter)
    defer { endDelivering() }
    for inbox in order.settings.inboxes where !inbox.pipeline.requiresDelivery {
      log.record(
        WatchEvent(
          .warning, at: clock.now, inbox: inbox.path,
          text: "its recordings have a single copy, in this store: a deliver stage in the pipeline "
            + "sends them to a second place"))
    }
    let day = Pause()
    let collector = BackgroundThread(name: "collector") { [self] in
      while day.wait(Self.collectionPause) {
        collectIfDue(in: store) {
          !day.wait(.zero)
        } tell: { report in
          var event = WatchEvent(.collected, at: clock.now, text: report.summary)
          (event.freedBytes, event.keptBytes) = (report.freedBytes, report.keptBytes)
          log.record(event)
        }
      }
    }
    defer {
      day.end()
      collector.join()
    }
    let isClean = try watch.run(order.settings) { () -> WatchSettings? in
      do throws(SpoolError) {
        let settings = try settings(insteadOf: order)
        let new = try self.destinations(for: settings, in: store)
        if destinations.withLock({ $0 != new }) {
          destinations.withLock { $0 = new }
          endDelivering()
          endDelivering = log.beginDelivering(to: new, signing: confirmationWriter)
        }
        return settings
      } catch {
        console.report(error.text(console))
        log.record(
          WatchEvent(
            .trouble, at: clock.now,
            text: "the settings are wrong, and the old ones stay: \(error.oneLine)"))
        return nil
      }
    }
    if !isClean {
      log.record(
        WatchEvent(
          .stopped, at: clock.now,
          text: "before work had come to a clean point; the next watch goes on with it"))
    }
    return .done
  }

  /// The settings as they are now. A watch has one store from its beginning to its end.
  private func settings(insteadOf order: WatchOrder) throws(SpoolError) -> WatchSettings {
    let new = try read()
    let (own, other) = (Self.path(ofStore: order.store), Self.path(ofStore: new.store))
    guard own == other else {
      throw SpoolError(
        "the watch keeps its store \(own)", reason: "the settings name another one, \(other)",
        advice: "end the watch and start it again, or name its store in the settings",
        kind: .usage)
    }
    return new.settings
  }

  /// The time between two looks whether a collection is due.
  private static let collectionPause = Duration.seconds(3600)

  /// The command line with absolute paths and explicit default folders, valid in any folder and at
  /// any time. Flags that apply to one start only are left out.
  private func line(_ order: WatchOrder) -> String {
    var usual: [String: String] = [:]
    // The environment is not part of the command line.
    let store = Environment.variables["SPOOL_STORE"].flatMap { $0.isEmpty ? nil : $0 }
    if order.store == nil { usual["store"] = store }
    usual["plugins"] = pluginFolder
    if order.settings.inboxes.contains(where: \.pipeline.asksForReceipts) {
      usual["keys"] = signing?.folder
    }
    if arguments[Options.config] == nil, let inbox = order.settings.inboxes.first {
      usual["out"] = inbox.out
      usual["outbox"] = inbox.outbox
    }
    let pipeline = arguments[Options.watchedPipeline].map { pipelinePath($0) }
    let passing = [Options.ignoreMounts, Options.adopt].map(\.declaration.name)
    var words = ["spool", "watch"]
    words += [pipeline, arguments[Options.inbox]].compactMap { $0.map(absolute) }
    for option in arguments.command.options where !passing.contains(option.name) {
      var texts = arguments.texts(of: option)
      if texts.isEmpty, let folder = usual[option.name] { texts = [folder] }
      for text in texts {
        words.append("--" + option.name)
        switch (option.arity, option.completion) {
        case (.flag, _): break
        case (_, .files), (_, .folder): words.append(absolute(text))
        default: words.append(text)
        }
      }
    }
    return ShellWords.line(words)
  }

  /// The store option for the log and for files that are read in another environment.
  static func lastingOption(_ named: String?) -> StoreOption {
    var environment = Environment.variables
    let path = ResolvedPath.of(StoreLocation.resolve(option: named, environment: environment))
    environment["SPOOL_STORE"] = nil
    let usual = ResolvedPath.of(StoreLocation.resolve(option: nil, environment: environment))
    return path == usual ? .usual : StoreOption(path)
  }

  /// Reads the command line and the settings file.
  private func read() throws(SpoolError) -> WatchOrder {
    if let config = arguments[Options.config] { return try read(config) }
    guard let pipeline = arguments[Options.watchedPipeline], let inbox = arguments[Options.inbox]
    else {
      throw usage("spool watch takes a pipeline and an inbox, or --config FILE")
    }
    var definition = WatchDefinition()
    let place = SourceLocation.commandLine
    var wanted = WatchDefinition.Inbox(
      path: .init(inbox, at: place), pipeline: .init(pipeline, at: place))
    wanted.out = arguments[Options.out].map { .init($0, at: place) }
    wanted.outbox = arguments[Options.outbox].map { .init($0, at: place) }
    wanted.name = arguments[Options.name].map { .init($0, at: place) }
    wanted.keep = arguments[Options.keep].map { .init($0, at: place) }
    wanted.patience = arguments[Options.giveUp]?.seconds
    wanted.overlooked = arguments[Options.overlooked]?.seconds
    wanted.retry.attempts = arguments[Options.attempts]
    wanted.settle = arguments[Options.settle]?.seconds
    wanted.sidecar = arguments[Options.sidecar]
    for text in arguments[Options.set] {
      let (name, value) = try assignment(ofSet: text)
      wanted.overrides.append(
        DocumentNode.Entry(
          key: name, location: place, value: DocumentNode(.typed(value), at: place)))
    }
    definition.inboxes = [wanted]
    let order = order(definition, base: String(absolute("").dropLast()))
    let errors = order.problems.map { problem in
      problem.detail ?? .usage(problem.message, advice: problem.advice)
    }
    if let error = SpoolError.all(errors) { throw error.asUsage }
    return order
  }

  private func read(_ path: String) throws(SpoolError) -> WatchOrder {
    guard arguments[Options.watchedPipeline] == nil else {
      throw usage("with --config, the file names pipelines and inboxes")
    }
    let text: String
    do throws(SpoolError) { text = try TextFile.read("the settings", path) } catch {
      throw error.asUsage
    }
    let parsed = ParsedWatch(text)
    let order = order(parsed.definition, base: folder(of: path))
    let all =
      parsed.problems
      + order.problems.map {
        Problem(at: $0.location, $0.message, allowed: $0.advice, suggestion: $0.suggestion)
      }
    guard all.isEmpty else {
      for detail in order.problems.compactMap(\.detail) {
        console.report(detail.text(console))
      }
      throw refusal(all, in: text, at: path)
    }
    return order
  }

  /// Validates a definition, in which options override values.
  private func order(_ definition: WatchDefinition, base: String) -> WatchOrder {
    var definition = definition
    if let jobs = arguments[Options.jobs] { definition.jobs = jobs }
    if let drain = arguments[Options.drain] { definition.drain = drain.seconds }
    var order = WatchOrder(definition, base: base, self)
    for index in order.settings.inboxes.indices {
      order.settings.inboxes[index].isAcceptingMounts = arguments[Options.ignoreMounts]
      order.settings.inboxes[index].isAdopting = arguments[Options.adopt]
    }
    if !order.problems.isEmpty { order.removeMadeFolders() }
    return order
  }

  private func usage(_ message: String) -> SpoolError {
    .usage(message, advice: "spool help watch")
  }
}

/// A short time: `2s`, `500 ms`, `1 min`.
struct TimeSpan: ArgumentValue {
  let seconds: Double
  let argument: String

  static let expectation = "a time above 0, like 2s, 500ms or 1min"

  init?(argument: String) {
    guard let seconds = try? Unit.seconds.parse(argument), seconds > 0, seconds < 1e9 else {
      return nil
    }
    self.seconds = seconds
    self.argument = argument
  }
}

extension WatchDefinition.Keep: ArgumentValue {}

extension WatchDefinition.SidecarExpectation: ArgumentValue {
  package init?(argument: String) { self.init(argument) }

  package static var expectation: String { allowed }

  package var argument: String {
    switch self {
    case .optional: "optional"
    case .required: "required"
    case .ignored: "ignored"
    case .awaited(let seconds): Unit.seconds.format(seconds)
    }
  }
}
