import Glibc

/// An effect, and the text that it gave last.
private final class Effect {
  let gate: LoudnessGate
  let channels: Int
  var text: UnsafeMutablePointer<CChar>?

  init(_ gate: LoudnessGate, channels: Int) {
    self.gate = gate
    self.channels = channels
  }

  deinit { free(text) }

  static func of(_ pointer: UnsafeRawPointer?) -> Effect? {
    pointer.map { Unmanaged<Effect>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// The list of functions. It is made once and never freed.
nonisolated(unsafe) private let plugin: UnsafePointer<spool_plugin> = {
  let list = UnsafeMutablePointer<spool_plugin>.allocate(capacity: 1)
  list.initialize(
    to: spool_plugin(
      abi: UInt32(SPOOL_PLUGIN_ABI), size: UInt32(MemoryLayout<spool_plugin>.size),
      create: { setting in
        guard let setting else { return nil }
        func number(_ name: String, _ otherwise: Double) -> Double {
          spool_number(setting, name, otherwise)
        }
        let channels = Int(setting.pointee.channels)
        let gate = LoudnessGate(
          rate: setting.pointee.rate, channels: channels, threshold: number("threshold", -45),
          hysteresis: number("hysteresis", 4), range: number("range", -18),
          attack: number("attack", 20), release: number("release", 250))
        return Unmanaged.passRetained(Effect(gate, channels: channels)).toOpaque()
      },
      process: { effect, samples, frames in
        guard let effect = Effect.of(effect) else { return 1 }
        effect.gate.process(
          UnsafeMutableBufferPointer(start: samples, count: Int(frames) * effect.channels))
        return 0
      },
      destroy: { effect in
        if let effect { Unmanaged<Effect>.fromOpaque(effect).release() }
      },
      latency: { effect in Effect.of(effect).map { UInt32($0.gate.latency) } ?? 0 },
      state_size: { effect in Effect.of(effect)?.gate.bytes.count ?? 0 },
      save: { effect, bytes in
        guard let state = Effect.of(effect)?.gate.bytes else { return }
        bytes?.copyMemory(from: state, byteCount: state.count)
      },
      restore: { effect, bytes, count in
        let state = UnsafeRawBufferPointer(start: bytes, count: count)
        return Effect.of(effect)?.gate.restore(state) == true ? 0 : 1
      },
      figures: { effect in
        guard let effect = Effect.of(effect) else { return nil }
        let state = effect.gate.state
        let share = state.frameCount > 0 ? Double(state.openCount) / Double(state.frameCount) : 0
        free(effect.text)
        effect.text = strdup("{\"openShare\":\((share * 1000).rounded() / 1000)}")
        return UnsafePointer(effect.text)
      },
      failure: nil))
  return UnsafePointer(list)
}()

@_cdecl("spool_plugin_entry") public func entry() -> UnsafePointer<spool_plugin> { plugin }
