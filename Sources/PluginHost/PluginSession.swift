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
  public private(set) var warnings: [String] = []

  private let plugin: Plugin
  private let folder: PrivateFolder
  private let process: PluginProcess
  private var connection: PluginConnection
  private let check: () throws(StageError) -> Void
  private let hear: (PluginMessage) throws(StageError) -> Void

  /// What a session needs besides the plugin.
  public struct Setting {
    /// The program that confines plugins and then becomes them: Spool's own.
    public var launcher: String
    /// Files and folders that the plugin may read.
    public var reads: [String]
    /// Files and folders that it may write.
    public var writes: [String]
    /// Asked several times a second whether to go on.
    public var check: () throws(StageError) -> Void
    /// Told of each `progress` and `note`.
    public var hear: (PluginMessage) throws(StageError) -> Void

    /// A session that nothing disturbs.
    public init(
      launcher: String = "/proc/self/exe", reads: [String] = [], writes: [String] = [],
      check: @escaping () throws(StageError) -> Void = {},
      hear: @escaping (PluginMessage) throws(StageError) -> Void = { _ in }
    ) {
      self.launcher = launcher
      self.reads = reads
      self.writes = writes
      self.check = check
      self.hear = hear
    }
  }

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
    let (program, arguments) = try plugin.start(launcher: setting.launcher)
    folder = try PrivateFolder(for: "the plugin \(plugin.title)")
    process = try PluginProcess(
      ConfinedProgram(
        program: program, arguments: arguments, folder: folder.path,
        reads: [plugin.folder] + plugin.manifest.limits.reads + setting.reads,
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
  /// The plugin has its limit of time for it, which begins anew where it tells how far it is: other
  /// talk gains it none.
  public func receive(_ type: String) throws(StageError) -> PluginMessage {
    let limit = Duration.seconds(plugin.manifest.limits.time)
    var deadline = ContinuousClock.now + limit
    while true {
      let message: PluginMessage
      do throws(PluginConnection.Trouble) {
        message = try connection.receive(by: deadline, check: check)
      } catch {
        throw failure(error, waitingFor: type)
      }
      switch message.type {
      case type: return message
      case "error": throw reported(message)
      case "log":
        if message.members["level"]?.text == "warning", warnings.count < Self.mostWarnings,
          let text = message.members["message"]?.text
        {
          warnings.append(text)
        }
      case "measurement": measurement = message.members["value"]?.canonical
      case "progress", "note":
        deadline = ContinuousClock.now + limit
        try hear(message)
      case "sound", "snapshot", "restored", "done":
        throw failure("it answered \"\(message.type)\" where \"\(type)\" was due")
      default: break
      }
    }
  }

  /// Waits for the end of the program. Everything has been said.
  /// - Parameter grace: how long it may take to end by itself.
  /// - Returns: how it ended, for people; nil where it ended well.
  @discardableResult
  public func finish(within grace: Duration = .milliseconds(500)) -> String? {
    noteDegradation()
    return process.end(within: grace)
  }

  /// A plugin that warns of every block says nothing more with its hundredth.
  private static let mostWarnings = 100

  /// What the launcher could not take away.
  private func noteDegradation() {
    connection.drainComplaints()
    let missing = connection.complaints.missingConfinements
    if !missing.isEmpty {
      warnings.append(
        "\(plugin.title) is not confined as far as it should be: this machine's kernel cannot keep "
          + "it from \(missing.joined(separator: ", "))")
    }
  }

  private func failure(
    _ trouble: PluginConnection.Trouble, waitingFor type: String
  ) -> StageError {
    switch trouble {
    case .stopped(let error): return error
    case .late:
      process.end()
      let limit = Unit.seconds.format(plugin.manifest.limits.time)
      return failure(
        "it gave no \"\(type)\" within \(limit)",
        advice: plugin.advice ?? "raise limits: { time: … } in \(manifest)"
      )
    case .garbage(let what):
      return failure(
        "what it wrote is no message: \(what)",
        advice: "print for people to standard error, not to standard output")
    case .ended:
      let how = process.end(within: .seconds(1)) ?? "it ended"
      return failure("\(how) before it gave \"\(type)\"")
    }
  }

  /// A failure of the plugin, in its own and our words.
  public func failure(_ reason: String, advice: String? = nil) -> StageError {
    process.end()
    connection.drainComplaints()
    return StageError(
      "the plugin \(plugin.title) failed",
      reason: reason + connection.complaints.reason,
      advice: plugin.advice ?? advice
        ?? "spool plugin test \(ShellWords.line([plugin.folder])) shows more")
  }

  /// What the plugin itself calls an error.
  private func reported(_ message: PluginMessage) -> StageError {
    let causes = ["input", "environment", "transient"]
    let cause = message.members["cause"]?.text.flatMap { causes.contains($0) ? $0 : nil }
    process.end(within: .milliseconds(200))
    return StageError(
      "\(plugin.title): \(message.members["message"]?.text ?? "it failed")",
      reason: message.members["reason"]?.text, advice: message.members["advice"]?.text,
      cause: cause.flatMap { StageError.Cause(rawValue: $0) } ?? .input)
  }

  private var manifest: String { "\(plugin.folder)/plugin.yaml" }
}
