import CLilvLoader
import CPosix
import FoundationEssentials
import Glibc
import Platform

/// The LV2 plugins in a set of folders, as liblilv reads them. Not thread-safe.
@safe final class LilvWorld {
  let world: OpaquePointer
  private var nodes: [String: OpaquePointer] = unsafe [:]

  /// Bundles that were skipped, with reasons.
  private(set) var flaws: [String]
  /// Receives standard error while liblilv reads files, the only place where it reports failures.
  private let capture = unsafe posix_memory_file("heard")

  /// Loads the bundles' manifests; a plugin's other files are read on demand.
  /// - Parameters:
  ///   - excluded: paths of bundles to skip because reading them crashed an earlier process.
  ///   - tell: receives the path of each bundle before it is read.
  init(
    _ folders: [String], excluding excluded: Set<String>, tell: (String) -> Void
  ) throws(SpoolError) {
    var reason = [CChar](repeating: 0, count: 256)
    guard unsafe spool_lilv_load(&reason, reason.count) == 0 else {
      throw SpoolError(
        "cannot host LV2 plugins", reason: String(cText: reason),
        advice: "apt install liblilv-0-0")
    }
    unsafe setenv("LV2_PATH", folders.joined(separator: ":"), 1)
    guard let world = unsafe lilv_world_new() else {
      throw SpoolError("cannot host LV2 plugins", reason: "liblilv does not begin")
    }
    unsafe self.world = unsafe world
    let bundles = folders.flatMap(Self.bundles).filter { !excluded.contains($0.path) }
    flaws = bundles.compactMap { bundle in bundle.flaw.map { "\(bundle.path): \($0)" } }
    for bundle in bundles where bundle.flaw == nil {
      tell(bundle.path)
      // liblilv recognises a folder by the trailing slash.
      let node = unsafe lilv_new_file_uri(world, nil, bundle.path + "/")
      // liblilv ignores a bundle whose manifest has a syntax error.
      _ = hear(bundle.path) { (unsafe lilv_world_load_bundle(world, node), isBad: true) }
      unsafe lilv_node_free(node)
    }
    // What follows concerns no single bundle.
    tell("")
    unsafe lilv_world_load_specifications(world)
    unsafe lilv_world_load_plugin_classes(world)
  }

  /// Reads part of a bundle and records a flaw if its files have errors and the result is unusable.
  /// - Parameter body: returns the result, and whether it is unusable if there was an error.
  /// - Returns: the result; nil if an error made it unusable.
  func hear<Answer>(_ bundle: String, _ body: () -> (Answer, isBad: Bool)) -> Answer? {
    var read: (answer: Answer, isBad: Bool)?
    let error = listen { read = body() }
    guard let read else { return nil }
    guard let error, read.isBad else { return read.answer }
    flaws.append("\(bundle): \(error.replacing("\(bundle)/", with: ""))")
    return nil
  }

  deinit {
    unsafe nodes.values.forEach { unsafe lilv_node_free($0) }
    unsafe lilv_world_free(world)
    if capture >= 0 { close(capture) }
  }

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

  func plugin(_ uri: String) -> OpaquePointer? {
    unsafe lilv_plugins_get_by_uri(lilv_world_get_all_plugins(world), node(uri))
  }

  /// The node of a URI; nil if the URI is invalid.
  func node(_ uri: String) -> OpaquePointer? {
    if let known = unsafe nodes[uri] { return unsafe known }
    let made = unsafe lilv_new_uri(world, uri)
    unsafe nodes[uri] = unsafe made
    return unsafe made
  }

  /// The first object of a subject and predicate, as text.
  func text(of subject: OpaquePointer?, _ predicate: String) -> String? {
    // To lilv, a null subject is a wildcard.
    guard let subject = unsafe subject else { return nil }
    return unsafe Self.taken(lilv_world_get(world, subject, node(predicate), nil))
  }

