import CLilvLoader
import FoundationEssentials
import Glibc
import JSONText
import PipelineModel
import PluginHost
import PluginWorker

/// What a host process does: plugins' code runs in it, and nothing else does.
public enum EffectHost {
  /// Obeys an order, and tells the outcome on standard output in the protocol of plugins.
  /// - Returns: the exit code.
  public static func obey(_ order: HostOrder) -> Int32 {
    switch order.wish {
    case .run:
      spool_flush_subnormals()
      return WorkerLoop.serve { (greeting) throws(EffectError) -> any HostedEffect in
        try rack(order, rate: greeting.rate, channelCount: greeting.channelCount)
      }
    case .list: return answer { (tell) throws(EffectError) in try list(order, tell) }
    case .describe: return answer { (tell) throws(EffectError) in try describe(order, tell) }
    }
  }

  // MARK: Answers without sound

  /// Answers the greeting with what was found, or with why there is nothing.
  /// - Parameter find: looks; it is given what tells where it is before it runs foreign code, so
  ///   that whoever waits knows what that code ended.
  private static func answer(
    _ find: ((String) -> Void) throws(EffectError) -> some Encodable
  ) -> Int32 {
    let output = dup(STDOUT_FILENO)
    // What libraries print would disturb the answer.
    dup2(STDERR_FILENO, STDOUT_FILENO)
    _ = readLine()
    var members: [String: JSONValue] = ["protocol": .integer(PluginManifest.spokenProtocol)]
    do throws(EffectError) {
      let found = try find { place in
        _ = send(PluginMessage("note", ["text": .text(place)]), to: output)
        // What was printed before is about another one.
        fflush(nil)
        var line = Array("\(ComplaintBoundary.line)\n".utf8)
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

  // MARK: Running

  private static func rack(
    _ order: HostOrder, rate: Double, channelCount: Int
  ) throws(EffectError) -> EffectRack {
    switch order.format {
    case .lv2:
      let world = try LilvWorld(order.folders, excluding: Set(order.excluded)) { _ in }
      let plugin = try unsafe lv2(order, world)
      let effect = unsafe LV2Describer(world).description(of: plugin, isInFull: false)
      return try EffectRack(effect, channelCount: channelCount) { () throws(EffectError) in
        try unsafe set(
          LV2Instance(
            plugin, effect, in: world, preset: order.preset, rate: rate,
            blockLength: EffectRack.blockLength), order, effect, rate)
      }
    case .ladspa:
      let (library, plugin) = try unsafe ladspa(order)
      let effect = unsafe LADSPADescriber(library).description(of: plugin)
      return try EffectRack(effect, channelCount: channelCount) { () throws(EffectError) in
        try unsafe set(
          LADSPAInstance(plugin, effect, rate: rate, blockLength: EffectRack.blockLength), order,
          effect, rate)
      }
    }
  }

  /// Sets an instance's controls; limits in parts of the sample rate are known only now.
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
