import Audio
import Intake
import Media
import PipelineModel
import Platform
import SoundEngine
import Store

/// A watch as the command line or a settings file defines it, with its folders checked, its
/// pipelines read, and every problem.
struct WatchOrder {
  /// The inboxes with their pipelines, and how they are processed; valid only without problems.
  var settings: WatchSettings
  /// The store's folder as given; nil for the default.
  let store: String?
  private(set) var problems: [WatchProblem] = []
  /// The folders that were made for it.
  private var madeFolders: [String] = []
  /// The base of relative paths.
  private let base: String
  private let context: CommandContext
  /// The store's path.
  private let storePath: String

  /// Validates a definition. `--store` overrides its store.
  init(_ definition: WatchDefinition, base: String, _ context: CommandContext) {
    (self.base, self.context) = (base, context)
    store =
      context.named(Options.store) ?? definition.store.map { Self.absolute($0.value, from: base) }
    storePath = Self.place(of: CommandContext.storePath(store), context)
    settings = WatchSettings(
      inboxes: [], jobs: definition.jobs ?? CoreCount.online,
      drain: definition.drain ?? WatchSettings.usualDrain)
    var places: [SourceLocation?] = []
    let memory =
      context.arguments[Options.ignoreMounts] || !DiskStore.isThere(at: storePath)
      ? nil : (try? DiskStore(reading: storePath))?.inboxes
    for inbox in definition.inboxes {
      guard let read = read(inbox, memory) else { continue }
      settings.inboxes.append(read)
      places.append(inbox.path.location.known)
    }
    let folders =
      settings.inboxes.map { (path: $0.out, role: "the output folder") }
      + settings.inboxes.map { (path: $0.outbox, role: "the outbox") }
      + [(path: storePath, role: "the store")]
    let conflicts = WatchSettings.conflicts(inboxes: settings.inboxes.map(\.path), others: folders)
    for (inbox, message) in conflicts {
      note(
        at: places[inbox], message,
        advice: "give each a folder of its own, none of them in another")
    }
  }

  private mutating func note(
    at location: SourceLocation?, _ message: String, advice: String? = nil,
    suggestion: String? = nil, detail: SpoolError? = nil
  ) {
    problems.append(
      WatchProblem(
        location: location?.known, message: message, advice: advice, suggestion: suggestion,
        detail: detail))
  }

