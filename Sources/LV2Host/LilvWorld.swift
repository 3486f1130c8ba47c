import CLilvLoader
import Glibc
import PluginWorker

/// What liblilv knows of the LV2 plugins in some folders. One thread at a time.
@safe final class LilvWorld {
  /// The library's own handle.
  let world: OpaquePointer
  private var nodes: [String: OpaquePointer] = unsafe [:]

  /// Bundles that were left out, with the reasons.
  private(set) var flaws: [String]
  private let errors = HeardErrors()

  /// Reads what lies in the folders: names and places only; a plugin's own files are read when it is
  /// asked for.
  /// - Parameters:
  ///   - excluded: bundles that are left out, by path: each has ended a process that read it.
  ///   - tell: is given the path of a bundle before it is read.
  init(
    _ folders: [String], excluding excluded: Set<String>, tell: (String) -> Void
  ) throws(EffectError) {
    var reason = [CChar](repeating: 0, count: 256)
    guard unsafe spool_lilv_load(&reason, reason.count) == 0 else {
      throw EffectError(
        "cannot host LV2 plugins", reason: CText.text(reason),
        advice: "apt install liblilv-0-0")
    }
    unsafe setenv("LV2_PATH", folders.joined(separator: ":"), 1)
    guard let world = unsafe lilv_world_new() else {
      throw EffectError("cannot host LV2 plugins", reason: "liblilv does not begin")
    }
    unsafe self.world = unsafe world
    let bundles = folders.flatMap { LV2Bundle.all(in: $0) }.filter { !excluded.contains($0.path) }
    flaws = bundles.compactMap { bundle in bundle.flaw.map { "\(bundle.path): \($0)" } }
    for bundle in bundles where bundle.flaw == nil {
      tell(bundle.path)
      // liblilv knows a folder by the slash at its end.
      let node = unsafe lilv_new_file_uri(world, nil, bundle.path + "/")
      // liblilv takes nothing from a bundle whose manifest has a mistake.
      _ = hear(bundle.path) { (unsafe lilv_world_load_bundle(world, node), isBad: true) }
      unsafe lilv_node_free(node)
    }
    // What comes now is of no bundle that could be named.
    tell("")
    unsafe lilv_world_load_specifications(world)
    unsafe lilv_world_load_plugin_classes(world)
  }

  /// Reads something of a bundle. What has a mistake in it, and is of no use for that, is noted.
  /// - Parameter body: gives what it read, and whether that is of no use.
  /// - Returns: what was read; nil where a mistake made it useless.
  func hear<Answer>(_ bundle: String, _ body: () -> (Answer, isBad: Bool)) -> Answer? {
    var read: (answer: Answer, isBad: Bool)?
    let error = errors.listen { read = body() }
    guard let read else { return nil }
    guard let error, read.isBad else { return read.answer }
    flaws.append("\(bundle): \(error.replacing("\(bundle)/", with: ""))")
    return nil
  }

  deinit {
    unsafe nodes.values.forEach { unsafe lilv_node_free($0) }
    unsafe lilv_world_free(world)
  }

  /// Every plugin.
  var plugins: [OpaquePointer] {
    var found: [OpaquePointer] = unsafe []
    let all = unsafe lilv_world_get_all_plugins(world)
    var place = unsafe lilv_plugins_begin(all)
    while unsafe !lilv_plugins_is_end(all, place) {
      if let plugin = unsafe lilv_plugins_get(all, place) { unsafe found.append(plugin) }
      unsafe place = unsafe lilv_plugins_next(all, place)
    }
    return unsafe found
  }

  /// The plugin of a URI.
  func plugin(_ uri: String) -> OpaquePointer? {
    unsafe lilv_plugins_get_by_uri(lilv_world_get_all_plugins(world), node(uri))
  }

  /// The node of a URI; nil for what is none.
  func node(_ uri: String) -> OpaquePointer? {
    if let known = unsafe nodes[uri] { return unsafe known }
    let made = unsafe lilv_new_uri(world, uri)
    unsafe nodes[uri] = unsafe made
    return unsafe made
  }

  /// The first thing that is said of a subject.
  func text(of subject: OpaquePointer?, _ predicate: String) -> String? {
    // Nobody would mean anybody.
    guard let subject = unsafe subject else { return nil }
    return unsafe Self.taken(lilv_world_get(world, subject, node(predicate), nil))
  }

  /// All that is said of a plugin, as texts.
  func texts(of plugin: OpaquePointer, _ predicate: String) -> [String] {
    unsafe Self.texts(taken: lilv_plugin_get_value(plugin, node(predicate)))
  }

  /// The text of a node.
  static func text(_ node: OpaquePointer?) -> String? {
    unsafe lilv_node_as_string(node).map { unsafe String(cString: $0) }
  }

  /// The text of a node that is ours to free.
  static func taken(_ node: OpaquePointer?) -> String? {
    guard let node = unsafe node else { return nil }
    defer { unsafe lilv_node_free(node) }
    return unsafe text(node)
  }

  /// The texts of nodes that are ours to free.
  static func texts(taken nodes: UnsafeMutableRawPointer?) -> [String] {
    defer { unsafe lilv_nodes_free(nodes) }
    var texts: [String] = []
    var place = unsafe lilv_nodes_begin(nodes)
    while unsafe !lilv_nodes_is_end(nodes, place) {
      if let text = unsafe text(lilv_nodes_get(nodes, place)) { texts.append(text) }
      unsafe place = unsafe lilv_nodes_next(nodes, place)
    }
    return texts.sorted()
  }

  /// The number of a node; nil where it is none.
  static func number(_ node: OpaquePointer?) -> Double? {
    guard let node = unsafe node else { return nil }
    if unsafe lilv_node_is_float(node) { return unsafe Double(lilv_node_as_float(node)) }
    if unsafe lilv_node_is_int(node) { return unsafe Double(lilv_node_as_int(node)) }
    if unsafe lilv_node_is_bool(node) { return unsafe lilv_node_as_bool(node) ? 1 : 0 }
    return nil
  }

  /// The path of a node that names a file.
  static func path(_ node: OpaquePointer?) -> String? {
    guard let path = unsafe lilv_node_get_path(node, nil) else { return nil }
    defer { unsafe lilv_free(path) }
    return unsafe String(cString: path)
  }
}
