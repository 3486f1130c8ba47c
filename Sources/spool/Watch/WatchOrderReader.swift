import Glibc
import Intake
import PipelineModel
import Platform
import Store

/// Validates the command line or a settings file: checks folders, reads pipelines, and collects
/// every problem.
struct WatchOrderReader {
  private let context: CommandContext
  /// The base of relative paths.
  private let base: String
  private let storeOption: String?
  private let jobsOption: Int?
  private let drainOption: Double?
  private let isAcceptingMounts: Bool
  private let isAdopting: Bool

  /// - Parameters:
  ///   - base: the base of relative paths.
  ///   - store: `--store`, which overrides the file.
  ///   - jobs: `--jobs`, likewise.
  ///   - drain: `--drain`, likewise.
  ///   - isAcceptingMounts: whether folders may have moved from the mounted disk that they were on.
  ///   - isAdopting: whether inboxes of another store are taken over.
  init(
    _ context: CommandContext, base: String, store: String?, jobs: Int?, drain: Double?,
    isAcceptingMounts: Bool, isAdopting: Bool
  ) {
    self.isAdopting = isAdopting
    self.isAcceptingMounts = isAcceptingMounts
    self.context = context
    self.base = base
    storeOption = store
    jobsOption = jobs
    drainOption = drain
  }

  /// Validates a definition.
  /// - Returns: the order, which is valid only if there are no problems.
  func read(_ definition: WatchDefinition) -> (order: WatchOrder, problems: [WatchProblem]) {
    var problems: [WatchProblem] = []
    var settings: [InboxSettings] = []
    var places: [SourceLocation?] = []
    let store = storeOption ?? definition.store.map { absolute($0.value) }
    let storePath = StoreLocation.resolve(option: store, environment: Environment.variables)
    for inbox in definition.inboxes {
      let (read, found) = self.read(inbox, store: place(ofStore: storePath))
      problems += found
      guard let read else { continue }
      settings.append(read)
      places.append(inbox.path.location.known)
    }
    let folders =
      settings.map { (path: $0.out, role: "the output folder") }
      + settings.map { (path: $0.outbox, role: "the outbox") }
      + [(path: place(ofStore: storePath), role: "the store")]
    for (inbox, message) in WatchSettings.conflicts(inboxes: settings.map(\.path), others: folders)
    {
      problems.append(
        WatchProblem(
          at: places[inbox], message,
          advice: "give each a folder of its own, none of them in another"))
    }
    let jobs = jobsOption ?? definition.jobs ?? CoreCount.online
    let drain = drainOption ?? definition.drain ?? WatchSettings.usualDrain
    return (
      WatchOrder(
        settings: WatchSettings(inboxes: settings, jobs: jobs, drain: drain), store: store),
      problems
    )
  }

  private func read(
    _ inbox: WatchDefinition.Inbox, store: String
  ) -> (settings: InboxSettings?, problems: [WatchProblem]) {
    var problems: [WatchProblem] = []
    let path = folder(inbox.path, &problems)
    let pipeline = pipeline(inbox, store: store, &problems)
    let out = made(inbox.out?.value ?? "exports", inbox.out?.location, &problems)
    let outbox = made(inbox.outbox?.value ?? "outbox", inbox.outbox?.location, &problems)
    let template = template(inbox.name, &problems)
    guard let path, let pipeline, let out, let outbox else { return (nil, problems) }
    var rules = StabilityRules()
    if let seconds = inbox.settle {
      rules.restPeriod = .seconds(seconds)
      rules.cautiousRestPeriod = .seconds(seconds * 2.5)
      rules.sidecarPatience = .seconds(seconds * 15)
    }
    rules.doneMarker = inbox.doneMarker
    rules.sidecar =
      switch inbox.sidecar ?? .optional {
      case .optional: .taken
      case .required: .required(reportedAfter: .seconds(600))
      case .ignored: .ignored
      case .awaited(let seconds): .awaited(atMost: .seconds(seconds))
      }
    if let seconds = inbox.overlooked { rules.overlookedPeriod = .seconds(seconds) }
    if let seconds = inbox.patience { rules.patience = .seconds(seconds) }
    var recordingRules = InboxRules()
    recordingRules.retry = Self.policy(inbox.retry)
    if let keep = inbox.keep?.value {
      recordingRules.keep = InboxRules.Keeping(rawValue: keep.rawValue) ?? recordingRules.keep
    }
    var settings = InboxSettings(
      path: path, pipeline: pipeline, out: out, outbox: outbox, recordingRules: recordingRules,
      rules: rules)
    settings.template = template
    settings.isAcceptingMounts = isAcceptingMounts
    settings.isAdopting = isAdopting
    return (settings, problems)
  }

  private func template(
    _ name: Located<String>?, _ problems: inout [WatchProblem]
  ) -> NameTemplate? {
    guard let name else { return nil }
    do throws(SpoolError) { return try NameTemplate(name.value) } catch {
      problems.append(
        WatchProblem(
          at: name.location.known, "the name \(name.value) cannot be used: \(error.message)",
          advice: error.advice ?? "{date}-{title}, or with folders {folder}/{date}-{title}"))
      return nil
    }
  }