  /// All objects of a plugin and predicate, as texts.
  func texts(of plugin: OpaquePointer, _ predicate: String) -> [String] {
    unsafe Self.texts(taken: lilv_plugin_get_value(plugin, node(predicate)))
  }

  static func text(_ node: OpaquePointer?) -> String? {
    unsafe lilv_node_as_string(node).map { unsafe String(cString: $0) }
  }

  /// The text of a node that this function frees.
  static func taken(_ node: OpaquePointer?) -> String? {
    guard let node = unsafe node else { return nil }
    defer { unsafe lilv_node_free(node) }
    return unsafe text(node)
  }

  /// The texts of nodes that this function frees.
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

  /// The number of a node; nil if it is none.
  static func number(_ node: OpaquePointer?) -> Double? {
    guard let node = unsafe node else { return nil }
    if unsafe lilv_node_is_float(node) { return unsafe Double(lilv_node_as_float(node)) }
    if unsafe lilv_node_is_int(node) { return unsafe Double(lilv_node_as_int(node)) }
    if unsafe lilv_node_is_bool(node) { return unsafe lilv_node_as_bool(node) ? 1 : 0 }
    return nil
  }

  /// The path of a file URI node.
  static func path(_ node: OpaquePointer?) -> String? {
    guard let path = unsafe lilv_node_get_path(node, nil) else { return nil }
    defer { unsafe lilv_free(path) }
    return unsafe String(cString: path)
  }

  /// Runs `body` and forwards what was written to standard error meanwhile. No other thread may
  /// write there at the same time.
  /// - Returns: the first error message; nil if there is none.
  private func listen(_ body: () -> Void) -> String? {
    let usual = capture < 0 ? -1 : dup(STDERR_FILENO)
    guard usual >= 0 else {
      body()
      return nil
    }
    fflush(nil)
    dup2(capture, STDERR_FILENO)
    body()
    fflush(nil)
    dup2(usual, STDERR_FILENO)
    close(usual)
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = max(0, unsafe pread(capture, &bytes, bytes.count, 0))
    guard count > 0 else { return nil }
    _ = unsafe write(STDERR_FILENO, &bytes, count)
    ftruncate(capture, 0)
    lseek(capture, 0, SEEK_SET)
    return Self.firstError(in: String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// The first error among lines such as `error: /x.lv2/manifest.ttl:3:9: expected '.'` or
  /// `lilv_world_load_file(): error: Error loading file`.
  static func firstError(in text: String) -> String? {
    let mark = "error: "
    return text.split(whereSeparator: \.isNewline).lazy.compactMap { line -> String? in
      line.firstRange(of: mark).map { String(line[$0.upperBound...]) }
    }.first
  }

  /// The bundles in a folder, sorted by name, each with the reason why its plugins cannot be used, if
  /// one is known: a pipe or an endless device would block liblilv. O(files of the bundles).
  static func bundles(in folder: String) -> [(path: String, flaw: String?)] {
    let files = FileManager.default
    return ((try? files.contentsOfDirectory(atPath: folder)) ?? []).sorted()
      .filter { !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
      .filter { FilePath.exists("\($0)/manifest.ttl") }
      .map { path in
        let flaw = descriptions(in: path).lazy.compactMap { file in
          Self.flaw(of: file).map { "its \(file.dropFirst(path.count + 1)) \($0)" }
        }.first
        return (path, flaw)
      }
  }

  /// Maximum bytes of a description, a hundred times the longest known.
  private static let most = 32 << 20

  private static func flaw(of path: String) -> String? {
    do throws(SystemError) {
      let stamp = try FileStamp(following: path)
      guard stamp.isRegularFile else { return "is no plain file" }
      guard stamp.byteCount <= most else { return "has more than \(most >> 20) MB" }
      if let obstacle = FilePath.obstacle(to: path, R_OK) { throw obstacle }
      return nil
    } catch { return "cannot be read: \(error.words)" }
  }
}
