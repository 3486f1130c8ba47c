import CLilvLoader
import FoundationEssentials
import Glibc
import PipelineModel
import Platform

/// The host process, the only one that runs code of LV2 and LADSPA plugins.
package enum EffectHost {
  /// Executes an order and reports the result on standard output in the plugin protocol.
  /// - Returns: the exit code.
  package static func obey(_ order: HostOrder) -> Int32 {
    switch order.wish {
    case .run:
      spool_flush_subnormals()
      return WorkerLoop.serve { (greeting) throws(SpoolError) -> any HostedEffect in
        try instances(order, rate: greeting.rate, channelCount: greeting.channelCount)
      }
    case .list: return answer { (tell) throws(SpoolError) in try list(order, tell) }
    case .describe: return answer { (tell) throws(SpoolError) in try describe(order, tell) }
    }
  }

  /// Answers the greeting with the result of `find`, or with its error.
  /// - Parameter find: does the search; it calls its argument with the name of each plugin before
  ///   foreign code runs, so that the reader knows which plugin crashed the process.
  private static func answer(
    _ find: ((String) -> Void) throws(SpoolError) -> some Encodable
  ) -> Int32 {
    let output = dup(STDOUT_FILENO)
    // Output of libraries would corrupt the protocol.
    dup2(STDERR_FILENO, STDOUT_FILENO)
    _ = readLine()
    var members: [String: JSONValue] = ["protocol": .integer(PluginManifest.spokenProtocol)]
    do throws(SpoolError) {
      let found = try find { place in
        OutgoingMessage.write(PluginMessage("note", ["text": .text(place)]), to: output)
        // Text buffered so far concerns the previous library.
        fflush(nil)
        var line = Array("\(StderrTail.splitter)\n".utf8)
        _ = unsafe write(STDERR_FILENO, &line, line.count)
      }
      members["found"] = (try? found.jsonText()).map { .text($0) }
    } catch {
      members["trouble"] = .object(leavingOut: [
        "message": .text(error.message), "reason": error.reason.map { .text($0) },
        "advice": error.advice.map { .text($0) },
      ])
    }
    return OutgoingMessage.write(PluginMessage("ready", members), to: output) ? 0 : 1
  }

  private static func list(
    _ order: HostOrder, _ tell: (String) -> Void
  ) throws(SpoolError) -> EffectCatalog {
    switch order.format {
    case .lv2:
      let world = try LilvWorld(order.folders, excluding: Set(order.excluded), tell: tell)
      let found = unsafe world.plugins.compactMap { plugin in
        let bundle = unsafe LilvWorld.bundle(of: plugin)
        tell(bundle)
        return world.hear(bundle) { () -> (EffectDescription, isBad: Bool) in
          let effect = unsafe world.description(of: plugin, isInFull: false)
          return (effect, effect.refusal != nil)
        }
      }
      return EffectCatalog(found, flaws: world.flaws)
    case .ladspa:
      var found: [EffectDescription] = []
      var flaws: [String] = []
      let excluded = Set(order.excluded)
      for path in LADSPALibrary.paths(in: order.folders) where !excluded.contains(path) {
        tell(path)
        do throws(SpoolError) {
          let library = try LADSPALibrary(path)
          found += unsafe try library.descriptors().map { unsafe library.description(of: $0) }
        } catch {
          flaws.append("\(path): \(error.reason ?? error.message)")
        }
      }
      return EffectCatalog(found, flaws: flaws)
    }
  }

  private static func describe(
    _ order: HostOrder, _ tell: (String) -> Void
  ) throws(SpoolError) -> EffectDescription {
    switch order.format {
    case .lv2:
      let world = try LilvWorld(order.folders, excluding: Set(order.excluded), tell: tell)
      return try unsafe world.description(of: lv2(order, world), isInFull: true)
    case .ladspa:
      let (library, plugin) = try unsafe ladspa(order)
      return unsafe library.description(of: plugin)
    }
  }

  private static func instances(
    _ order: HostOrder, rate: Double, channelCount: Int
  ) throws(SpoolError) -> EffectInstances {
    switch order.format {
    case .lv2:
      let world = try LilvWorld(order.folders, excluding: Set(order.excluded)) { _ in }
      let plugin = try unsafe lv2(order, world)
      let effect = unsafe world.description(of: plugin, isInFull: false)
      return try EffectInstances(effect, channelCount: channelCount) { () throws(SpoolError) in
        try unsafe set(
          EffectInstance(
            lv2: plugin, effect, in: world, preset: order.preset, rate: rate,
            blockLength: EffectInstances.blockLength), order, effect, rate)
      }
    case .ladspa:
      let (library, plugin) = try unsafe ladspa(order)
      let effect = unsafe library.description(of: plugin)
      return try EffectInstances(effect, channelCount: channelCount) { () throws(SpoolError) in
        try unsafe set(
          EffectInstance(
            ladspa: plugin, effect, rate: rate, blockLength: EffectInstances.blockLength),
          order, effect, rate)
      }
    }
  }

  /// Sets an instance's controls; limits that scale with the sample rate are resolved here.
  private static func set(
    _ instance: EffectInstance, _ order: HostOrder, _ effect: EffectDescription, _ rate: Double
  ) throws(SpoolError) -> EffectInstance {
    for port in effect.ports where port.kind == .control && port.isInput {
      if port.role == .freeWheel { instance.set(port.symbol, to: 1) }
      guard let value = order.values[port.symbol], let control = port.control else { continue }
      guard control.holds(value, at: rate) else {
        let limits = [control.minimum, control.maximum].map { limit in
          limit.map { EffectControl.text($0 * (control.isScaledByRate ? rate : 1)) } ?? "any"
        }
        throw SpoolError(
          "\(port.symbol) of \(effect.name) is out of range at \(EffectControl.text(value))",
          advice: "\(limits.joined(separator: " … ")) at \(EffectControl.text(rate)) Hz")
      }
      instance.set(port.symbol, to: value)
    }
    return instance
  }
}

