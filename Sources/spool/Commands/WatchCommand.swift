import Audio
import Glibc
import Intake
import Media
import PipelineModel
import Platform
import Receipts
import SoundEngine
import Stages
import Store

/// `spool watch`: the service that processes recordings arriving in inboxes.
struct WatchCommand: Command {
  private static let pipeline = Positional<String?>.optional(
    "PIPELINE", help: "The pipeline's file.", completion: .files(extensions: ["yaml", "yml"]))
  private static let inbox = Positional<String?>.optional(
    "INBOX", help: "The folder that recordings arrive in.", completion: .folder)
  private static let config = Option<String?>.value(
    "config", "FILE", help: "A file that names several inboxes and their pipelines.",
    completion: .files(extensions: ["yaml", "yml"]))
  private static let outbox = Option<String?>.value(
    "outbox", "DIR", help: "The folder for acknowledgements, state.json and results of commands.",
    defaultText: "outbox", completion: .folder)
  private static let name = Option<String?>.value(
    "name", "TEMPLATE",
    help: "How the exports are called, as {date}-{title}; see spool help batch.",
    defaultText: "as the recordings")
  private static let settle = Option<TimeSpan?>.value(
    "settle", "TIME", help: "How long a file must rest before it is taken.", defaultText: "2s")
  private static let sidecar = Option<WatchDefinition.SidecarExpectation?>.value(
    "sidecar", "WHEN", help: "optional, required, ignored, or how long one is waited for.",
    defaultText: "optional")
  private static let keep = Option<WatchDefinition.Keep?>.value(
    "keep", "WHAT",
    help: "What becomes of a file that is done: moved to accepted/, deleted, or left.",
    defaultText: "move")
  private static let giveUp = Option<TimeSpan?>.value(
    "give-up", "TIME",
    help: "How long a file that is not whole may rest until it is quarantined.",
    defaultText: "10min")
  private static let overlooked = Option<TimeSpan?>.value(
    "overlooked", "TIME",
    help: "After how long a file with a temporary or hidden name, never taken, is told.",
    defaultText: "1h")
  private static let attempts = Option<Int?>.value(
    "attempts", "N", help: "How often a recording that fails is tried.", defaultText: "3")
  private static let drain = Option<TimeSpan?>.value(
    "drain", "TIME", help: "How long work under way may take to stop at a clean point.",
    defaultText: "30s")
  private static let ignoreMounts = Option<Bool>.flag(
    "ignore-mounts",
    help: "Take the folders as they lie now, though a disk was mounted there before.")
  private static let adopt = Option<Bool>.flag(
    "adopt", help: "Take the inbox over from another store that has served it.")
  private static let jobs = Option<Int?>.value(
    "jobs", "N", short: "j", help: "Recordings worked on at once.",
    defaultText: "one for each core")

