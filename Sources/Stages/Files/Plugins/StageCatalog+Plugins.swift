import Audio
import FoundationEssentials
package import PipelineModel
import Platform
package import Plugins
import SoundEngine
import Synchronization

extension StageCatalog {
  /// The kinds that need a program to be confined in, which only a catalogue with plugins has: those of
  /// foreign standards, and of foreign programs.
  package static let hostedKinds = EffectFormat.allCases.map(\.rawValue) + ["command"]

  /// The catalogue with those kinds and the kinds of plugins behind its own. Kinds that several plugins offer are
  /// left out.
  /// - Parameter launcher: the program that confines plugins: Spool's own.
  package func adding(
    _ registry: PluginRegistry, launcher: String = "/proc/self/exe"
  ) -> StageCatalog {
    let effects = EffectRegistry(launcher: launcher)
    let hosted: [StageRegistration] = [
      .command(launcher: launcher), .lv2(effects, launcher: launcher),
      .ladspa(effects, launcher: launcher),
    ]
    return StageCatalog(
      kinds.compactMap { self[$0] } + hosted
        + registry.plugins.flatMap { plugin in
          plugin.manifest.kinds.filter {
            registry.canUse($0, of: plugin) && self[$0.kind] == nil
              && !Self.hostedKinds.contains($0.kind)
          }
          .map { StageRegistration($0, of: plugin, launcher: launcher) }
        }, elsewhere: Self.hint(registry.searched))
  }

  /// Where plugins were looked for, and how to add one.
  private static func hint(_ folders: [String]) -> String? {
    guard !folders.isEmpty else { return nil }
    return "or what a plugin offers: plugins were looked for in "
      + folders.joined(separator: ", ") + "; copy the plugin's folder into one of these, or name "
      + "the folder that holds it with \(option: .plugins)"
  }
}

extension StageRegistration {
  /// Registers a plugin's kind.
  init(_ kind: PluginManifest.Kind, of plugin: Plugin, launcher: String) {
    let installed = InstalledPlugin(plugin, launcher: launcher)
    self.init(
      kind.descriptor(of: plugin.title),
      libraries: {
        ["plugin \(plugin.manifest.name)": installed.identity]
      },
      make: { (parameters) throws(SpoolError) -> any Stage in
        let binding = PluginBinding(installed, kind: kind, parameters: parameters)
        return switch kind.work {
        case .sound: PluginSoundStage(binding: binding)
        case .file: PluginFileStage(binding: binding)
        }
      })
  }
}

/// A plugin on this machine, and what is known of it, however many steps it works in.
private final class InstalledPlugin: Sendable {
  let plugin: Plugin
  /// The program that confines plugins.
  let launcher: String
  private let knownIdentity = Mutex<(stamp: String, text: String)?>(nil)
  private let knownEquipment = Mutex<Result<Void, SpoolError>?>(nil)

  init(_ plugin: Plugin, launcher: String) {
    self.plugin = plugin
    self.launcher = launcher
  }

  /// What stands for the plugin in keys. Its files are read for it, and again after a change: a
  /// watch outlives many versions of its plugins.
  var identity: String {
    // Before the files are read, so that a later change is noticed.
    let stamp = plugin.stamp
    return knownIdentity.withLock { known in
      if let known, known.stamp == stamp { return known.text }
      let text = "\(plugin.manifest.version) \(plugin.digest().short)"
      known = (stamp, text)
      return text
    }
  }

  /// Throws what this machine lacks of what the plugin needs. Looks once.
  func checkEquipment() throws(SpoolError) {
    let answer = knownEquipment.withLock { known in
      if let known { return known }
      let answer = Result { () throws(SpoolError) in
        try plugin.checkEquipment(launcher: launcher)
      }
      known = answer
      return answer
    }
    try answer.get()
  }
}

/// A plugin's kind with the parameters of one step.
private struct PluginBinding {
  let installed: InstalledPlugin
  let kind: PluginManifest.Kind
  let parameters: Value
  /// Files that the parameters name.
  let files: FileDigests

  var plugin: Plugin { installed.plugin }

  init(_ installed: InstalledPlugin, kind: PluginManifest.Kind, parameters: Value) {
    self.installed = installed
    self.kind = kind
    self.parameters = parameters
    files = FileDigests(
      kind.files(parameters), programs: kind.programs(parameters), of: installed.plugin,
      defaults: kind.defaulted(parameters))
  }

  func checkFiles() throws(SpoolError) { try files.check(for: kind.kind) }

  func checkEquipment() throws(SpoolError) {
    try installed.checkEquipment()
    try checkFiles()
  }
}

/// A plugin's kind that changes sound as it flows by.
private struct PluginSoundStage: SoundFilterStage, VersionedStage, EquippedStage {
  let binding: PluginBinding

