import CLilvLoader
import FoundationEssentials
import Glibc
import PipelineModel
import Platform

/// The host process, the only one that runs code of LV2 and LADSPA plugins.
package enum EffectHost {
  /// Executes an order and reports the result on standard output in the plugin protocol.
  /// - Returns: the exit code.
  package static func obey(_ order: HostOrder) -> Int32 {
    switch order.wish {
    case .run:
      spool_flush_subnormals()
      return WorkerLoop.serve { (greeting) throws(EffectError) -> any HostedEffect in
        try instances(order, rate: greeting.rate, channelCount: greeting.channelCount)
      }
    case .list: return answer { (tell) throws(EffectError) in try list(order, tell) }
    case .describe: return answer { (tell) throws(EffectError) in try describe(order, tell) }
    }
  }

  /// Answers the greeting with the result of `find`, or with its error.
  /// - Parameter find: does the search; it calls its argument with the name of each plugin before
  ///   foreign code runs, so that the reader knows which plugin crashed the process.
  private static func answer(
    _ find: ((String) -> Void) throws(EffectError) -> some Encodable
  ) -> Int32 {
    let output = dup(STDOUT_FILENO)
    // Output of libraries would corrupt the protocol.
    dup2(STDERR_FILENO, STDOUT_FILENO)
    _ = readLine()
    var members: [String: JSONValue] = ["protocol": .integer(PluginManifest.spokenProtocol)]
    do throws(EffectError) {
      let found = try find { place in
        _ = send(PluginMessage("note", ["text": .text(place)]), to: output)
        // Text buffered so far concerns the previous library.
        fflush(nil)
        var line = Array("\(StderrSplitter.line)\n".utf8)
        _ = unsafe write(STDERR_FILENO, &line, line.count)
      }
      members["found"] = (try? JSONEncoder().encode(found)).map {
        .text(String(decoding: $0, as: UTF8.self))
      }
    } catch {
      members["trouble"] = .object(leavingOut: [
        "message": .text(error.message), "reason": error.reason.map { .text($0) },
        "advice": error.advice.map { .text($0) },
      ])
    }
    return send(PluginMessage("ready", members), to: output) ? 0 : 1
  }

  private static func send(_ message: PluginMessage, to output: Int32) -> Bool {
    let line = message.line
    var sent = 0
    while sent < line.count {
      let count = unsafe line.withUnsafeBytes { bytes -> Int in
        guard let start = bytes.baseAddress else { return -1 }
        return unsafe write(output, start + sent, line.count - sent)
      }
      guard count > 0 || errno == EINTR else { return false }
      sent += max(0, count)
    }
    return true
  }

  private static func list(
    _ order: HostOrder, _ tell: (String) -> Void
  ) throws(EffectError) -> EffectCatalog {
    switch order.format {
    case .lv2:
      let world = try LilvWorld(order.folders, excluding: Set(order.excluded), tell: tell)
      let describer = LV2Describer(world)
      let found = unsafe world.plugins.compactMap { plugin in
        let bundle = unsafe LV2Describer.bundle(of: plugin)
        tell(bundle)
        return world.hear(bundle) { () -> (EffectDescription, isBad: Bool) in
          let effect = unsafe describer.description(of: plugin, isInFull: false)
          return (effect, effect.refusal != nil)
        }
      }
      return EffectCatalog(found, flaws: world.flaws)
    case .ladspa:
      var found: [EffectDescription] = []
      var flaws: [String] = []
      let excluded = Set(order.excluded)
      for path in LADSPALibrary.paths(in: order.folders) where !excluded.contains(path) {
        tell(path)
        do throws(EffectError) {
          let library = try LADSPALibrary(path)
          let describer = LADSPADescriber(library)
          found += unsafe try library.descriptors().map { unsafe describer.description(of: $0) }
        } catch {
          flaws.append("\(path): \(error.reason ?? error.message)")
        }
      }
      return EffectCatalog(found, flaws: flaws)
    }
  }

  private static func describe(
    _ order: HostOrder, _ tell: (String) -> Void
  ) throws(EffectError) -> EffectDescription {
    switch order.format {
    case .lv2:
      let world = try LilvWorld(order.folders, excluding: Set(order.excluded), tell: tell)
      return try unsafe LV2Describer(world).description(of: lv2(order, world), isInFull: true)
    case .ladspa:
      let (library, plugin) = try unsafe ladspa(order)
      return unsafe LADSPADescriber(library).description(of: plugin)
    }
  }

  private static func instances(
    _ order: HostOrder, rate: Double, channelCount: Int
  ) throws(EffectError) -> EffectInstances {
    switch order.format {
    case .lv2:
      let world = try LilvWorld(order.folders, excluding: Set(order.excluded)) { _ in }
      let plugin = try unsafe lv2(order, world)
      let effect = unsafe LV2Describer(world).description(of: plugin, isInFull: false)
      return try EffectInstances(effect, channelCount: channelCount) { () throws(EffectError) in
        try unsafe set(
          LV2Instance(
            plugin, effect, in: world, preset: order.preset, rate: rate,
            blockLength: EffectInstances.blockLength), order, effect, rate)
      }
    case .ladspa:
      let (library, plugin) = try unsafe ladspa(order)
      let effect = unsafe LADSPADescriber(library).description(of: plugin)
      return try EffectInstances(effect, channelCount: channelCount) { () throws(EffectError) in
        try unsafe set(
          LADSPAInstance(plugin, effect, rate: rate, blockLength: EffectInstances.blockLength),
          order,
          effect, rate)
      }
    }
  }

  /// Sets an instance's controls; limits that scale with the sample rate are resolved here.
  private static func set(
    _ instance: some EffectInstance, _ order: HostOrder, _ effect: EffectDescription, _ rate: Double
  ) throws(EffectError) -> any EffectInstance {
    for port in effect.ports where port.kind == .control && port.isInput {
      if port.role == .freeWheel { instance.set(port.symbol, to: 1) }
      guard let value = order.values[port.symbol], let control = port.control else { continue }
      guard control.holds(value, at: rate) else {
        let limits = [control.minimum, control.maximum].map { limit in
          limit.map { EffectControl.text($0 * (control.isScaledByRate ? rate : 1)) } ?? "any"
        }
        throw EffectError(
          "\(port.symbol) of \(effect.name) is out of range at \(EffectControl.text(value))",
          advice: "\(limits.joined(separator: " … ")) at \(EffectControl.text(rate)) Hz")
      }
      instance.set(port.symbol, to: value)
    }
    return instance
  }
}

