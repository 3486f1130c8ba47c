import CLilvLoader
import FoundationEssentials
import Glibc
import Platform

/// A library of LADSPA plugins. Opening it runs its code.
@safe struct LADSPALibrary {
  let path: String
  /// The name that pipelines use: the file name without `.so`.
  let name: String
  private let find: LADSPA_Descriptor_Function

  /// - Throws: If it cannot be opened or is not a regular file; a pipe or a device would block.
  init(_ path: String) throws(SpoolError) {
    var status = stat()
    guard unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw SpoolError(
        "cannot open \(path)", reason: "it is no plain file",
        advice: "put the library itself there, or a link to it")
    }
    var reason = [CChar](repeating: 0, count: 512)
    guard let found = unsafe spool_ladspa_open(path, &reason, reason.count) else {
      throw SpoolError("cannot open \(path)", reason: String(cText: reason))
    }
    self.path = path
    name = String((path.split(separator: "/").last ?? "").dropLast(3))
    unsafe find = unsafe found
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
    let reason =
      unsafe access(path, F_OK) == 0 ? "it is a folder" : unsafe String(cString: strerror(errno))
    return SpoolError(
      "cannot open \(path)", reason: reason,
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
