import CLilvLoader
import PluginWorker

/// A LADSPA plugin at work.
@safe final class LADSPAInstance: EffectInstance {
  let memory: PortMemory
  private let descriptor: LADSPA_Descriptor
  private let handle: LADSPA_Handle

  /// Makes an instance with its controls as they stand if nobody sets them.
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