/// A running LADSPA plugin.
@safe final class LADSPAInstance: EffectInstance {
  let memory: PortMemory
  private let descriptor: LADSPA_Descriptor
  private let handle: LADSPA_Handle

  /// Makes an instance with default control values.
  init(
    _ plugin: UnsafePointer<LADSPA_Descriptor>, _ effect: EffectDescription, rate: Double,
    blockLength: Int
  ) throws(EffectError) {
    unsafe descriptor = unsafe plugin.pointee
    guard let made = unsafe descriptor.instantiate?(plugin, UInt(rate.rounded())) else {
      throw EffectError("\(effect.name) cannot be started", reason: "it refused")
    }
    unsafe handle = unsafe made
    memory = PortMemory(effect.ports, blockLength: blockLength)
    for port in effect.ports {
      if let control = port.control, control.isStandardScaled {
        memory.fill(port.index, with: control.standard * rate)
      }
      unsafe descriptor.connect_port?(
        handle, UInt(port.index), memory.start(port.index)?.assumingMemoryBound(to: Float.self))
    }
  }

  deinit {
    unsafe descriptor.deactivate?(handle)
    unsafe descriptor.cleanup?(handle)
  }

  func set(_ symbol: String, to value: Double) {
    guard let port = memory.ports.first(where: { $0.symbol == symbol }) else { return }
    memory.fill(port.index, with: value)
  }

  func activate() { unsafe descriptor.activate?(handle) }

  func run(_ frames: Int) { unsafe descriptor.run?(handle, UInt(frames)) }
}

/// Finds the plugin that an order names, or explains its absence.
extension EffectHost {
  static func lv2(
    _ order: HostOrder, _ world: LilvWorld
  ) throws(EffectError) -> OpaquePointer {
    if let plugin = unsafe world.plugin(order.identity) { return unsafe plugin }
    let uris = unsafe world.plugins.compactMap { plugin in
      unsafe LilvWorld.text(lilv_plugin_get_uri(plugin))
    }
    let flaws = order.excluded.map { "\($0): it ended the process that read it" } + world.flaws
    throw missing(order.identity, of: uris, .lv2, order.folders, flaws: flaws)
  }

