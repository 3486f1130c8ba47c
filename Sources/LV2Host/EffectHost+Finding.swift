import CLilvLoader
import PipelineModel
import PluginWorker

/// Finding the plugin that an order names, and what to say where it is not there.
extension EffectHost {
  /// The plugin of an order.
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
    // A library without a label is one all the same, of which the labels are told.
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
        ?? "spool stages ladspa shows what is installed")
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
      advice: "spool stages \(format.rawValue) shows what is installed; install the plugin, or set "
        + "\(format.title)_PATH")
  }
}