/// Finds the plugin that an order names, or explains its absence.
extension EffectHost {
  static func lv2(
    _ order: HostOrder, _ world: LilvWorld
  ) throws(SpoolError) -> OpaquePointer {
    if let plugin = unsafe world.plugin(order.identity) { return unsafe plugin }
    let uris = unsafe world.plugins.compactMap { plugin in
      unsafe LilvWorld.text(lilv_plugin_get_uri(plugin))
    }
    let flaws = order.excluded.map { "\($0): it ended the process that read it" } + world.flaws
    throw missing(order.identity, of: uris, .lv2, order.folders, flaws: flaws)
  }

  /// The library in a LADSPA plugin's name, as it stands there. A label behind it may have slashes.
  package static func library(of identity: String, in folders: [String]) -> String {
    LADSPALibrary.parts(of: identity, in: folders).library
  }

  /// The library of an order, and the plugin in it.
  static func ladspa(
    _ order: HostOrder
  ) throws(SpoolError) -> (LADSPALibrary, UnsafePointer<LADSPA_Descriptor>) {
    // A library without a label is valid here: the error then lists its labels.
    let (name, label) = LADSPALibrary.parts(of: order.identity, in: order.folders)
    guard let path = LADSPALibrary.path(of: name, in: order.folders) else {
      if name.hasPrefix("/") { throw LADSPALibrary.absence(of: name) }
      let names = LADSPALibrary.paths(in: order.folders).map(LADSPALibrary.name)
      throw missing(name, of: names, .ladspa, order.folders)
    }
    let library = try LADSPALibrary(path)
    let descriptors = unsafe try library.descriptors()
    let labels = unsafe descriptors.map { unsafe LADSPALibrary.text($0.pointee.Label) }
    if let index = labels.firstIndex(of: label) { return unsafe (library, descriptors[index]) }
    let near = Problem.nearest(to: label, in: labels).map { "; did you mean \"\($0)\"?" }
    throw SpoolError(
      label.isEmpty
        ? "\(library.name) is a library, and no plugin is named in it"
        : "the library \(library.name) has no plugin \"\(label)\"",
      reason: labels.isEmpty
        ? "\(library.path) says that it has none"
        : "it has \(labels.prefix(20).joined(separator: ", "))\(near ?? "")",
      advice: labels.first.map { "ladspa:\(name):\($0) is one" }
        ?? "\(command: .stages) ladspa shows what is installed")
  }

  private static func missing(
    _ name: String, of names: [String], _ format: EffectFormat, _ folders: [String],
    flaws: [String] = []
  ) -> SpoolError {
    let leftOut = flaws.isEmpty ? "" : "; left out \(flaws.joined(separator: ", and "))"
    let near = Problem.nearest(to: name, in: names).map { "; did you mean \"\($0)\"?" }
    return SpoolError(
      "no \(format.title) plugin \"\(name)\" is installed",
      reason: "looked in \(folders.joined(separator: ", "))\(near ?? "")\(leftOut)",
      advice: "\(command: .stages) \(format.rawValue) shows what is installed; install the "
        + "plugin, or set "
        + "\(format.title)_PATH")
  }
}