  /// The library of an order, and the plugin in it.
  static func ladspa(
    _ order: HostOrder
  ) throws(EffectError) -> (LADSPALibrary, UnsafePointer<LADSPA_Descriptor>) {
    // A library without a label is valid here: the error then lists its labels.
    let colon = order.identity.lastIndex(of: ":")
    let name = String(order.identity[..<(colon ?? order.identity.endIndex)])
    let label = colon.map { String(order.identity[$0...].dropFirst()) } ?? ""
    guard let path = LADSPALibrary.path(of: name, in: order.folders) else {
      if name.hasPrefix("/") { throw LADSPALibrary.absence(of: name) }
      let names = LADSPALibrary.paths(in: order.folders).map {
        String(($0.split(separator: "/").last ?? "").dropLast(3))
      }
      throw missing(name, of: names, .ladspa, order.folders)
    }
    let library = try LADSPALibrary(path)
    let descriptors = unsafe try library.descriptors()
    let labels = unsafe descriptors.map { unsafe LADSPALibrary.text($0.pointee.Label) }
    if let index = labels.firstIndex(of: label) { return unsafe (library, descriptors[index]) }
    let near = Problem.nearest(to: label, in: labels).map { "; did you mean \"\($0)\"?" }
    throw EffectError(
      label.isEmpty
        ? "\(library.name) is a library, and no plugin is named in it"
        : "the library \(library.name) has no plugin \"\(label)\"",
      reason: labels.isEmpty
        ? "\(library.path) says that it has none"
        : "it has \(labels.prefix(20).joined(separator: ", "))\(near ?? "")",
      advice: labels.first.map { "ladspa:\(name):\($0) is one" }
        ?? "\(command: .stages) ladspa shows what is installed")
  }

  private static func missing(
    _ name: String, of names: [String], _ format: EffectFormat, _ folders: [String],
    flaws: [String] = []
  ) -> EffectError {
    let leftOut = flaws.isEmpty ? "" : "; left out \(flaws.joined(separator: ", and "))"
    let near = Problem.nearest(to: name, in: names).map { "; did you mean \"\($0)\"?" }
    return EffectError(
      "no \(format.title) plugin \"\(name)\" is installed",
      reason: "looked in \(folders.joined(separator: ", "))\(near ?? "")\(leftOut)",
      advice: "\(command: .stages) \(format.rawValue) shows what is installed; install the "
        + "plugin, or set "
        + "\(format.title)_PATH")
  }
}

/// A running LV2 plugin.
@safe final class LV2Instance: EffectInstance {
  let memory: PortMemory
  private let instance: OpaquePointer
  /// Must outlive the instance.
  private let world: LilvWorld
  private let symbols: [String: EffectPort]
  private let hasEvents: Bool

  /// Makes an instance in its default state, then applies the preset.
  init(
    _ plugin: OpaquePointer, _ effect: EffectDescription, in world: LilvWorld, preset: String?,
    rate: Double, blockLength: Int
  ) throws(EffectError) {
    guard let made = unsafe spool_lv2_make(plugin, rate, UInt32(blockLength)) else {
      throw EffectError(
        "\(effect.name) cannot be started",
        reason: "liblilv could not open it, or it refused",
        advice: "if that is no matter of the sample rate, its package is broken: tell its packager")
    }
    unsafe instance = unsafe made
    self.world = world
    memory = PortMemory(effect.ports, blockLength: blockLength)
    hasEvents = effect.ports.contains { $0.kind == .events }
    symbols = Dictionary(
      effect.ports.filter { $0.kind == .control && $0.isInput }.map { ($0.symbol, $0) },
      uniquingKeysWith: { first, _ in first })
    for port in effect.ports {
      unsafe spool_lv2_connect(instance, UInt32(port.index), memory.start(port.index))
    }
    // Does nothing for most plugins, which have no default state.
    _ = restore(effect.identity, in: world)
    guard let preset else { return }
    unsafe lilv_world_load_resource(world.world, world.node(preset))
    guard restore(preset, in: world) else {
      throw EffectError("\(effect.name) has no preset \(preset)")
    }
  }

  deinit { unsafe spool_lv2_free(instance) }

  private func restore(_ state: String, in world: LilvWorld) -> Bool {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    return unsafe spool_lv2_restore(
      instance, world.world, world.node(state),
      { symbol, value, context in
        guard let symbol = unsafe symbol, let context = unsafe context else { return }
        unsafe Unmanaged<LV2Instance>.fromOpaque(context).takeUnretainedValue()
          .set(String(cString: symbol), to: Double(value))
      }, context)
  }

  func set(_ symbol: String, to value: Double) {
    guard let port = symbols[symbol] else { return }
    memory.fill(port.index, with: value)
  }

  func activate() { unsafe spool_lv2_activate(instance) }

  func run(_ frames: Int) {
    if hasEvents { memory.clearEvents() }
    unsafe spool_lv2_run(instance, UInt32(frames))
  }
}
