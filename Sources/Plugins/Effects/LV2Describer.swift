import CLilvLoader
import FoundationEssentials

/// Describes LV2 plugins from their Turtle files, without running their code.
extension LilvWorld {
  /// - Parameter isInFull: whether presets are included, which lie in separate files.
  func description(of plugin: OpaquePointer, isInFull: Bool) -> EffectDescription {
    let version = [LV2Names.minorVersion, LV2Names.microVersion].compactMap {
      unsafe texts(of: plugin, $0).first
    }
    let bundle = unsafe Self.bundle(of: plugin)
    let ports = unsafe (0..<lilv_plugin_get_num_ports(plugin)).map {
      unsafe port($0, of: plugin)
    }
    return unsafe EffectDescription(
      format: .lv2, identity: Self.text(lilv_plugin_get_uri(plugin)) ?? "",
      name: Self.taken(lilv_plugin_get_name(plugin)) ?? "",
      category: category(of: plugin),
      author: Self.taken(lilv_plugin_get_author_name(plugin)) ?? "",
      version: version.joined(separator: "."),
      binary: Self.path(lilv_plugin_get_library_uri(plugin)) ?? "",
      files: isInFull ? Self.descriptions(in: bundle) : [],
      ports: ports, presets: isInFull ? presets(of: plugin) : [],
      missingFeatures: Self.texts(taken: lilv_plugin_get_required_features(plugin))
        .filter { unsafe !spool_lv2_has_feature($0) })
  }

  /// The folder of a plugin's bundle; empty if unknown.
  static func bundle(of plugin: OpaquePointer) -> String {
    let path = unsafe Self.path(lilv_plugin_get_bundle_uri(plugin)) ?? ""
    return path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  private func category(of plugin: OpaquePointer) -> String {
    let label = unsafe Self.text(lilv_plugin_class_get_label(lilv_plugin_get_class(plugin)))
    return label.map { $0 == "Plugin" ? "" : $0 } ?? ""
  }

  static func descriptions(in bundle: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: bundle)) ?? []
    return names.filter { $0.hasSuffix(".ttl") }.sorted().map { "\(bundle)/\($0)" }
  }

  private func presets(of plugin: OpaquePointer) -> [EffectDescription.Preset] {
    let uris = unsafe Self.texts(
      taken: lilv_plugin_get_related(plugin, node(LV2Names.preset)))
    return uris.map { uri in
      let node = unsafe self.node(uri)
      let file = unsafe text(of: node, LV2Names.seeAlso).flatMap { link in
        unsafe Self.path(self.node(link))
      }
      unsafe lilv_world_load_resource(world, node)
      let label = unsafe text(of: node, LV2Names.label)
      return EffectDescription.Preset(uri: uri, label: label ?? uri, file: file)
    }.sorted { ($0.label, $0.uri) < ($1.label, $1.uri) }
  }

  private func port(_ index: UInt32, of plugin: OpaquePointer) -> EffectPort {
    let port = unsafe lilv_plugin_get_port_by_index(plugin, index)
    func has(_ property: String) -> Bool {
      unsafe lilv_port_has_property(plugin, port, node(property))
    }
    func text(_ predicate: String) -> String? {
      unsafe Self.taken(lilv_port_get(plugin, port, node(predicate)))
    }
    /// A property of a node that the port refers to, which need not have a URI.
    func text(_ predicate: String, _ inner: String) -> String? {
      let node = unsafe lilv_port_get(plugin, port, self.node(predicate))
      defer { unsafe lilv_node_free(node) }
      return unsafe self.text(of: node, inner)
    }
    func isA(_ kind: String) -> Bool { unsafe lilv_port_is_a(plugin, port, node(kind)) }
    let kinds: [(String, EffectPort.Kind)] = [
      (LV2Names.audioPort, .audio), (LV2Names.cvPort, .cv), (LV2Names.controlPort, .control),
      (LV2Names.atomPort, .events),
    ]
    let kind = kinds.first { isA($0.0) }?.1 ?? .unknown
    let isInput = isA(LV2Names.inputPort)
    let role: EffectPort.Role =
      switch text(LV2Names.designation) {
      case LV2Names.latency where kind == .control && !isInput: .latency
      case LV2Names.freeWheeling where kind == .control && isInput: .freeWheel
      case LV2Names.enabled where kind == .control && isInput: .enabled
      case _ where kind == .control && !isInput && has(LV2Names.reportsLatency): .latency
      case _
      where kind == .audio && isInput
        && (has(LV2Names.isSideChain) || text(LV2Names.group, LV2Names.sideChainOf) != nil):
        .sideChain
      default: .main
      }
    let symbol = unsafe Self.text(lilv_port_get_symbol(plugin, port)) ?? "\(index)"
    return EffectPort(
      index: Int(index), symbol: symbol,
      name: unsafe Self.taken(lilv_port_get_name(plugin, port)) ?? symbol,
      kind: kind, isInput: isInput, isOptional: has(LV2Names.connectionOptional), role: role,
      minimumSize: text(LV2Names.minimumSize).flatMap { Int($0) } ?? 0,
      control: kind == .control || kind == .cv
        ? unsafe control(
          of: plugin, port, has,
          unit: text(LV2Names.unit, LV2Names.unitSymbol)
            ?? Self.standardUnit(text(LV2Names.unit)) ?? "")
        : nil)
  }

  private static func standardUnit(_ uri: String?) -> String? {
    uri?.split(separator: "#").last.flatMap { LV2Names.standardSymbols[String($0)] }
  }

  private func control(
    of plugin: OpaquePointer, _ port: OpaquePointer?, _ has: (String) -> Bool, unit: String
  ) -> EffectControl {
    var nodes: [OpaquePointer?] = unsafe [nil, nil, nil]
    unsafe nodes.withUnsafeMutableBufferPointer { place in
      guard let start = place.baseAddress else { return }
      unsafe lilv_port_get_range(plugin, port, start, start + 1, start + 2)
    }
    let numbers = unsafe nodes.map { node -> Double? in
      defer { unsafe lilv_node_free(node) }
      return unsafe Self.number(node).flatMap { $0.isFinite ? $0 : nil }
    }
    var control = EffectControl(
      standard: numbers[0] ?? numbers[1] ?? 0, minimum: numbers[1], maximum: numbers[2], unit: unit)
    control.isToggle = has(LV2Names.toggled)
    control.isWhole = has(LV2Names.integer)
    control.isChoice = has(LV2Names.enumeration)
    control.isScaledByRate = has(LV2Names.sampleRate)
    control.points = unsafe points(of: plugin, port)
    return control
  }

  private func points(of plugin: OpaquePointer, _ port: OpaquePointer?) -> [EffectControl.Point] {
    guard let all = unsafe lilv_port_get_scale_points(plugin, port) else { return [] }
    defer { unsafe lilv_scale_points_free(all) }
    var points: [EffectControl.Point] = []
    var place = unsafe lilv_scale_points_begin(all)
    while unsafe !lilv_scale_points_is_end(all, place) {
      let point = unsafe lilv_scale_points_get(all, place)
      if let label = unsafe Self.text(lilv_scale_point_get_label(point)),
        let value = unsafe Self.number(lilv_scale_point_get_value(point))
      {
        points.append(EffectControl.Point(label: label, value: value))
      }
      unsafe place = unsafe lilv_scale_points_next(all, place)
    }
    return points.sorted { ($0.value, $0.label) < ($1.value, $1.label) }
  }
}

