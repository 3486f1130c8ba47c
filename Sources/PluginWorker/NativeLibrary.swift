import CSpoolPlugin
import Glibc

/// A native plugin's library, loaded and found to speak this version of the interface.
struct NativeLibrary {
  /// What the plugin can do. Its functions stay for as long as the process: a library is never closed.
  let functions: spool_plugin

  /// Loads a library.
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
    // The first two members are where they are in every version.
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