  var libraries: [String: String] { binding.files.texts }

  func checkEquipment() throws(SpoolError) { try binding.checkEquipment() }

  var isRepeatable: Bool { binding.plugin.manifest.isDeterministic }

  func makeProcessor(for format: AudioFormat) throws(SpoolError) -> any Processor {
    try makeProcessor(for: format) { () throws(SpoolError) in }
  }

  func makeProcessor(
    for format: AudioFormat, check: @escaping @Sendable () throws(SpoolError) -> Void
  ) throws(SpoolError) -> any Processor {
    try binding.checkFiles()
    return try PluginProcessor(
      binding.plugin, kind: binding.kind, parameters: binding.parameters, format: format,
      launcher: binding.installed.launcher, check: check)
  }
}

/// A plugin's kind that reads files and writes files.
private struct PluginFileStage: FileStage, VersionedStage, EquippedStage {
  let binding: PluginBinding

  private var kind: PluginManifest.Kind { binding.kind }
  var outputs: [PluginManifest.FilePort] { kind.outputs }

  var libraries: [String: String] { binding.files.texts }

  func checkEquipment() throws(SpoolError) { try binding.checkEquipment() }

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    try binding.checkFiles()
    let plugin = binding.plugin
    let scratch = try StageScratch(claim: context.step, title: "the plugin \(plugin.title)")
    defer { scratch.clear() }
    var inputs: [String: JSONValue] = [:]
    for port in kind.inputs {
      guard let path = try scratch.path(of: port, in: context) else { continue }
      inputs[port.name] = .text(path)
    }
    var outputs: [String: JSONValue] = [:]
    for port in kind.outputs { outputs[port.name] = .text(scratch.outputPath(of: port)) }
    let note = try context.journal.lastEntry()
    let session = try PluginSession(
      plugin, kind: kind.kind, parameters: kind.message(binding.parameters),
      work: [
        "inputs": .object(inputs), "outputs": .object(outputs),
        "note": note.map { .text($0.text) } ?? .null,
      ],
      setting: PluginSession.Setting(
        launcher: binding.installed.launcher,
        reads: inputs.values.compactMap(\.text) + binding.files.paths.values,
        writes: [scratch.outputFolder],
        check: context.check,
        hear: { (message) throws(SpoolError) in try hear(message, context) }))
    // A plugin's warnings may say why it failed.
    defer { for warning in session.warnings { context.warn(warning) } }
    _ = try session.receive("done")
    try session.finish()
    return try collect(scratch, session, context)
  }

  /// Hands on how far the plugin is.
  private func hear(_ message: PluginMessage, _ context: StageContext) throws(SpoolError) {
    switch message.type {
    case "progress":
      guard let done = message.members["done"]?.number else { return }
      context.reportProgress(min(max(done, 0), 1))
    case "note":
      guard let text = message.members["text"]?.text else { return }
      try context.journal.record(text)
    default: break
    }
  }

  /// Keeps what the plugin has written.
  private func collect(
    _ scratch: StageScratch, _ session: PluginSession, _ context: StageContext
  ) throws(SpoolError) -> [PortName: StepOutput] {
    var results = try collect(from: scratch, context) {
      session.failure("it is done and has not written \($0.name)")
    }
    if let figures = session.measurement, results[.measurement] == nil,
      !kind.outputs.contains(where: { $0.name == PortName.measurement.name })
    {
      results[.measurement] = StepOutput(try context.store.keep(figures, as: .measurement))
    }
    return results
  }
}

/// A stage whose outputs become files in the user's folder, as their ports say.
protocol FileStage: WholeStage, PublishingStage {
  var outputs: [PluginManifest.FilePort] { get }
}

extension FileStage {
  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    outputs.compactMap { port in
      port.fileName.map { ExportName.fill($0, recording: recordings.first) }
    }
  }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    var files: [PublishedFile] = []
    for port in outputs {
      guard let name = port.fileName,
        let artifact = context.outputs[PortName(port.name)]?.artifact
      else { continue }
      files.append(
        try context.publish(artifact, as: ExportName.fill(name, recording: context.names.first)))
    }
    return files
  }

  /// Keeps what a program has written; `failure` is the error where an output is missing.
  func collect(
    from scratch: StageScratch, _ context: StageContext,
    failure: (PluginManifest.FilePort) -> SpoolError
  ) throws(SpoolError) -> [PortName: StepOutput] {
    var results: [PortName: StepOutput] = [:]
    for port in outputs {
      if let artifact = try scratch.keep(port, in: context) {
        results[PortName(port.name)] = StepOutput(artifact)
      } else if !port.optional {
        throw failure(port)
      }
    }
    return results
  }
}
