import CSpoolPlugin
import Glibc
import Platform

/// Native plugins, in the process that hosts one.
package enum NativePlugin {
  /// Serves one session with the plugin in a library.
  /// - Returns: the exit code.
  package static func serve(library path: String) -> Int32 {
    WorkerLoop.serve { (greeting) throws(EffectError) in
      try NativeEffect(NativeLibrary(path), greeting)
    }
  }
}

/// An effect of a native plugin: a shared library that implements `spool_plugin.h`.
@safe final class NativeEffect: HostedEffect {
  private let library: NativeLibrary
  private let effect: UnsafeMutableRawPointer
  private let channelCount: Int

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
        advice: "\(command: .stages) \(greeting.kind) shows what can be set")
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

/// The arguments of `create` in C's form. The caller of the initialiser frees them.
@safe struct NativeSetting {
  var setting = unsafe spool_setting()
  private var texts: [UnsafeMutablePointer<CChar>] = unsafe []
  private let parameters: UnsafeMutablePointer<spool_parameter>
  private let reason: UnsafeMutablePointer<CChar>
  private static let reasonSize = 1024

  init(_ greeting: WorkerLoop.Greeting) {
    var members: [String: JSONValue] = [:]
    if case .object(let all) = greeting.parameters { members = all }
    unsafe parameters = .allocate(capacity: max(1, members.count))
    unsafe reason = .allocate(capacity: Self.reasonSize)
    unsafe reason.initialize(repeating: 0, count: Self.reasonSize)
    var count = 0
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      let (number, text): (Double, String?)
      switch value {
      case .number(let digits): (number, text) = (Double(digits) ?? 0, nil)
      case .boolean(let flag): (number, text) = (flag ? 1 : 0, nil)
      case .text(let words): (number, text) = (0, words)
      default: continue
      }
      let parameter = unsafe spool_parameter(
        name: keep(name), number: number, text: text.flatMap { unsafe UnsafePointer(keep($0)) })
      unsafe (parameters + count).initialize(to: parameter)
      count += 1
    }
    unsafe setting.kind = unsafe UnsafePointer(keep(greeting.kind))
    unsafe setting.folder = unsafe UnsafePointer(keep(greeting.folder))
    unsafe setting.rate = greeting.rate
    unsafe setting.channels = UInt32(greeting.channelCount)
    unsafe setting.block_frames = UInt32(greeting.blockFrames)
    unsafe setting.parameters = unsafe UnsafePointer(parameters)
    unsafe setting.parameter_count = count
    unsafe setting.reason = unsafe reason
    unsafe setting.reason_size = Self.reasonSize
  }

  /// The reason that `create` wrote; nil if it wrote none.
  var reasonText: String? {
    unsafe reason[Self.reasonSize - 1] = 0
    let text = unsafe String(cString: reason)
    return text.isEmpty ? nil : text
  }

  /// Frees the C memory.
  func free() {
    unsafe texts.forEach { text in unsafe Glibc.free(text) }
    unsafe parameters.deallocate()
    unsafe reason.deallocate()
  }

  private mutating func keep(_ text: String) -> UnsafeMutablePointer<CChar>? {
    let copy = unsafe strdup(text)
    if let copy = unsafe copy { unsafe texts.append(copy) }
    return unsafe copy
  }
}

/// A loaded native plugin library whose interface version is supported.
struct NativeLibrary {
  /// The plugin's functions. Valid for the life of the process: libraries are never closed.
  let functions: spool_plugin

  init(_ path: String) throws(EffectError) {
    guard let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      throw EffectError(
        "the library \(path) cannot be loaded",
        reason: unsafe dlerror().map { unsafe String(cString: $0) },
        advice: "build it for this machine; ldd shows what it lacks")
    }
    let name = "spool_plugin_entry"
    guard let symbol = unsafe dlsym(handle, name) else {
      throw EffectError(
        "\(path) is no plugin", reason: "it has no function \(name)",
        advice: "define it as spool_plugin.h says, with SPOOL_EXPORT before it")
    }
    let entry = unsafe unsafeBitCast(
      symbol, to: (@convention(c) () -> UnsafePointer<spool_plugin>?).self)
    guard let plugin = unsafe entry() else {
      throw EffectError("\(path) is no plugin", reason: "\(name) gave nothing")
    }
    // The first two members have the same offsets in every version.
    let (version, size) = unsafe (plugin.pointee.abi, Int(plugin.pointee.size))
    guard version == UInt32(SPOOL_PLUGIN_ABI) else {
      throw EffectError(
        "the plugin \(path) was built for version \(version) of the native interface",
        reason: "this Spool speaks version \(SPOOL_PLUGIN_ABI)",
        advice: "build it with the spool_plugin.h of this Spool")
    }
    guard size >= MemoryLayout<spool_plugin>.size else {
      throw EffectError(
        "\(path) is no plugin",
        reason: "its list of functions is \(size) bytes long, and "
          + "\(MemoryLayout<spool_plugin>.size) are the least",
        advice: "set size to sizeof(spool_plugin)")
    }
    let functions = unsafe plugin.pointee
    guard unsafe functions.create != nil, unsafe functions.process != nil,
      unsafe functions.destroy != nil
    else {
      throw EffectError(
        "\(path) is no plugin", reason: "create, process and destroy must not be NULL")
    }
    self.functions = functions
  }
}

/// A sound effect that runs in a process of its own: a native, LV2 or LADSPA plugin.
package protocol HostedEffect: AnyObject {
  /// The delay of the output, in frames.
  var latency: Int { get }
  /// Whether `state` restores the effect completely.
  var hasState: Bool { get }
  /// Processes interleaved samples in place, `frames` for each channel.
  func process(_ samples: inout [Float], frames: Int) throws(EffectError)
  /// The signal-dependent state.
  func state() throws(EffectError) -> [UInt8]
  /// Restores the state of an equal effect. Called before the first block.
  func restore(_ state: [UInt8]) throws(EffectError)
  /// Measured values as JSON, read after the last block; nil if none.
  var figures: String? { get }
}

extension HostedEffect {
  package var latency: Int { 0 }
  package var figures: String? { nil }
}

/// Why an effect cannot work; sent to Spool as the protocol's `error`.
package struct EffectError: Error, Hashable, Sendable {
  package let message: String
  package let reason: String?
  package let advice: String?

  package init(_ message: String, reason: String? = nil, advice: String? = nil) {
    self.message = message
    self.reason = reason
    self.advice = advice
  }
}
