import PipelineModel
import PluginHost

extension StageRegistration {
  /// `command`: a program reads files and writes files, without a plugin around it.
  /// - Parameter launcher: the program that confines others: Spool's own.
  static func command(launcher: String) -> StageRegistration {
    let versions = CommandVersions(launcher: launcher)
    return StageRegistration(
      CommandForm.descriptor(inputs: [.sound], outputs: [.file]), libraries: { [:] },
      shape: { CommandForm.descriptor(of: $0) },
      make: { (value) throws(StageError) -> any Stage in
        try CommandStage(try CommandOrder(value), versions: versions, launcher: launcher)
      })
  }
}

/// A stage whose work a program does.
struct CommandStage: WholeStage, PublishingStage, VersionedStage, EquippedStage {
  let order: CommandOrder
  let versions: CommandVersions
  /// The program that confines others.
  let launcher: String
  private let files: FileDigests

  /// - Throws: all that contradicts itself in the order, and then also all that is not there.
  init(
    _ order: CommandOrder, versions: CommandVersions, launcher: String
  ) throws(StageError) {
    self.order = order
    self.versions = versions
    self.launcher = launcher
    files = FileDigests(order.files)
    if let error = order.contradiction, let all = StageError.all([error] + flaws) { throw all }
  }

  var libraries: [String: String] {
    var texts = files.texts
    texts["program \(order.program)"] = versions.text(of: order)
    return texts
  }

  func checkEquipment() throws(StageError) {
    if let error = StageError.all(flaws) { throw error }
  }

  /// Programs and files that cannot be used, each at its place.
  private var flaws: [StageError] {
    var flaws: [StageError] = []
    for (parameter, program) in [("run", order.programPath), ("version", order.version?.first)] {
      guard let program else { continue }
      do throws(StageError) { _ = try ConfinedCommand.path(toStart: program) } catch {
        flaws.append(error.located(at: [parameter]))
      }
    }
    return flaws
      + files.flaws(for: "command").map { $0.error.located(at: ["files", $0.parameter]) }
  }

  func run(_ context: StageContext) throws(StageError) -> [PortName: StepOutput] {
    try files.check(for: "command")
    try versions.check(order)
    let desk = try PluginDesk(claim: context.step, title: "the command \(order.program)")
    defer { desk.clear() }
    var places = order.files
    var inputs: [String] = []
    for port in order.inputs {
      guard let path = try desk.path(of: port, in: context) else { continue }
      places[port.name] = path
      inputs.append(path)
    }
    for port in order.outputs { places[port.name] = desk.outputPath(of: port) }
    let command = ConfinedCommand(
      order.words(places), limits: order.limits,
      reads: inputs + order.files.values + order.ownPrograms,
      writes: [desk.outputFolder], advice: order.trial)
    let outcome = try command.run(
      launcher: launcher, standardOutput: order.printed.map { desk.outputPath(of: $0) }
    ) { () throws(StageError) in try context.stop.check() }
    for warning in outcome.warnings { context.warn(warning) }
    var results: [PortName: StepOutput] = [:]
    for port in order.outputs {
      guard let artifact = try desk.keep(port, in: context) else {
        guard port.optional else {
          throw StageError(
            "the command \(order.program) failed",
            reason: "it ended well and has not written its \(port.name)"
              + Self.tail(outcome.complaints),
            advice: "see that it writes to {\(port.name)}, or let that be optional: true")
        }
        continue
      }
      results[PortName(port.name)] = StepOutput(artifact)
    }
    return results
  }

  private static func tail(_ complaints: [String]) -> String {
    let lines = complaints.suffix(6).map { $0.prefix(400) }.joined(separator: " | ")
    return lines.isEmpty ? "" : "; the end of what it wrote: \(lines)"
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    PluginDelivery(ports: order.outputs).fileNames(recordings: recordings)
  }

  func publish(_ context: PublishingContext) throws(StageError) -> [PublishedFile] {
    try PluginDelivery(ports: order.outputs).publish(context)
  }
}
