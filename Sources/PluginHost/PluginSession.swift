import FoundationEssentials
public import JSONText
public import PipelineModel

/// A conversation with a plugin, from `hello` to `done`. It belongs to one thread at a time.
///
/// Whatever goes wrong becomes one failure: what the plugin did, and the end of what it wrote to its
/// standard error.
public final class PluginSession {
  /// What the plugin answered to `hello`.
  public private(set) var ready = PluginMessage("ready")
  /// The figures that it told last, as JSON.
  public private(set) var measurement: String?
  /// What people should know of it.
  public var warnings: [String] { spoken.texts + process.report.warnings(of: plugin.title) }

  private var spoken = PluginWarnings()
  /// How far the plugin said that it is, from 0 to 1.
  private var progress = 0.0
  /// How often its limit of time has begun anew.
  private var renewals = 0
  private static let mostRenewals = 10_000
  /// Other messages in place of the one that is due, of which more are worth a word.
  private static let mostAsides = 100

  private let plugin: Plugin
  private let folder: PrivateFolder
  private let process: PluginProcess
  private var connection: PluginConnection
  private let check: () throws(StageError) -> Void
  private let hear: (PluginMessage) throws(StageError) -> Void

  /// Starts a plugin and greets it.
  /// - Parameters:
  ///   - kind: the kind that is wanted.
  ///   - parameters: its parameters, as the plugin wants them.
  ///   - work: what else the greeting says.
  public init(
    _ plugin: Plugin, kind: String, parameters: JSONValue, work: [String: JSONValue],
    setting: Setting
  ) throws(StageError) {
    self.plugin = plugin
    check = setting.check
    hear = setting.hear
    try plugin.checkPresence()
    let (program, arguments) = try plugin.start(launcher: setting.launcher)
    folder = try PrivateFolder(for: plugin.subject)
    process = try PluginProcess(
      ConfinedProgram(
        program: program, arguments: arguments, folder: folder.path,
        reads: [plugin.folder] + setting.reads, publicReads: plugin.manifest.limits.reads,
        writes: setting.writes, limits: plugin.manifest.limits),
      launcher: setting.launcher)
    connection = PluginConnection(process)
    var greeting = work
    greeting["protocol"] = .integer(PluginManifest.spokenProtocol)
    greeting["spool"] = .text(Release.version)
    greeting["stage"] = .text(kind)
    greeting["parameters"] = parameters
    greeting["temporary"] = .text(folder.path)
    send(PluginMessage("hello", greeting))
    ready = try receive("ready")
    guard ready.members["protocol"]?.integer == PluginManifest.spokenProtocol else {
      throw failure(
        "it speaks protocol \(ready.members["protocol"]?.compact ?? "of no number"), not "
          + "\(PluginManifest.spokenProtocol)", advice: "get a version of it for this Spool")
    }
  }

  deinit {
    // Before its folder goes.
    process.end()
    folder.remove()
  }

  /// Sends a message; it goes out while answers are waited for.
  public func send(_ message: PluginMessage) { connection.send(message) }

  /// The next message of this type. What else comes is dealt with or skipped.
  ///
  /// The plugin has its limit of time for it, which begins anew where it gets on: with a note, or
  /// with progress that has grown. Other talk gains it none, and nothing does for ever.
  public func receive(_ type: String) throws(StageError) -> PluginMessage {
    let limit = Duration.seconds(plugin.manifest.limits.time)
    var deadline = ContinuousClock.now + limit
    var others = 0
    while true {
      let message: PluginMessage
      do throws(PluginConnection.Trouble) {
        message = try connection.receive(by: deadline, check: check)
      } catch {
        throw failure(error, waitingFor: type, after: others)
      }
      others += 1
      switch message.type {
      case type: return message
      case "error": throw reported(message)
      case "log":
        if message.members["level"]?.text == "warning",
          let text = message.members["message"]?.text
        {
          spoken.add(text)
        }
      case "measurement": measurement = message.members["value"]?.canonical
      case "progress", "note":
        if getsOn(message) { deadline = ContinuousClock.now + limit }
        try hear(message)
      case "sound", "snapshot", "restored", "done":
        throw failure("it answered \"\(message.type)\" where \"\(type)\" was due")
      default: break
      }
    }
  }

  /// Whether a message shows that the work goes on.
  private func getsOn(_ message: PluginMessage) -> Bool {
    if message.type == "progress" {
      guard let done = message.number("done"), done > progress, done <= 1 else { return false }
      progress = done
    }
    renewals += 1
    return renewals <= Self.mostRenewals
  }

  /// Waits for the end of the program. Everything has been said.
  /// - Parameter grace: how long it may take to end by itself.
  /// - Returns: how it ended, for people; nil where it ended well.
  /// - Throws: where something that it started could not be ended.
  @discardableResult
  public func finish(within grace: Duration = .milliseconds(500)) throws(StageError) -> String? {
    let ending = process.end(within: grace)
    guard process.report.left == 0 else { throw failure(ending ?? "it ended well") }
    return ending
  }

  private func failure(
    _ trouble: PluginConnection.Trouble, waitingFor type: String, after others: Int
  ) -> StageError {
    switch trouble {
    case .stopped(let error): return error
    case .late:
      process.end()
      let limit = Unit.seconds.format(plugin.manifest.limits.time)
      return failure(
        "it gave no \"\(type)\" within \(limit)"
          + (others > Self.mostAsides ? ", and \(others) other messages" : ""),
        advice:
          "\(test) shows where it hangs; where it only needs longer, raise limits: { time: … } "
          + "in \(plugin.folder)/\(ManifestFile.name)")
    case .garbage(let garbage):
      return failure("what it wrote is no message: \(garbage.shown)", advice: garbage.advice)
    case .ended:
      let how = process.end(within: .seconds(1)) ?? "it ended"
      return failure("\(how) before it gave \"\(type)\"")
    }
  }

  /// A failure of the plugin, in its own and our words. It is no fault of the recording as far as
  /// anybody knows, so that trying again later may help.
  public func failure(_ reason: String, advice: String? = nil) -> StageError {
    process.end()
    connection.drainComplaints()
    let remnant = process.report.remnant
    return StageError(
      "\(plugin.subject) failed",
      reason: reason + (remnant.map { "; \($0)" } ?? "") + connection.complaints.reason,
      advice: remnant.map { _ in LauncherReport.adviceForRemnant }
        ?? plugin.advice ?? advice ?? "\(test) shows more",
      cause: .environment)
  }

  /// What the plugin itself calls an error.
  private func reported(_ message: PluginMessage) -> StageError {
    let causes = ["input", "environment", "transient"]
    let cause = message.members["cause"]?.text.flatMap { causes.contains($0) ? $0 : nil }
    process.end(within: .milliseconds(200))
    connection.drainComplaints()
    var reason = message.members["reason"]?.text
    // Of a hosted plugin, what its library wrote tells more than its host can.
    if plugin.advice != nil { reason = (reason ?? "") + connection.complaints.reason }
    return StageError(
      "\(plugin.title): \(message.members["message"]?.text ?? "it failed")",
      reason: reason.flatMap { $0.isEmpty ? nil : $0 }, advice: message.members["advice"]?.text,
      cause: cause.flatMap { StageError.Cause(rawValue: $0) } ?? .input)
  }

  /// What holds the plugin to the protocol.
  private var test: String { "spool plugin test \(ShellWords.line([plugin.folder]))" }
}