  /// - Parameter memory: where the folders' disks were mounted; nil if that is to be ignored.
  private mutating func read(
    _ inbox: WatchDefinition.Inbox, _ memory: InboxTable?
  ) -> InboxSettings? {
    let path = folder(inbox.path, memory)
    let pipeline = pipeline(inbox)
    let out = made(inbox.out?.value ?? "exports", inbox.out?.location, memory)
    let outbox = made(inbox.outbox?.value ?? "outbox", inbox.outbox?.location, memory)
    let template = template(inbox.name)
    guard let path, let pipeline, let out, let outbox else { return nil }
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
      let isSingle = inbox.isSingleCopy || context.arguments[Options.singleCopy]
      if keep == .delete, !pipeline.requiresDelivery, !isSingle {
        note(
          at: inbox.keep?.location,
          "no second place gets the recordings of this inbox, and their files would be deleted",
          advice:
            "add - deliver: { to: [NAME] } to the pipeline, which deletes a file when NAME has it; "
            + "or, if one copy is enough, --single-copy or single-copy: true")
      }
    }
    var settings = InboxSettings(
      path: path, pipeline: pipeline, out: out, outbox: outbox, recordingRules: recordingRules,
      rules: rules)
    settings.template = template
    return settings
  }

  private mutating func template(_ name: Located<String>?) -> NameTemplate? {
    guard let name else { return nil }
    do throws(SpoolError) { return try NameTemplate(name.value) } catch {
      note(
        at: name.location, "the name \(name.value) cannot be used: \(error.message)",
        advice: error.advice ?? "{date}-{title}, or with folders {folder}/{date}-{title}")
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

  /// Why a folder's disk is away, in words; nil if it is not.
  private func absence(of path: String, _ memory: InboxTable?) -> String? {
    // Without its disk, the folder's own links cannot be followed.
    [ResolvedPath.of(path), ResolvedPath.ofFile(path)].lazy.compactMap { path in
      MountPoint.absence(of: try? memory?.mountPoint(ofFolder: path))
    }.first
  }

  private mutating func folder(_ path: Located<String>, _ memory: InboxTable?) -> String? {
    let wanted = absolute(path.value)
    if let refusal = CommandContext.refusal(ofAddress: path.value) {
      note(at: path.location, refusal.message, advice: refusal.reason)
      return nil
    }
    guard let resolved = try? FilePath.resolved(wanted) else {
      // The watch waits for the disk, and serves the other inboxes meanwhile.
      if absence(of: wanted, memory) != nil { return ResolvedPath.of(wanted) }
      note(
        at: path.location, "there is no inbox \(wanted)",
        advice: "mkdir -p \(ShellWords.line([wanted]))")
      return nil
    }
    guard (try? FileStamp(following: resolved))?.isFolder == true else {
      note(
        at: path.location, "the inbox \(wanted) is not a folder",
        advice: "name the folder that recordings arrive in")
      return nil
    }
    return resolved
  }

  private mutating func made(
    _ path: String, _ location: SourceLocation?, _ memory: InboxTable?
  ) -> String? {
    if let refusal = CommandContext.refusal(ofAddress: path) {
      note(at: location, refusal.message, advice: refusal.reason)
      return nil
    }
    // Where its disk was mounted, a folder would be another one: the watch waits for the disk.
    if absence(of: absolute(path), memory) != nil { return ResolvedPath.of(absolute(path)) }
    let isThere = FilePath.exists(absolute(path))
    do throws(SpoolError) {
      let folder = try OutputFolder.prepare(absolute(path))
      if !isThere { madeFolders.append(folder) }
      return folder
    } catch {
      note(
        at: location, "the folder \(absolute(path)) cannot be used",
        advice: "mkdir -p \(ShellWords.line([absolute(path)]))", detail: error)
      return nil
    }
  }

  /// Removes the folders that were made for it and are empty: it is refused.
  func removeMadeFolders() {
    for folder in madeFolders.reversed() { try? FileOperations.system.removeFolder(folder) }
  }

  private mutating func pipeline(_ inbox: WatchDefinition.Inbox) -> WatchedPipeline? {
    var context = context
    context.storeOfRuns = storePath
    let path = context.pipelinePath(inbox.pipeline.value, base: base)
    do throws(SpoolError) {
      let read = try context.pipeline(at: path)
      var overrides: [String: (text: String, node: DocumentNode)] = [:]
      for entry in inbox.overrides {
        overrides[entry.key] = (entry.value.overrideText, entry.value)
      }
      do throws(PlanError) {
        var pipeline = try WatchedPipeline(
          read.definition, text: read.text, path: path, catalog: read.catalog,
          overrides: overrides)
        pipeline.pluginFolder = context.pluginFolder
        pipeline.signing = pipeline.asksForReceipts ? context.signing : nil
        let registry = context.registry(beside: path)
        let first = PluginUsage(registry).uses(of: read.definition)
        if first != nil {
          pipeline.changedCatalog = { [context] in
            context.catalog(for: read.definition, beside: path, changedSince: registry)
          }
        }
        pipeline.plugins = { [context] in
          PluginUsage(context.registry(beside: path)).uses(of: read.definition, orElse: first)
        }
        return pipeline
      } catch {
        let others = noteOverrides(error.problems, of: inbox)
        if others.isEmpty { return nil }
        throw context.refusal(others, in: read.text, at: path)
      }
    } catch {
      note(
        at: inbox.pipeline.location, "the pipeline \(path) cannot be used here",
        advice: "spool pipeline check \(ShellWords.line([path]))", detail: error)
      return nil
    }
  }

  /// Reports the problems of the settings file's own `set:`, each at its line.
  /// - Returns: the other problems.
  private mutating func noteOverrides(
    _ problems: [Problem], of inbox: WatchDefinition.Inbox
  ) -> [Problem] {
    problems.filter { problem in
      guard let entry = inbox.overrides.first(where: { $0.key == problem.override }),
        entry.location.known != nil
      else { return true }
      note(
        at: entry.location, problem.message,
        advice: problem.allowed, suggestion: problem.suggestion)
      return false
    }
  }

  private func absolute(_ path: String) -> String { Self.absolute(path, from: base) }

  private static func absolute(_ path: String, from base: String) -> String {
    let joined = path.hasPrefix("/") ? path : base + "/" + path
    return joined.count > 1 && joined.hasSuffix("/") ? String(joined.dropLast()) : joined
  }

  /// The store's path, existing or not; its parent must exist.
  private static func place(of path: String, _ context: CommandContext) -> String {
    if let resolved = try? FilePath.resolved(path) { return resolved }
    let names = context.absolute(path).pathNames.filter { $0 != "." }
    let parent = "/" + names.dropLast().joined(separator: "/")
    return ((try? FilePath.resolved(parent)) ?? parent) + "/" + (names.last ?? "")
  }

  /// The settings' file of a watch that does not name an inbox any more, though it can be read; nil
  /// if it does, and without such a file.
  /// - Parameters:
  ///   - line: the watch's command line.
  ///   - inbox: an absolute path without links.
  static func settings(of line: String, lacking inbox: String) -> String? {
    guard let words = ShellWords.words(of: line), let (file, folder, parsed) = settings(in: words)
    else { return nil }
    let isNamed = parsed.definition.inboxes.contains {
      ResolvedPath.of(absolute($0.path.value, from: folder)) == inbox
    }
    return isNamed || !parsed.problems.isEmpty ? nil : file
  }

  /// A watch's command line for the store at a path, which may have been moved or copied since.
  /// - Parameter option: how that store is named in any folder.
  static func line(_ line: String, forStoreAt path: String, option: StoreOption) -> String {
    guard var words = ShellWords.words(of: line) else { return line }
    if let named = place(of: "--store", in: words) {
      if ResolvedPath.of(words[named]) == path { return line }
      words.removeSubrange(named - 1...named)
    } else if let (_, folder, parsed) = settings(in: words),
      let store = parsed.definition.store?.value
    {
      if ResolvedPath.of(absolute(store, from: folder)) == path { return line }
      return ShellWords.line(words + StoreOption(path).words)
    }
    return ShellWords.line(words + option.words)
  }

  /// The settings' file that a command line names, and its folder; nil if it names none, or the file
  /// cannot be read.
  private static func settings(
    in words: [String]
  ) -> (file: String, folder: String, parsed: ParsedWatch)? {
    guard let place = place(of: "--config", in: words),
      let text = try? TextFile.read("the settings", words[place])
    else { return nil }
    let file = words[place]
    let folder = file[..<(file.lastIndex(of: "/") ?? file.startIndex)]
    return (file, String(folder), ParsedWatch(text))
  }

  /// Where the value of an option stands among the words of a line; nil if it is not there.
  private static func place(of option: String, in words: [String]) -> Int? {
    words.firstIndex(of: option).map { $0 + 1 }.flatMap { $0 < words.count ? $0 : nil }
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
  /// The word that was probably meant.
  var suggestion: String?
  /// Problems of another file.
  var detail: SpoolError?
}

extension WatchEngine.Probe {
  /// Reads the container facts of recordings.
  static let containers = WatchEngine.Probe(
    describe: { path in
      (try? MediaProbe.describe(SourceFile(path))).map { ($0.tags, $0.duration?.value) }
    },
    verdict: { path in
      switch ContainerExtent(ofFileAt: path) {
      case .whole: ContainerExtent.tellsEnd(ofFileAt: path) ? .whole : .openEnded
      case .incomplete(let what), .cutBehindSound(let what): .incomplete(what)
      case .unended(let what): .unended(what)
      case .unreadable(let why): .undecided(why)
      }
    },
    metadata: { (try? ExportTags(of: $0))?.fields ?? [:] })
}
