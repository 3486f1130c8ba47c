import CSpoolPlugin
import Glibc
import JSONText
import PluginHost

/// An effect of a native plugin: a shared library with the functions of `spool_plugin.h`.
@safe final class NativeEffect: HostedEffect {
  private let library: NativeLibrary
  private let effect: UnsafeMutableRawPointer
  private let channelCount: Int

  /// Makes an effect.
  init(_ library: NativeLibrary, _ greeting: WorkerLoop.Greeting) throws(EffectError) {
    self.library = library
    channelCount = greeting.channelCount
    var setting = NativeSetting(greeting)
    defer { setting.free() }
    guard let create = unsafe library.functions.create,
      let effect = unsafe create(&setting.setting)
    else {
      throw EffectError(
        "the plugin cannot work with these settings", reason: setting.reasonText,
        advice: "spool stages \(greeting.kind) shows what can be set")
    }
    unsafe self.effect = unsafe effect
  }

  deinit { unsafe library.functions.destroy?(effect) }

  var latency: Int { unsafe library.functions.latency.map { unsafe Int($0(effect)) } ?? 0 }

  var hasState: Bool {
    unsafe library.functions.state_size != nil && library.functions.save != nil
      && library.functions.restore != nil
  }

  var figures: String? {
    guard let text = unsafe library.functions.figures.flatMap({ unsafe $0(effect) }) else {
      return nil
    }
    return unsafe String(cString: text)
  }

  func process(_ samples: inout [Float], frames: Int) throws(EffectError) {
    guard samples.count == frames * channelCount, frames > 0 else { return }
    let status = unsafe samples.withUnsafeMutableBufferPointer { buffer in
      unsafe library.functions.process(effect, buffer.baseAddress, UInt32(frames))
    }
    guard status == 0 else { throw failure("the plugin could not treat a block", status) }
  }

  func state() throws(EffectError) -> [UInt8] {
    guard let size = unsafe library.functions.state_size, let save = unsafe library.functions.save
    else { throw EffectError("the plugin has no state to save") }
    let count = unsafe size(effect)
    guard (0...(64 << 20)).contains(count) else {
      throw EffectError(
        "the plugin's state would take \(count) bytes", reason: "64 MiB are the most")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe bytes.withUnsafeMutableBytes { unsafe save(effect, $0.baseAddress) }
    return bytes
  }

  func restore(_ state: [UInt8]) throws(EffectError) {
    guard let restore = unsafe library.functions.restore else {
      throw EffectError("the plugin has no state to restore")
    }
    let status = unsafe state.withUnsafeBytes { unsafe restore(effect, $0.baseAddress, $0.count) }
    guard status == 0 else { throw failure("the plugin does not take its own state", status) }
  }

  private func failure(_ message: String, _ status: Int32) -> EffectError {
    let reason = unsafe library.functions.failure.flatMap { unsafe $0(effect) }
    return EffectError(
      message, reason: unsafe reason.map { unsafe String(cString: $0) } ?? "it answered \(status)")
  }
}
