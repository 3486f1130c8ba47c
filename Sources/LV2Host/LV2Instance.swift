import CLilvLoader
import PluginWorker

/// An LV2 plugin at work.
@safe final class LV2Instance: EffectInstance {
  let memory: PortMemory
  private let instance: OpaquePointer
  /// It outlives the instance, which is part of it.
  private let world: LilvWorld
  private let symbols: [String: EffectPort]
  private let hasEvents: Bool

  /// Makes an instance in its own default state, and then in that of a preset.
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
    // Most plugins have no state of their own, and then nothing happens.
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