  static let declaration = CommandDeclaration(
    name: "watch", group: "Watch",
    summary: "Take in and process whatever arrives in a folder.",
    discussion: """
      A recording is taken once its writer is done with it, and is in the store, flushed and \
      verified, before anything else happens. It is processed once, however often it comes and \
      under whatever name, and its file leaves the inbox only when everything is done. What cannot \
      be accepted goes to the inbox's folder quarantine with the reason beside it.

      Where a disk was mounted on the inbox, the outbox or the output folder, or on a folder above, \
      the store remembers that: with nothing mounted there, the inbox pauses until the disk is back, \
      also after a restart. --ignore-mounts, given once, takes the folders as they lie now. \
      An inbox remembers its store: another one, as is made where the disk of the first is not mounted, \
      is refused unless --adopt is given once.

      Ctrl-C or SIGTERM ends at a clean point, and the next watch goes on there; after a crash as \
      well. SIGHUP reads the settings and pipelines anew. Under systemd, readiness, status and \
      watchdog are told; Debian's package has the unit spool-watch@NAME, which reads /etc/spool/NAME.yaml. A file for --config \
      has a list inboxes:, each entry with inbox:, pipeline:, and what else is to be other than \
      usual: out:, outbox:, name:, keep:, settle:, sidecar:, done-marker:, give-up:, overlooked:, set: and retry:, which \
      has attempts:, pause:, longest: and jitter:; and beside the list store:, jobs: and drain:. \
      Paths in it start from its own folder.
      """,
    positionals: [pipeline, inbox],
    options: [
      config, Options.out, outbox, name, Options.plugins, Options.store, settle, sidecar, keep,
      giveUp, overlooked,
      attempts,
      Options.set, jobs, drain, ignoreMounts, adopt, Options.keys, Options.passphraseFile,
      Options.json,
    ],
    examples: [
      Example(
        "Voice notes from a phone",
        "spool watch Pipelines/voice-note.yaml ~/Sync/notes --out ~/Notes --outbox ~/Sync/acks"),
      Example("Several inboxes", "spool watch --config /etc/spool/watch.yaml"),
    ])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    Environment.share(plugins: arguments[Options.plugins])
    let context = CommandContext(console: console)
    if let jobs = arguments[Self.jobs], !(1...256).contains(jobs) {
      throw usage("--jobs is a whole number from 1 to 256, not \(jobs)")
    }
    if let attempts = arguments[Self.attempts], !(1...100).contains(attempts) {
      throw usage("--attempts is a whole number from 1 to 100, not \(attempts)")
    }
    let order = try read(context)
    try requireOwnStore(of: order)
    return try watch(order, try context.store(at: order.store), context)
  }

  /// Refuses to create a new store for an inbox that another store served.
  private func requireOwnStore(of order: WatchOrder) throws(SpoolError) {
    let path = Self.path(ofStore: order.store)
    guard !arguments[Self.adopt], !DiskStore.isThere(at: path) else { return }
    for inbox in order.settings.inboxes {
      guard let former = ServingStore(of: inbox.path) else { continue }
      throw former.refusal(of: inbox.path, by: path)
    }
  }

  private static func path(ofStore option: String?) -> String {
    ResolvedPath.of(CommandContext.storePath(option))
  }

  private func watch(
    _ order: WatchOrder, _ store: DiskStore, _ context: CommandContext
  ) throws(SpoolError) -> ExitCode {
    let console = context.console
    let receiptWriter = context.receiptWriter(
      keys: arguments[Options.keys], passphraseFile: arguments[Options.passphraseFile],
      store: store)
    // Fails now rather than leave months of recordings without receipts.
    try receiptWriter.prepare()
    let clock = SystemClock()
    let log = WatchLog(console, isJSON: arguments[Options.json])
    let engine = WatchEngine(
      store: store, at: Self.path(ofStore: order.store), option: Self.option(order.store),
      executors: [SoundPassExecutor(coreCount: CoreCount.online)],
      clock: clock, probe: Self.containerProbe, makeRunID: { clock.makeRunID() },
      recorder: WatchHistory(store: store, line: line(order, context), log: log),
      receiptWriter: receiptWriter)
    let watch = Watch(engine, notifier: ServiceNotifier(environment: Environment.variables))
    ServiceSignals.begin(end: { watch.end() }, reload: { watch.reload() })
    let stamps = WatchStamps(store, log: log)
    defer { stamps.end() }
    let isClean = try watch.run(order.settings) {
      do throws(SpoolError) { return try read(context).settings } catch {
        console.report(error.text(console))
        log.record(
          WatchEvent(.trouble, at: clock.now, text: "the settings are wrong; the old ones stay"))
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

  /// The command line in a form that is valid in any folder and at any time.
  private func line(_ order: WatchOrder, _ context: CommandContext) -> String {
    var usual: [String: String] = [:]
    // The environment is not part of the command line.
    if order.store == nil, let path = Environment.variables["SPOOL_STORE"], !path.isEmpty {
      usual["store"] = path
    }
    if arguments[Self.config] == nil, let inbox = order.settings.inboxes.first {
      usual["out"] = inbox.out
      usual["outbox"] = inbox.outbox
    }
    let pipeline = arguments[Self.pipeline].map { context.pipelinePath($0) }
    return WatchLine(
      arguments, places: [pipeline, arguments[Self.inbox]].compactMap(\.self),
      usual: usual, passing: [Self.ignoreMounts.declaration.name, Self.adopt.declaration.name],
      absolute: { context.absolute($0) }
    ).text
  }

  /// The store option for the log and for files that are read in another environment.
  private static func option(_ named: String?) -> StoreOption {
    var environment = Environment.variables
    let path = ResolvedPath.of(StoreLocation.resolve(option: named, environment: environment))
    environment["SPOOL_STORE"] = nil
    let usual = ResolvedPath.of(StoreLocation.resolve(option: nil, environment: environment))
    return path == usual ? .usual : StoreOption(path)
  }

  /// Reads the command line and the settings file.
  private func read(_ context: CommandContext) throws(SpoolError) -> WatchOrder {
    if let config = arguments[Self.config] { return try read(config, context) }
    guard let pipeline = arguments[Self.pipeline], let inbox = arguments[Self.inbox] else {
      throw usage("spool watch takes a pipeline and an inbox, or --config FILE")
    }
    var definition = WatchDefinition()
    let place = SourceLocation.commandLine
    var wanted = WatchDefinition.Inbox(
      path: .init(inbox, at: place), pipeline: .init(pipeline, at: place))
    wanted.out = arguments[Options.out].map { .init($0, at: place) }
    wanted.outbox = arguments[Self.outbox].map { .init($0, at: place) }
    wanted.name = arguments[Self.name].map { .init($0, at: place) }
    wanted.keep = arguments[Self.keep].map { .init($0, at: place) }
    wanted.patience = arguments[Self.giveUp]?.seconds
    wanted.overlooked = arguments[Self.overlooked]?.seconds
    wanted.retry.attempts = arguments[Self.attempts]
    wanted.settle = arguments[Self.settle]?.seconds
    wanted.sidecar = arguments[Self.sidecar]
    for text in arguments[Options.set] {
      guard let (name, value) = CommandContext.assignment(text), !name.isEmpty,
        let node = YAMLDocument(value).root
      else { throw usage("--set \(text) cannot be understood; it is --set name=value") }
      wanted.overrides.append(DocumentNode.Entry(key: name, location: place, value: node))
    }
    definition.inboxes = [wanted]
    let (order, problems) = reader(context, base: String(context.absolute("").dropLast()))
      .read(definition)
    let errors = problems.map { problem in
      problem.detail ?? .usage(problem.message, advice: problem.advice)
    }
    if let error = SpoolError.all(errors) { throw error.asUsage }
    return order
  }

  private func read(_ path: String, _ context: CommandContext) throws(SpoolError) -> WatchOrder {
    guard arguments[Self.pipeline] == nil else {
      throw usage("with --config, the file names pipelines and inboxes")
    }
    let text: String
    do throws(TextFileError) { text = try TextFile.read(path) } catch {
      throw .usage(
        "cannot read the settings \(path)", reason: error.reason, advice: "check the path")
    }
    let parsed = ParsedWatch(text)
    let (order, problems) = reader(context, base: context.folder(of: path))
      .read(parsed.definition)
    let all =
      parsed.problems
      + problems.map { Problem(at: $0.location, $0.message, allowed: $0.advice) }
    guard all.isEmpty else {
      for detail in problems.compactMap(\.detail) {
        context.console.report(detail.text(context.console))
      }
      throw context.refusal(all, in: text, at: path)
    }
    return order
  }

  private func reader(_ context: CommandContext, base: String) -> WatchOrderReader {
    WatchOrderReader(
      context, base: base, store: arguments[Options.store], jobs: arguments[Self.jobs],
      drain: arguments[Self.drain]?.seconds, isAcceptingMounts: arguments[Self.ignoreMounts],
      isAdopting: arguments[Self.adopt])
  }

  private func usage(_ message: String) -> SpoolError {
    .usage(message, advice: "spool help watch")
  }
}

extension WatchCommand {
  /// Reads the container facts of recordings.
  private static let containerProbe = ContainerProbe(
    describe: { path in
      guard let found = try? MediaProbe.describe(path) else { return nil }
      return (found.tags, found.duration?.value)
    },
    verdict: { path in
      switch ContainerExtent(ofFileAt: path) {
      case .whole: .whole
      case .incomplete(let what): .incomplete(what)
      case .unended(let what): .unended(what)
      case .unreadable(let why): .undecided(why)
      }
    })
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

/// Stores each inbox's command line when its watch begins, and forwards all events to the log.
struct WatchHistory: WatchRecorder {
  let store: DiskStore
  /// The watch's command line.
  let line: String
  let log: WatchLog

  func record(_ event: WatchEvent) {
    if event.event == .watching, let inbox = event.inbox {
      // On a full disk, the watch continues without storing its command line.
      try? store.inboxes.remember(watch: line, ofInbox: inbox)
    }
    log.record(event)
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

/// Signals of a service: SIGTERM and SIGINT stop it at a clean point, SIGHUP reloads the settings.
/// A second SIGINT exits at once; durable data stays valid.
///
/// The signals are blocked in all threads and received by a dedicated one, so that no code runs in
/// a signal handler.
enum ServiceSignals {
  /// Starts the thread. Called once, before other threads start.
  static func begin(
    end: @escaping @Sendable () -> Void, reload: @escaping @Sendable () -> Void
  ) {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let taken = signals
    BackgroundThread(name: "signals") {
      var set = taken
      var hasAsked = false
      while true {
        let number = unsafe sigwaitinfo(&set, nil)
        if number == SIGINT, hasAsked { _exit(128 + SIGINT) }
        switch number {
        case SIGINT, SIGTERM:
          hasAsked = true
          end()
        case SIGHUP: reload()
        default: break
        }
      }
    }.letGo()
  }
}
