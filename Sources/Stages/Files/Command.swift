import FoundationEssentials
import PipelineModel
import Platform
import Plugins
import Synchronization

extension StageRegistration {
  /// `command`: a program reads files and writes files, without a plugin around it.
  /// - Parameter launcher: the program that confines others: Spool's own.
  static func command(launcher: String) -> StageRegistration {
    let versions = CommandVersions(launcher: launcher)
    return StageRegistration(
      CommandForm.descriptor(inputs: [.sound], outputs: [.file]), libraries: { [:] },
      shape: { CommandForm.descriptor(of: $0) },
      make: { (value) throws(SpoolError) -> any Stage in
        try CommandStage(try CommandStage.Order(value), versions: versions, launcher: launcher)
      })
  }
}

/// A stage whose work a program does.
struct CommandStage: FileStage, VersionedStage, EquippedStage {
  let order: CommandStage.Order
  let versions: CommandVersions
  /// The program that confines others.
  let launcher: String
  private let files: FileDigests

  /// - Throws: all that contradicts itself in the order, and then also all that is not there.
  init(
    _ order: CommandStage.Order, versions: CommandVersions, launcher: String
  ) throws(SpoolError) {
    self.order = order
    self.versions = versions
    self.launcher = launcher
    files = FileDigests(order.files)
    if let error = order.contradiction, let all = SpoolError.all([error] + flaws) { throw all }
  }

  var outputs: [PluginManifest.FilePort] { order.outputs }

  var libraries: [String: String] {
    var texts = files.texts
    texts["program \(order.program)"] = versions.text(of: order)
    return texts
  }

  func checkEquipment() throws(SpoolError) {
    if let error = SpoolError.all(flaws) { throw error }
  }

  /// Programs and files that cannot be used, each at its place.
  private var flaws: [SpoolError] {
    var flaws: [SpoolError] = []
    for (parameter, program) in [("run", order.programPath), ("version", order.version?.first)] {
      guard let program else { continue }
      do throws(SpoolError) { _ = try ConfinedCommand.path(toStart: program) } catch {
        flaws.append(error.located(at: [parameter]))
      }
    }
    return flaws
      + files.flaws(for: "command").map { $0.error.located(at: ["files", $0.parameter]) }
  }

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    try files.check(for: "command")
    try versions.check(order)
    let scratch = try StageScratch(claim: context.step, title: "the command \(order.program)")
    defer { scratch.clear() }
    var places = order.files
    var inputs: [String] = []
    for port in order.inputs {
      guard let path = try scratch.path(of: port, in: context) else { continue }
      places[port.name] = path
      inputs.append(path)
    }
    for port in order.outputs { places[port.name] = scratch.outputPath(of: port) }
    let command = ConfinedCommand(
      order.words(places), limits: order.limits,
      reads: inputs + order.files.values + order.ownPrograms,
      writes: [scratch.outputFolder], advice: order.trial)
    let outcome = try command.run(
      launcher: launcher, standardOutput: order.printed.map { scratch.outputPath(of: $0) },
      check: context.check)
    for warning in outcome.warnings { context.warn(warning) }
    return try collect(from: scratch, context) { port in
      SpoolError(
        "the command \(order.program) failed",
        reason: "it ended well and has not written its \(port.name)"
          + Self.tail(outcome.complaints),
        advice: "see that it writes to {\(port.name)}, or let that be optional: true",
        cause: .environment)
    }
  }

  private static func tail(_ complaints: [String]) -> String {
    let lines = complaints.suffix(6).map { $0.prefix(400) }.joined(separator: " | ")
    return lines.isEmpty ? "" : "; the end of what it wrote: \(lines)"
  }
}

/// What stands for programs in keys: what they print of their version, asked once while they stay as
/// they are, or else their own bytes.
final class CommandVersions: Sendable {
  private let launcher: String
  private let known = Mutex<[Question: Result<String, SpoolError>]>([:])
  /// What was asked of which programs.
  private struct Question: Hashable {
    let words: [String]
    let stamps: [FileStamp?]
  }

  /// The longest wait for a version, in seconds.
  private static let time = 20.0

  /// - Parameter launcher: the program that confines others: Spool's own.
  init(launcher: String) { self.launcher = launcher }

  /// The text for the key. An unknown version has one, too, and `check` ends such a stage before it
  /// makes anything.
  func text(of order: CommandStage.Order) -> String {
    switch answer(for: order) {
    case .success(let text): text
    case .failure: "not known"
    }
  }

  /// Why there is no version.
  func check(_ order: CommandStage.Order) throws(SpoolError) { _ = try answer(for: order).get() }

  private func answer(for order: CommandStage.Order) -> Result<String, SpoolError> {
    let programs = [order.programPath] + (order.version?.prefix(1) ?? [])
    let question = Question(
      words: [order.programPath] + (order.version ?? []),
      stamps: programs.map {
        ConfinedCommand.path(of: $0).flatMap { try? FileStamp(following: $0) }
      })
    if let answer = known.withLock({ $0[question] }) { return answer }
    let answer = Result { () throws(SpoolError) in
      if let version = order.version { return try ask(version, order) }
      return try bytes(of: order.programPath)
    }
    known.withLock { $0[question] = answer }
    return answer
  }

  /// The first line of what a command prints, and a digest of all where there is more.
  private func ask(_ words: [String], _ order: CommandStage.Order) throws(SpoolError) -> String {
    let command = ConfinedCommand(
      words,
      limits: PluginManifest.Limits(memory: order.limits.memory, time: Self.time, fileSize: 1),
      reads: Array(order.files.values) + order.ownPrograms)
    // Where there is no room for a folder, the version is not the cause.
    let folder = try PrivateFolder("command", for: "the version of \(order.program)")
    let outcome: ConfinedCommand.Outcome
    do throws(SpoolError) { outcome = try command.run(launcher: launcher, in: folder) {} } catch {
      throw SpoolError(
        "the version of \(order.program) cannot be told",
        reason: "\(error.message): \(error.reason ?? "")",
        advice: "let version be a command that prints it, or leave it out", cause: error.cause)
    }
    let printed = String(decoding: outcome.output, as: UTF8.self)
    let text = printed.isEmpty ? outcome.complaints.joined(separator: "\n") : printed
    let lines = text.split(whereSeparator: \.isNewline)
    guard let first = lines.first else {
      throw SpoolError(
        "the version of \(order.program) cannot be told",
        reason: "\(ShellWords.line(words)) prints nothing",
        advice: "let version be a command that prints it, or leave it out")
    }
    let short = first.count <= 100 && lines.count == 1
    return short
      ? String(first) : "\(first.prefix(100)) \(SHA256.digest(of: Array(text.utf8)).short)"
  }

  private func bytes(of program: String) throws(SpoolError) -> String {
    FileDigests.text(of: try ConfinedCommand.path(toStart: program))
  }
}
