import CSpoolPlugin
import Glibc
package import Platform

/// An effect of a native plugin, in the process that hosts it: a shared library that implements
/// `spool_plugin.h`.
@safe package final class NativePlugin: HostedEffect {
  private let functions: spool_plugin
  private let effect: UnsafeMutableRawPointer
  private let channelCount: Int

  /// Serves one session with the plugin in a library.
  /// - Returns: the exit code.
  package static func serve(library path: String) -> Int32 {
    WorkerLoop.serve { (greeting) throws(SpoolError) in try NativePlugin(path, greeting) }
  }

  private init(_ path: String, _ greeting: WorkerLoop.Greeting) throws(SpoolError) {
    functions = try Self.functions(of: path)
    channelCount = greeting.channelCount
    guard let create = unsafe functions.create else { throw SpoolError("\(path) is no plugin") }
    unsafe effect = try Self.effect(greeting, create)
  }

  /// Passes a greeting to `create` in C's form.
  private static func effect(
    _ greeting: WorkerLoop.Greeting,
    _ create: @convention(c) (UnsafePointer<spool_setting>?) -> UnsafeMutableRawPointer?
  ) throws(SpoolError) -> UnsafeMutableRawPointer {
    var texts: [UnsafeMutablePointer<CChar>?] = unsafe []
    defer { unsafe texts.forEach { unsafe free($0) } }
    func keep(_ text: String) -> UnsafePointer<CChar>? {
      unsafe texts.append(strdup(text))
      return unsafe texts.last.flatMap { unsafe UnsafePointer($0) }
    }
    var members: [String: JSONValue] = [:]
    if case .object(let all) = greeting.parameters { members = all }
    var parameters: [spool_parameter] = unsafe []
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      let (number, text): (Double, String?)
      switch value {
      case .number(let digits): (number, text) = (Double(digits) ?? 0, nil)
      case .boolean(let flag): (number, text) = (flag ? 1 : 0, nil)
      case .text(let words): (number, text) = (0, words)
      default: continue
      }
      unsafe parameters.append(
        spool_parameter(name: keep(name), number: number, text: text.flatMap { unsafe keep($0) }))
    }
    var reason = [CChar](repeating: 0, count: 1024)
    let made = unsafe parameters.withUnsafeBufferPointer { parameters in
      unsafe reason.withUnsafeMutableBufferPointer { reason in
        var setting = unsafe spool_setting()
        unsafe setting.kind = keep(greeting.kind)
        unsafe setting.folder = keep(greeting.folder)
        unsafe setting.rate = greeting.rate
        unsafe setting.channels = UInt32(greeting.channelCount)
        unsafe setting.block_frames = UInt32(greeting.blockFrames)
        unsafe setting.parameters = parameters.baseAddress
        unsafe setting.parameter_count = parameters.count
        unsafe setting.reason = reason.baseAddress
        unsafe setting.reason_size = reason.count
        return unsafe create(&setting)
      }
    }
    guard let made = unsafe made else {
      let words = String(cText: reason)
      throw SpoolError(
        "the plugin cannot work with these settings", reason: words.isEmpty ? nil : words,
        advice: "\(command: .stages) \(greeting.kind) shows what can be set")
    }
    return unsafe made
  }

  /// Loads a library whose interface version is supported. Its functions are valid for the life of
  /// the process: libraries are never closed.
  private static func functions(of path: String) throws(SpoolError) -> spool_plugin {
    guard let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      throw SpoolError(
        "the library \(path) cannot be loaded",
        reason: unsafe dlerror().map { unsafe String(cString: $0) },
        advice: "build it for this machine; ldd shows what it lacks")
    }
    let name = "spool_plugin_entry"
    guard let symbol = unsafe dlsym(handle, name) else {
      throw SpoolError(
        "\(path) is no plugin", reason: "it has no function \(name)",
        advice: "define it as spool_plugin.h says, with SPOOL_EXPORT before it")
    }
    let entry = unsafe unsafeBitCast(
      symbol, to: (@convention(c) () -> UnsafePointer<spool_plugin>?).self)
    guard let plugin = unsafe entry() else {
      throw SpoolError("\(path) is no plugin", reason: "\(name) gave nothing")
    }
    // The first two members have the same offsets in every version.
    let (version, size) = unsafe (plugin.pointee.abi, Int(plugin.pointee.size))
    guard version == UInt32(SPOOL_PLUGIN_ABI) else {
      throw SpoolError(
        "the plugin \(path) was built for version \(version) of the native interface",
        reason: "this Spool speaks version \(SPOOL_PLUGIN_ABI)",
        advice: "build it with the spool_plugin.h of this Spool")
    }
    guard size >= MemoryLayout<spool_plugin>.size else {
      throw SpoolError(
        "\(path) is no plugin",
        reason: "its list of functions is \(size) bytes long, and "
          + "\(MemoryLayout<spool_plugin>.size) are the least",
        advice: "set size to sizeof(spool_plugin)")
    }
    let functions = unsafe plugin.pointee
    guard unsafe functions.create != nil, unsafe functions.process != nil,
      unsafe functions.destroy != nil
    else {
      throw SpoolError(
        "\(path) is no plugin", reason: "create, process and destroy must not be NULL")
    }
    return functions
  }

  deinit { unsafe functions.destroy?(effect) }

  package var latency: Int { unsafe functions.latency.map { unsafe Int($0(effect)) } ?? 0 }

  package var hasState: Bool {
    unsafe functions.state_size != nil && functions.save != nil
      && functions.restore != nil
  }

  package var figures: String? {
    guard let text = unsafe functions.figures.flatMap({ unsafe $0(effect) }) else { return nil }
    return unsafe String(cString: text)
  }

  package func process(_ samples: inout [Float], frames: Int) throws(SpoolError) {
    guard samples.count == frames * channelCount, frames > 0 else { return }
    let status = unsafe samples.withUnsafeMutableBufferPointer { buffer in
      unsafe functions.process(effect, buffer.baseAddress, UInt32(frames))
    }
    guard status == 0 else { throw failure("the plugin could not treat a block", status) }
  }

  package func state() throws(SpoolError) -> [UInt8] {
    guard let size = unsafe functions.state_size, let save = unsafe functions.save
    else { throw SpoolError("the plugin has no state to save") }
    let count = unsafe size(effect)
    guard (0...(64 << 20)).contains(count) else {
      throw SpoolError(
        "the plugin's state would take \(count) bytes", reason: "64 MiB are the most")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe bytes.withUnsafeMutableBytes { unsafe save(effect, $0.baseAddress) }
    return bytes
  }

  package func restore(_ state: [UInt8]) throws(SpoolError) {
    guard let restore = unsafe functions.restore else {
      throw SpoolError("the plugin has no state to restore")
    }
    let status = unsafe state.withUnsafeBytes { unsafe restore(effect, $0.baseAddress, $0.count) }
    guard status == 0 else { throw failure("the plugin does not take its own state", status) }
  }

  private func failure(_ message: String, _ status: Int32) -> SpoolError {
    let reason = unsafe functions.failure.flatMap { unsafe $0(effect) }
    return SpoolError(
      message, reason: unsafe reason.map { unsafe String(cString: $0) } ?? "it answered \(status)")
  }
}

/// A sound effect that runs in a process of its own: a native, LV2 or LADSPA plugin.
package protocol HostedEffect: AnyObject {
  /// The delay of the output, in frames.
  var latency: Int { get }
  /// Whether `state` restores the effect completely.
  var hasState: Bool { get }
  /// Processes interleaved samples in place, `frames` for each channel.
  func process(_ samples: inout [Float], frames: Int) throws(SpoolError)
  /// The signal-dependent state.
  func state() throws(SpoolError) -> [UInt8]
  /// Restores the state of an equal effect. Called before the first block.
  func restore(_ state: [UInt8]) throws(SpoolError)
  /// Measured values as JSON, read after the last block; nil if none.
  var figures: String? { get }
}

extension HostedEffect {
  package var latency: Int { 0 }
  package var figures: String? { nil }
}