/// A library of LADSPA plugins. Opening it runs its code.
@safe struct LADSPALibrary {
  let path: String
  /// The name that pipelines use: the file name without `.so`.
  let name: String
  private let find: LADSPA_Descriptor_Function

  /// - Throws: If it cannot be opened or is not a regular file; a pipe or a device would block.
  init(_ path: String) throws(SpoolError) {
    if let stamp = try? FileStamp(following: path), !stamp.isRegularFile {
      throw SpoolError(
        "cannot open \(path)", reason: "it is no plain file",
        advice: "put the library itself there, or a link to it")
    }
    var reason = [CChar](repeating: 0, count: 512)
    guard let found = unsafe spool_ladspa_open(path, &reason, reason.count) else {
      throw SpoolError("cannot open \(path)", reason: String(cText: reason))
    }
    self.path = path
    name = Self.name(of: path)
    unsafe find = unsafe found
  }

  /// The name that pipelines use for the library at a path.
  static func name(of path: String) -> String {
    String((path.pathNames.last ?? "").dropLast(3))
  }

  /// Splits `LIBRARY:LABEL` at the first colon behind a library that exists, else at the first.
  /// Labels may be URLs, and paths of libraries may contain colons, too.
  static func parts(
    of identity: String, in folders: [String]
  ) -> (library: String, label: String) {
    let colons = identity.indices.filter { identity[$0] == ":" }
    let known = colons.first { path(of: String(identity[..<$0]), in: folders) != nil }
    guard let colon = known ?? colons.first else { return (identity, "") }
    return (String(identity[..<colon]), String(identity[colon...].dropFirst()))
  }

  /// Resolves `cmt`, `cmt.so` or an absolute path.
  static func path(of library: String, in folders: [String]) -> String? {
    let file = library.hasSuffix(".so") ? library : "\(library).so"
    let paths = library.hasPrefix("/") ? [file] : folders.map { "\($0)/\(file)" }
    return paths.first { FileManager.default.fileExists(atPath: $0) }
  }

  /// The paths of all libraries.
  static func paths(in folders: [String]) -> [String] {
    folders.flatMap { folder in
      ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        .filter { $0.hasSuffix(".so") }.sorted().map { "\(folder)/\($0)" }
    }
  }

  /// Its plugins, in library order. O(plugins).
  /// - Throws: If the list exceeds `most`.
  func descriptors() throws(SpoolError) -> [UnsafePointer<LADSPA_Descriptor>] {
    var found: [UnsafePointer<LADSPA_Descriptor>] = unsafe []
    while let next = unsafe find(UInt(found.count)) {
      unsafe found.append(next)
      guard unsafe found.count <= Self.most else {
        throw SpoolError(
          "cannot use \(path)", reason: "it has more than \(Self.most) plugins, or no end of them")
      }
    }
    return unsafe found
  }

  /// Guards against a library whose list does not end.
  private static let most = 10_000

  /// The error for a library that does not exist at its path.
  static func absence(of name: String) -> SpoolError {
    let path = name.hasSuffix(".so") ? name : "\(name).so"
    return SpoolError(
      "cannot open \(path)", reason: FilePath.obstacle(to: path)?.words ?? "it is a folder",
      advice: "name the library's file, and its label behind :")
  }

  /// The text of a C string; empty for null.
  static func text(_ text: UnsafePointer<CChar>?) -> String {
    unsafe text.map { unsafe String(cString: $0) } ?? ""
  }
}

/// Describes plugins from their descriptors.
extension LADSPALibrary {
  func description(of plugin: UnsafePointer<LADSPA_Descriptor>) -> EffectDescription {
    let descriptor = unsafe plugin.pointee
    var taken: Set<String> = []
    let ports = unsafe (0..<Int(descriptor.PortCount)).map { index in
      let portName = unsafe Self.text(descriptor.PortNames[index])
      var symbol = Self.symbol(portName)
      if !taken.insert(symbol).inserted { symbol += "-\(index)" }
      taken.insert(symbol)
      return unsafe Self.port(
        index, symbol: symbol, name: portName, bits: descriptor.PortDescriptors[index],
        hint: descriptor.PortRangeHints[index])
    }
    let label = unsafe Self.text(descriptor.Label)
    return unsafe EffectDescription(
      format: .ladspa, identity: "\(name):\(label)",
      name: Self.text(descriptor.Name), category: "",
      author: Self.text(descriptor.Maker), version: "\(descriptor.UniqueID)",
      binary: path, files: [], ports: ports, presets: [], missingFeatures: [])
  }

