import FoundationEssentials
import Glibc
import PipelineModel
package import Platform

/// A protocol conversation with a plugin, from `hello` to `done`. Not thread-safe.
///
/// Every failure becomes one error: what the plugin did, and the end of its standard error.
package final class PluginSession {
  /// The plugin's answer to `hello`.
  package private(set) var ready = PluginMessage("ready")
  /// The last reported measurement, as JSON.
  package private(set) var measurement: String?
  /// Warnings of the plugin and of its confinement.
  package var warnings: [String] { spoken.texts + process.warnings(of: plugin.title) }

  /// What is in force around the plugin: `namespaces: bubblewrap, landlock: 7, seccomp: on`.
  var confinement: String { process.report.confinement?.state ?? "not confined yet" }

  private var spoken = PluginWarnings()
  /// Reported progress, 0…1.
  private var progress = 0.0
  /// How often the time limit was restarted.
  private var renewals = 0
  private static let mostRenewals = 10_000
  /// Maximum number of unexpected messages before an answer.
  private static let mostAsides = 100

  private let plugin: Plugin
  private let settings: [String]
  private let folder: PrivateFolder
  private let process: PluginProcess
  private var connection: PluginConnection
  private let check: () throws(SpoolError) -> Void
  private let hear: (PluginMessage) throws(SpoolError) -> Void

  /// Starts a plugin and greets it.
  /// - Parameters:
  ///   - kind: the stage kind.
  ///   - parameters: in the manifest's units.
  ///   - work: further members of the greeting.
  package init(
    _ plugin: Plugin, kind: String, parameters: JSONValue, work: [String: JSONValue],
    setting: Setting
  ) throws(SpoolError) {
    self.plugin = plugin
    settings =
      plugin.manifest.kinds.first { $0.kind == kind }?.settings(in: parameters) ?? []
    check = setting.check
    hear = setting.hear
    try plugin.checkPresence()
    try plugin.checkManifest()
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
    // Must precede the removal of its folder.
    process.end()
    folder.remove()
  }

  /// Queues a message; `receive` sends it.
  package func send(_ message: PluginMessage) { connection.send(message) }

  /// Waits for the next message of this type; handles or skips other messages.
  ///
  /// The plugin's time limit applies. A note, or progress that has grown, restarts it, a limited
  /// number of times. Other messages do not.
  package func receive(_ type: String) throws(SpoolError) -> PluginMessage {
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

  /// Whether a message shows progress.
  private func getsOn(_ message: PluginMessage) -> Bool {
    if message.type == "progress" {
      guard let done = message.number("done"), done > progress, done <= 1 else { return false }
      progress = done
    }
    renewals += 1
    return renewals <= Self.mostRenewals
  }

  /// Whether the program did not end by itself in the time that ``finish(within:)`` gave it.
  var wasKilled: Bool { process.wasKilled }

  /// Waits for the program to exit, after the last message.
  /// - Parameter grace: how long it may take before it is killed.
  /// - Returns: how it ended; nil if it exited with 0.
  /// - Throws: If processes that it started could not be ended.
  @discardableResult
  package func finish(within grace: Duration = .milliseconds(500)) throws(SpoolError) -> String? {
    let ending = process.end(within: grace)
    guard process.report.left == 0 else { throw failure(ending ?? "it ended well") }
    return ending
  }

  private func failure(
    _ trouble: PluginConnection.Trouble, waitingFor type: String, after others: Int
  ) -> SpoolError {
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
          + "in \(plugin.folder)/\(ManifestFile.name)", kind: .unanswered)
    case .garbage(let garbage):
      return failure("what it wrote is no message: \(garbage.shown)", advice: garbage.advice)
    case .ended:
      let how = process.end(within: .seconds(1)) ?? "it ended"
      guard process.wasKilled else { return failure("\(how) before it gave \"\(type)\"") }
      return failure(
        "it closed its standard output before it gave \"\(type)\", and did not end",
        advice: "let it keep its standard output open: its messages go there")
    }
  }

  /// A failure of the plugin. It is retryable: the recording is probably not its cause.
  package func failure(
    _ reason: String, advice: String? = nil, kind: SpoolError.Kind? = nil
  ) -> SpoolError {
    process.end()
    connection.drainComplaints()
    let remnant = process.report.remnant
    return SpoolError(
      "\(plugin.subject) failed",
      reason: reason + (remnant.map { "; \($0)" } ?? "") + connection.complaints.reason,
      advice: remnant.map { _ in LauncherReport.adviceForRemnant }
        ?? plugin.advice ?? advice ?? "\(test) shows more",
      cause: .environment, kind: kind)
  }

  /// The error that the plugin reported itself.
  private func reported(_ message: PluginMessage) -> SpoolError {
    let causes = ["input", "environment", "transient"]
    let cause = message.members["cause"]?.text.flatMap { causes.contains($0) ? $0 : nil }
    process.end(within: .milliseconds(200))
    connection.drainComplaints()
    var reason = message.members["reason"]?.text
    // For a hosted plugin, its library's own output explains more than the host's message.
    if plugin.advice != nil { reason = (reason ?? "") + connection.complaints.reason }
    return SpoolError(
      "\(plugin.title): "
        + PluginWarnings.plain(message.members["message"]?.text ?? "it failed"),
      reason: reason.flatMap { $0.isEmpty ? nil : $0 }, advice: message.members["advice"]?.text,
      cause: cause.flatMap { SpoolError.Cause(rawValue: $0) } ?? .input, kind: .reported)
  }

  /// The command that tests the plugin with the step's parameters.
  private var test: String {
    let words = [plugin.folder] + settings.flatMap { ["\(option: .set)", $0] }
    return "\(command: .pluginTest) \(ShellWords.line(words))"
  }

  /// The environment of a session.
  package struct Setting {
    /// The program that confines plugins (Spool's own).
    package var launcher: String
    /// Files and folders that the plugin may read.
    package var reads: [String]
    /// Files and folders that it may write.
    package var writes: [String]
    /// Called several times a second; throws to stop.
    package var check: () throws(SpoolError) -> Void
    /// Receives each `progress` and `note`.
    package var hear: (PluginMessage) throws(SpoolError) -> Void

    package init(
      launcher: String = "/proc/self/exe", reads: [String] = [], writes: [String] = [],
      check: @escaping () throws(SpoolError) -> Void = {},
      hear: @escaping (PluginMessage) throws(SpoolError) -> Void = { _ in }
    ) {
      self.launcher = launcher
      self.reads = reads
      self.writes = writes
      self.check = check
      self.hear = hear
    }
  }
}

