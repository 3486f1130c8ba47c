/// The URIs of LV2 that Spool asks for.
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
  /// The symbols of the standard's own units, whose file is missing where `LV2_PATH` names only the
  /// user's folders.
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