  private static func policy(_ retry: WatchDefinition.Retry) -> RetryPolicy {
    let usual = RetryPolicy()
    return RetryPolicy(
      attempts: retry.attempts ?? usual.attempts, firstPause: retry.pause ?? usual.firstPause,
      longestPause: retry.longestPause ?? usual.longestPause,
      jitter: retry.jitter.map { Double($0) / 100 } ?? usual.jitter)
  }

  private func folder(
    _ path: Located<String>, _ problems: inout [WatchProblem]
  ) -> String? {
    let wanted = absolute(path.value)
    guard let resolved = Self.resolved(wanted) else {
      problems.append(
        WatchProblem(
          at: path.location.known, "there is no inbox \(wanted)",
          advice: "mkdir -p \(Self.quoted(wanted))"))
      return nil
    }
    var status = stat()
    guard unsafe stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      problems.append(
        WatchProblem(
          at: path.location.known, "the inbox \(wanted) is not a folder",
          advice: "name the folder that recordings arrive in"))
      return nil
    }
    return resolved
  }

  private func made(
    _ path: String, _ location: SourceLocation?, _ problems: inout [WatchProblem]
  ) -> String? {
    do throws(SpoolError) {
      return try OutputFolder.prepare(absolute(path))
    } catch {
      problems.append(
        WatchProblem(
          at: location?.known, "the folder \(absolute(path)) cannot be used",
          advice: "mkdir -p \(Self.quoted(absolute(path)))", detail: error))
      return nil
    }
  }

  private func pipeline(
    _ inbox: WatchDefinition.Inbox, store: String, _ problems: inout [WatchProblem]
  ) -> WatchedPipeline? {
    var context = context
    context.storeOfRuns = store
    let path = context.pipelinePath(inbox.pipeline.value, base: base)
    do throws(SpoolError) {
      let read = try context.pipeline(at: path)
      var overrides: [String: (text: String, node: DocumentNode)] = [:]
      for entry in inbox.overrides {
        overrides[entry.key] = (Self.text(of: entry.value), entry.value)
      }
      do throws(PlanError) {
        var pipeline = try WatchedPipeline(
          read.definition, text: read.text, path: path, catalog: read.catalog,
          overrides: overrides)
        pipeline.pluginFolder = context.pluginFolder
        let first = PluginUsage(context.registry(beside: path)).uses(of: read.definition)
        pipeline.plugins = { [context] in
          PluginUsage(context.registry(beside: path)).uses(of: read.definition, orElse: first)
        }
        return pipeline
      } catch {
        throw context.refusal(error.problems, in: read.text, at: path)
      }
    } catch {
      problems.append(
        WatchProblem(
          at: inbox.pipeline.location.known, "the pipeline \(path) cannot be used here",
          advice: "spool check-pipeline \(Self.quoted(path))", detail: error))
      return nil
    }
  }

  private static func text(of node: DocumentNode) -> String {
    if case .scalar(let text, _) = node.content { text } else { node.summary }
  }

  private func absolute(_ path: String) -> String {
    let joined = path.hasPrefix("/") ? path : base + "/" + path
    return joined.count > 1 && joined.hasSuffix("/") ? String(joined.dropLast()) : joined
  }

  /// The store's path, existing or not; its parent must exist.
  private func place(ofStore path: String) -> String {
    if let resolved = Self.resolved(path) { return resolved }
    let names = context.absolute(path).split(separator: "/").filter { $0 != "." }
    let parent = "/" + names.dropLast().joined(separator: "/")
    return (Self.resolved(parent) ?? parent) + "/" + (names.last ?? "")
  }

  /// The path without links; nil if it does not exist.
  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Quotes a path for a shell.
  private static func quoted(_ path: String) -> String {
    let isPlain = path.utf8.allSatisfy {
      (0x2d...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
        || $0 == 0x5f
    }
    return isPlain ? path : "'" + path.replacing("'", with: "'\\''") + "'"
  }
}

extension SourceLocation {
  /// The location of values from the command line.
  static let commandLine = SourceLocation(line: 0, column: 0)

  /// The location in the file; nil for the command line's.
  fileprivate var known: SourceLocation? { self == .commandLine ? nil : self }
}

/// A problem that prevents a watch.
struct WatchProblem {
  /// The location in the settings file; nil for the command line.
  let location: SourceLocation?
  let message: String
  /// Advice or a suggested command.
  let advice: String?
  /// Problems of another file.
  var detail: SpoolError?

  init(
    at location: SourceLocation?, _ message: String, advice: String? = nil,
    detail: SpoolError? = nil
  ) {
    self.location = location
    self.message = message
    self.advice = advice
    self.detail = detail
  }
}

/// A validated watch configuration.
struct WatchOrder {
  /// The inboxes with their pipelines, and how they are processed.
  let settings: WatchSettings
  /// The store's folder as given; nil for the default.
  let store: String?
}

/// A watch's command line with absolute paths and explicit default folders, valid in any folder.
struct WatchLine {
  private var words = ["spool", "watch"]

  /// - Parameters:
  ///   - places: the pipeline and the inbox as typed; empty with a settings file.
  ///   - usual: the default folders of options, by name.
  ///   - passing: flags that apply to one start only.
  ///   - absolute: makes a typed path absolute.
  init(
    _ arguments: ParsedArguments, places: [String], usual: [String: String], passing: Set<String>,
    absolute: (String) -> String
  ) {
    words += places.map(absolute)
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
  }

  /// Quoted for a shell.
  var text: String { ShellWords.line(words) }
}