/// A plugin's distinct warnings, up to a limit.
struct PluginWarnings {
  private var kept: [String] = []
  private var known: Set<String> = []
  private var leftOut = 0

  /// Maximum number of texts.
  private static let most = 20
  /// Maximum characters of a text.
  private static let longest = 500

  /// Adds a warning. O(its length).
  mutating func add(_ text: String) {
    let text = Self.plain(text.count > Self.longest ? "\(text.prefix(Self.longest))…" : text)
    guard !known.contains(text) else { return }
    guard kept.count < Self.most else {
      leftOut += 1
      return
    }
    known.insert(text)
    kept.append(text)
  }

  /// A text whose control characters are spaces.
  static func plain(_ text: String) -> String {
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      plain.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    return String(plain)
  }

  /// The texts, and how many were dropped.
  var texts: [String] {
    guard leftOut > 0 else { return kept }
    return kept + ["\(leftOut) more \(leftOut == 1 ? "warning is" : "warnings are") left out"]
  }
}

/// Message exchange with a program. Reads and writes concurrently, so that neither side waits for
/// the other to empty a pipe.
struct PluginConnection: ~Copyable {
  /// The end of the program's standard error.
  private(set) var complaints = StderrTail()

  private let process: PluginProcess
  private var outgoing: [OutgoingMessage] = []
  private var incoming = MessageBuffer()
  private var isAtEnd = false
  private var isComplaining = true

  /// Why no message arrived.
  enum Trouble: Error {
    /// The program closed its output.
    case ended
    /// The deadline passed.
    case late
    /// The input is not a message.
    case garbage(MessageBuffer.Garbage)
    /// The user asked to stop.
    case stopped(SpoolError)
  }

  init(_ process: PluginProcess) { self.process = process }

  /// Queues a message and writes what the pipe accepts now; `receive` writes the rest.
  mutating func send(_ message: PluginMessage) {
    outgoing.append(OutgoingMessage(message))
    write()
  }

  /// Waits for the next message and sends queued ones meanwhile.
  /// - Parameters:
  ///   - deadline: when to give up.
  ///   - check: called several times a second; throws to stop.
  mutating func receive(
    by deadline: ContinuousClock.Instant, check: () throws(SpoolError) -> Void
  ) throws(Trouble) -> PluginMessage {
    while true {
      if let message = try next() { return message }
      if isAtEnd { throw .ended }
      guard ContinuousClock.now < deadline else { throw .late }
      do throws(SpoolError) { try check() } catch { throw .stopped(error) }
      move()
    }
  }

  /// Reads what is available of the standard error.
  mutating func drainComplaints() { complaints.drain(process.complaints) }

  private mutating func next() throws(Trouble) -> PluginMessage? {
    do throws(MessageBuffer.Garbage) {
      if let message = try incoming.next() { return message }
    } catch { throw .garbage(error) }
    if isAtEnd, !incoming.isEmpty { throw .garbage(incoming.rest) }
    return nil
  }

  /// Waits briefly until a pipe is readable or writable, then reads or writes.
  private mutating func move() {
    var ends = [
      pollfd(fd: process.output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: process.complaints, events: Int16(POLLIN), revents: 0),
      pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0),
    ]
    // A closed standard error is no longer polled.
    if !isComplaining { ends[1].fd = -1 }
    let isSending = !outgoing.isEmpty && process.input >= 0
    guard unsafe poll(&ends, isSending ? 3 : 2, 200) > 0 else { return }
    if ends[1].revents != 0 { isComplaining = complaints.drain(process.complaints) }
    if isSending, ends[2].revents != 0 { write() }
    if ends[0].revents != 0, incoming.fill(from: process.output) == 0 { isAtEnd = true }
  }

  private mutating func write() {
    while !outgoing.isEmpty {
      guard outgoing[0].write(to: process.input) < 0 || outgoing[0].isSent else { continue }
      if outgoing[0].isSent {
        outgoing.removeFirst()
      } else if errno == EAGAIN || errno == EINTR {
        return
      } else {
        // The program reads no more; its last message or its exit status tells why.
        outgoing.removeAll()
        process.closeInput()
      }
    }
  }
}
