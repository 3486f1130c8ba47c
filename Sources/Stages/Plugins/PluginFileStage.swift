import AudioModel
import FoundationEssentials
import JSONText
import PipelineModel
import PluginHost

/// A plugin's kind that reads files and writes files.
struct PluginFileStage: WholeStage, PublishingStage, VersionedStage, EquippedStage {
  let plugin: Plugin
  let kind: PluginManifest.Kind
  let parameters: Value
  /// Files that the parameters name.
  let files: FileDigests
  /// What is known of what the plugin needs.
  let equipment: PluginEquipment
  /// The program that confines plugins.
  let launcher: String

  init(
    _ plugin: Plugin, kind: PluginManifest.Kind, parameters: Value, equipment: PluginEquipment,
    launcher: String
  ) {
    self.plugin = plugin
    self.equipment = equipment
    self.kind = kind
    self.parameters = parameters
    self.launcher = launcher
    files = FileDigests(
      kind.files(parameters), programs: kind.programs(parameters), of: plugin,
      defaults: kind.defaulted(parameters))
  }

  var libraries: [String: String] { files.texts }

  func checkEquipment() throws(StageError) {
    try equipment.check()
    try files.check(for: kind.kind)
  }

  func run(_ context: StageContext) throws(StageError) -> [PortName: StepOutput] {
    try files.check(for: kind.kind)
    let desk = try PluginDesk(claim: context.step, title: "the plugin \(plugin.title)")
    defer { desk.clear() }
    var inputs: [String: JSONValue] = [:]
    for port in kind.inputs {
      guard let path = try desk.path(of: port, in: context) else { continue }
      inputs[port.name] = .text(path)
    }
    var outputs: [String: JSONValue] = [:]
    for port in kind.outputs { outputs[port.name] = .text(desk.outputPath(of: port)) }
    let note: JournalNote?
    do throws(StoreError) { note = try context.journal.lastNote() } catch {
      throw StageError(error)
    }
    let session = try PluginSession(
      plugin, kind: kind.kind, parameters: kind.message(parameters),
      work: [
        "inputs": .object(inputs), "outputs": .object(outputs),
        "note": note.map { .text($0.text) } ?? .null,
      ],
      setting: PluginSession.Setting(
        launcher: launcher, reads: inputs.values.compactMap(\.text) + files.paths.values,
        writes: [desk.outputFolder],
        check: { () throws(StageError) in try context.stop.check() },
        hear: { (message) throws(StageError) in try hear(message, context) }))
    _ = try session.receive("done")
    try session.finish()
    for warning in session.warnings { context.warn(warning) }
    return try collect(desk, session, context)
  }

  /// Hands on how far the plugin is.
  private func hear(_ message: PluginMessage, _ context: StageContext) throws(StageError) {
    switch message.type {
    case "progress":
      guard let done = message.members["done"]?.number else { return }
      context.reportProgress(min(max(done, 0), 1))
    case "note":
      guard let text = message.members["text"]?.text else { return }
      do throws(StoreError) { try context.journal.note(text) } catch { throw StageError(error) }
    default: break
    }
  }

  /// Keeps what the plugin has written.
  private func collect(
    _ desk: PluginDesk, _ session: PluginSession, _ context: StageContext
  ) throws(StageError) -> [PortName: StepOutput] {
    var results: [PortName: StepOutput] = [:]
    for port in kind.outputs {
      guard let artifact = try desk.keep(port, in: context) else {
        guard port.optional else {
          throw session.failure("it is done and has not written \(port.name)")
        }
        continue
      }
      results[PortName(port.name)] = StepOutput(artifact)
    }
    if let figures = session.measurement, results[.measurement] == nil,
      !kind.outputs.contains(where: { $0.name == PortName.measurement.name })
    {
      do throws(StoreError) {
        results[.measurement] = StepOutput(try context.store.keep(figures, as: .measurement))
      } catch { throw StageError(error) }
    }
    return results
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    PluginDelivery(ports: kind.outputs).fileNames(recordings: recordings)
  }

  func publish(_ context: PublishingContext) throws(StageError) -> [PublishedFile] {
    try PluginDelivery(ports: kind.outputs).publish(context)
  }
}
