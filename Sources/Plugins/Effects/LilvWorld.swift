import CLilvLoader
import CPosix
import FoundationEssentials
import Glibc

/// The LV2 plugins in a set of folders, as liblilv reads them. Not thread-safe.
@safe final class LilvWorld {
  let world: OpaquePointer
  private var nodes: [String: OpaquePointer] = unsafe [:]

  /// Bundles that were skipped, with reasons.
  private(set) var flaws: [String]
  private let errors = StderrCapture()

  /// Loads the bundles' manifests; a plugin's other files are read on demand.
  /// - Parameters:
  ///   - excluded: paths of bundles to skip because reading them crashed an earlier process.
  ///   - tell: receives the path of each bundle before it is read.
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
}

/// Captures standard error while liblilv reads files, the only place where it reports failures.
final class StderrCapture {
  private let file = unsafe posix_memory_file("heard")
  private static let most = 64 << 10

  deinit { if file >= 0 { close(file) } }

  /// Runs `body` and forwards what was written to standard error meanwhile. No other thread may
  /// write there at the same time.
  /// - Returns: the first error message; nil if there is none.
  func listen(_ body: () -> Void) -> String? {
    let usual = file < 0 ? -1 : dup(STDERR_FILENO)
    guard usual >= 0 else {
      body()
      return nil
    }
    fflush(nil)
    dup2(file, STDERR_FILENO)
    body()
    fflush(nil)
    dup2(usual, STDERR_FILENO)
    close(usual)
    var bytes = [UInt8](repeating: 0, count: Self.most)
    let count = max(0, unsafe pread(file, &bytes, bytes.count, 0))
    guard count > 0 else { return nil }
    _ = unsafe write(STDERR_FILENO, &bytes, count)
    ftruncate(file, 0)
    lseek(file, 0, SEEK_SET)
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
}

/// An LV2 bundle, checked before liblilv reads it: a pipe or an endless device would block liblilv.
struct LV2Bundle {
  /// The folder's absolute path.
  let path: String
  /// Why its plugins cannot be used; nil if no reason is known.
  let flaw: String?

  /// Maximum bytes of a description, a hundred times the longest known.
  private static let most = 32 << 20

  /// The bundles in a folder, sorted by name. O(files of the bundles).
  static func all(in folder: String) -> [LV2Bundle] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
      .filter { !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
      .filter { unsafe access("\($0)/manifest.ttl", F_OK) == 0 }.map { LV2Bundle($0) }
  }

  private init(_ path: String) {
    self.path = path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let texts = names.filter { $0.hasSuffix(".ttl") }.sorted()
    flaw =
      texts.lazy.compactMap { name in
        Self.flaw(of: "\(path)/\(name)").map { "its \(name) \($0)" }
      }.first
  }

  private static func flaw(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      return "cannot be read: \(unsafe String(cString: strerror(errno)))"
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return "is no plain file" }
    guard status.st_size <= most else { return "has more than \(most >> 20) MB" }
    guard unsafe access(path, R_OK) == 0 else {
      return "cannot be read: \(unsafe String(cString: strerror(errno)))"
    }
    return nil
  }
}