  /// `Threshold level (dB)` → `threshold-level-db`.
  static func symbol(_ name: String) -> String {
    let words = name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    return words.isEmpty ? "port" : words.joined(separator: "-")
  }

  private static func port(
    _ index: Int, symbol: String, name: String, bits: LADSPA_PortDescriptor,
    hint: LADSPA_PortRangeHint
  ) -> EffectPort {
    let isInput = bits & LADSPA_PORT_INPUT != 0
    let isAudio = bits & LADSPA_PORT_AUDIO != 0
    // A convention among hosts.
    let isLatency = !isAudio && !isInput && (symbol == "latency")
    return EffectPort(
      index: index, symbol: symbol, name: name, kind: isAudio ? .audio : .control, isInput: isInput,
      role: isLatency ? .latency : .main, control: isAudio ? nil : control(hint, name))
  }

  private static func control(_ hint: LADSPA_PortRangeHint, _ name: String) -> EffectControl {
    let bits = hint.HintDescriptor
    func has(_ bit: Int32) -> Bool { bits & bit != 0 }
    let isToggle = has(LADSPA_HINT_TOGGLED)
    let least = has(LADSPA_HINT_BOUNDED_BELOW) ? Double(hint.LowerBound) : nil
    let most = has(LADSPA_HINT_BOUNDED_ABOVE) ? Double(hint.UpperBound) : nil
    var control = EffectControl(
      standard: standard(bits, least, most), minimum: isToggle ? 0 : least,
      maximum: isToggle ? 1 : most, unit: unit(name))
    control.isToggle = isToggle
    control.isWhole = has(LADSPA_HINT_INTEGER)
    control.isScaledByRate = has(LADSPA_HINT_SAMPLE_RATE)
    let relative = [
      Int32(LADSPA_HINT_DEFAULT_NONE), LADSPA_HINT_DEFAULT_MINIMUM, LADSPA_HINT_DEFAULT_LOW,
      LADSPA_HINT_DEFAULT_MIDDLE, LADSPA_HINT_DEFAULT_HIGH, LADSPA_HINT_DEFAULT_MAXIMUM,
    ]
    control.isStandardScaled =
      control.isScaledByRate && relative.contains(bits & LADSPA_HINT_DEFAULT_MASK)
    return control
  }

  /// The default value by ladspa.h's hints; without a hint, the lower limit or 0. If the limits
  /// scale with the sample rate, so does the result.
  private static func standard(_ bits: Int32, _ least: Double?, _ most: Double?) -> Double {
    func between(_ share: Double) -> Double {
      let (low, high) = (least ?? 0, most ?? least ?? 0)
      let isLogarithmic = bits & LADSPA_HINT_LOGARITHMIC != 0 && low > 0 && high > 0
      let value =
        isLogarithmic
        ? exp(log(low) * (1 - share) + log(high) * share) : low * (1 - share) + high * share
      return bits & LADSPA_HINT_INTEGER != 0 ? value.rounded() : value
    }
    switch bits & LADSPA_HINT_DEFAULT_MASK {
    case LADSPA_HINT_DEFAULT_MINIMUM: return least ?? 0
    case LADSPA_HINT_DEFAULT_LOW: return between(0.25)
    case LADSPA_HINT_DEFAULT_MIDDLE: return between(0.5)
    case LADSPA_HINT_DEFAULT_HIGH: return between(0.75)
    case LADSPA_HINT_DEFAULT_MAXIMUM: return most ?? least ?? 0
    case LADSPA_HINT_DEFAULT_0: return 0
    case LADSPA_HINT_DEFAULT_1: return 1
    case LADSPA_HINT_DEFAULT_100: return 100
    case LADSPA_HINT_DEFAULT_440: return 440
    default: return max(least ?? 0, min(0, most ?? 0))
    }
  }

  /// LADSPA has no units; by convention the name ends with one: `Release time (s)`, `Gain [dB]`.
  private static func unit(_ name: String) -> String {
    guard let last = name.last, last == ")" || last == "]",
      let first = name.lastIndex(where: { $0 == "(" || $0 == "[" })
    else { return "" }
    let word = name[name.index(after: first)...].dropLast()
    let units = ["dB", "Hz", "kHz", "ms", "s", "BPM", "%"]
    return units.first { $0.lowercased() == word.lowercased() } ?? ""
  }
}
