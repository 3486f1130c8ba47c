import CLilvLoader
import Platform

/// A running LV2 or LADSPA plugin that processes blocks, and the buffers that its ports are
/// connected to. Not thread-safe.
@safe final class EffectInstance {
  @safe private enum Backend {
    /// The world must outlive the instance.
    case lv2(OpaquePointer, LilvWorld)
    case ladspa(LADSPA_Descriptor, LADSPA_Handle)
  }

  private let backend: Backend
  private let ports: [EffectPort]
  /// The address of each port's buffer, which does not change; nil for ports without one.
  private let starts: [UnsafeMutableRawPointer?]
  private let lengths: [Int]
  private let hasEvents: Bool

  /// Makes an instance with default control values.
  private init(_ backend: Backend, _ effect: EffectDescription, blockLength: Int) {
    self.backend = backend
    ports = effect.ports
    hasEvents = ports.contains { $0.kind == .events }
    lengths = ports.map { port in
      switch port.kind {
      case .audio, .cv: 4 * blockLength
      case .control: 4
      case .events: max(1 << 15, port.minimumSize)
      case .unknown: 0
      }
    }
    unsafe starts = lengths.map { length -> UnsafeMutableRawPointer? in
      guard length > 0 else { return nil }
      let start = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 64)
      unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: length)
      return unsafe start
    }
    for port in ports {
      if port.kind == .control || port.kind == .cv {
        fill(port.index, with: port.control?.standard ?? 0)
      }
      let start = unsafe starts[port.index]
      switch self.backend {
      case .lv2(let instance, _):
        unsafe spool_lv2_connect(instance, UInt32(port.index), start)
      case .ladspa(let descriptor, let handle):
        unsafe descriptor.connect_port?(
          handle, UInt(port.index), start?.assumingMemoryBound(to: Float.self))
      }
    }
  }

  /// Makes an LV2 plugin in its default state, then applies the preset.
  convenience init(
    lv2 plugin: OpaquePointer, _ effect: EffectDescription, in world: LilvWorld, preset: String?,
    rate: Double, blockLength: Int
  ) throws(SpoolError) {
    guard let made = unsafe spool_lv2_make(plugin, rate, UInt32(blockLength)) else {
      throw SpoolError(
        "\(effect.name) cannot be started",
        reason: "liblilv could not open it, or it refused",
        advice: "if that is no matter of the sample rate, its package is broken: tell its packager")
    }
    self.init(unsafe .lv2(made, world), effect, blockLength: blockLength)
    // Does nothing for most plugins, which have no default state.
    _ = unsafe restore(effect.identity, of: made, in: world)
    guard let preset else { return }
    unsafe lilv_world_load_resource(world.world, world.node(preset))
    guard unsafe restore(preset, of: made, in: world) else {
      throw SpoolError("\(effect.name) has no preset \(preset)")
    }
  }

  convenience init(
    ladspa plugin: UnsafePointer<LADSPA_Descriptor>, _ effect: EffectDescription, rate: Double,
    blockLength: Int
  ) throws(SpoolError) {
    let descriptor = unsafe plugin.pointee
    guard let handle = unsafe descriptor.instantiate?(plugin, UInt(rate.rounded())) else {
      throw SpoolError("\(effect.name) cannot be started", reason: "it refused")
    }
    self.init(unsafe .ladspa(descriptor, handle), effect, blockLength: blockLength)
    for port in effect.ports {
      guard let control = port.control, control.isStandardScaled else { continue }
      fill(port.index, with: control.standard * rate)
    }
  }

  private func restore(
    _ state: String, of instance: OpaquePointer, in world: LilvWorld
  ) -> Bool {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    return unsafe spool_lv2_restore(
      instance, world.world, world.node(state),
      { symbol, value, context in
        guard let symbol = unsafe symbol, let context = unsafe context else { return }
        unsafe Unmanaged<EffectInstance>.fromOpaque(context).takeUnretainedValue()
          .set(String(cString: symbol), to: Double(value))
      }, context)
  }

  deinit {
    switch backend {
    case .lv2(let instance, _): unsafe spool_lv2_free(instance)
    case .ladspa(let descriptor, let handle):
      unsafe descriptor.deactivate?(handle)
      unsafe descriptor.cleanup?(handle)
    }
    for index in unsafe starts.indices { unsafe starts[index]?.deallocate() }
  }

  /// Sets a control before the first block; does nothing if the plugin has no such control.
  func set(_ symbol: String, to value: Double) {
    let port = ports.first { $0.symbol == symbol && $0.kind == .control && $0.isInput }
    if let port { fill(port.index, with: value) }
  }

  private func fill(_ port: Int, with value: Double) {
    unsafe samples(port)?.update(repeating: Float(value))
  }

  /// Called once, after all controls are set and before the first block.
  func activate() {
    switch backend {
    case .lv2(let instance, _): unsafe spool_lv2_activate(instance)
    case .ladspa(let descriptor, let handle): unsafe descriptor.activate?(handle)
    }
  }

  /// Processes one block: reads the input ports, fills the output ports.
  func run(_ frames: Int) {
    switch backend {
    case .lv2(let instance, _):
      if hasEvents { clearEvents() }
      unsafe spool_lv2_run(instance, UInt32(frames))
    case .ladspa(let descriptor, let handle): unsafe descriptor.run?(handle, UInt(frames))
    }
  }

  /// The numbers of a port; nil if it carries none.
  func samples(_ port: Int) -> UnsafeMutableBufferPointer<Float>? {
    guard ports[port].kind != .events, let start = unsafe starts[port] else { return nil }
    let count = lengths[port] / 4
    return unsafe UnsafeMutableBufferPointer(
      start: start.bindMemory(to: Float.self, capacity: count), count: count)
  }

  /// The first number of a port, which is a control's value.
  func value(_ port: Int) -> Float { unsafe samples(port)?.first ?? 0 }

  /// The frames of the last block at which an event port has events.
  func eventFrames(_ port: Int) -> [Int] {
    var frames = [Int64](repeating: 0, count: 256)
    let count = unsafe spool_lv2_event_frames(
      starts[port], UInt32(lengths[port]), &frames, UInt32(frames.count))
    return frames.prefix(Int(count)).map { Int($0) }
  }

  /// Resets event ports for the next block, with empty inputs.
  private func clearEvents() {
    for port in ports where port.kind == .events {
      unsafe spool_lv2_clear_sequence(starts[port.index], UInt32(lengths[port.index]), port.isInput)
    }
  }
}

extension String {
  /// The text before the terminating null that a C function wrote into a buffer.
  init(cText bytes: [CChar]) {
    self.init(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