/// The LV2 URIs that Spool queries.
enum LV2Names {
  private static let core = "http://lv2plug.in/ns/lv2core#"
  private static let extensions = "http://lv2plug.in/ns/ext/"

  static let audioPort = core + "AudioPort"
  static let controlPort = core + "ControlPort"
  static let cvPort = core + "CVPort"
  static let atomPort = extensions + "atom#AtomPort"
  static let inputPort = core + "InputPort"

  static let designation = core + "designation"
  static let latency = core + "latency"
  static let freeWheeling = core + "freeWheeling"
  static let enabled = core + "enabled"
  static let reportsLatency = core + "reportsLatency"
  static let connectionOptional = core + "connectionOptional"
  static let isSideChain = core + "isSideChain"
  static let toggled = core + "toggled"
  static let integer = core + "integer"
  static let enumeration = core + "enumeration"
  static let sampleRate = core + "sampleRate"
  static let minorVersion = core + "minorVersion"
  static let microVersion = core + "microVersion"

  static let group = extensions + "port-groups#group"
  static let sideChainOf = extensions + "port-groups#sideChainOf"
  static let minimumSize = extensions + "resize-port#minimumSize"
  static let preset = extensions + "presets#Preset"
  static let unit = "http://lv2plug.in/ns/extensions/units#unit"
  /// Symbols of the standard units. `LV2_PATH` may exclude the file that defines them.
  static let standardSymbols = [
    "db": "dB", "hz": "Hz", "khz": "kHz", "mhz": "MHz", "ms": "ms", "s": "s", "min": "min",
    "pc": "%", "bpm": "BPM", "oct": "oct", "cent": "ct", "semitone12TET": "semi",
    "degree": "deg", "bar": "bars", "beat": "beats", "frame": "frames", "m": "m", "cm": "cm",
    "mm": "mm",
  ]
  static let unitSymbol = "http://lv2plug.in/ns/extensions/units#symbol"
  static let label = "http://www.w3.org/2000/01/rdf-schema#label"
  static let seeAlso = "http://www.w3.org/2000/01/rdf-schema#seeAlso"
}
