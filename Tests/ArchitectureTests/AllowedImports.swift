/// Which module may import which: the shape of the program, in one place.
///
/// A module imports only modules of lower layers. The pipeline side never imports the sound side, nor
/// the sound side the pipeline side; they meet in `SoundEngine`, `Stages` and the program.
enum AllowedImports {
  /// The modules, lowest layer first.
  static let layers: [[String]] = [
    ["Platform"],
    ["PipelineModel", "Audio", "Transcripts", "Proof"],
    ["PipelineEngine", "Store", "Search", "Media", "Speech", "Plugins"],
    ["SoundEngine", "Receipts", "Intake", "Delivery"],
    ["Stages"],
    ["spool"],
  ]

  /// Knows pipelines and no sound.
  static let pipelineSide: Set<String> = [
    "PipelineModel", "PipelineEngine", "Store", "Search", "Plugins", "Receipts", "Intake",
    "Delivery",
  ]
  /// Knows sound and no pipelines.
  static let soundSide: Set<String> = ["Audio", "Media", "Speech"]
  /// Knows neither.
  static let neutral: Set<String> = ["Platform", "Transcripts", "Proof"]
  /// Where the sides meet.
  static let meetingPoints: Set<String> = ["SoundEngine", "Stages", "spool"]

  /// The C libraries of each module.
  static let libraries: [String: Set<String>] = [
    "Platform": [
      "CCrypto", "CPosix", "CXXHash", "CCurlLoader", "CSQLite", "CSealedPages", "CTexts",
    ],
    "PipelineModel": ["CYAML"],
    "Store": ["CSQLite", "CTexts"],
    "Search": ["CTexts"],
    "Media": ["CAsoundLoader", "CConfinement", "CLibAV", "CLibAVLoader", "CPosix"],
    "Speech": ["CEspeak", "CSpeechLoader"],
    "Proof": ["CCrypto", "CTexts"],
    "Plugins": ["CConfinement", "CLilvLoader", "CPosix", "CSpoolPlugin", "CTexts"],
    "Intake": ["CPosix"],
    "spool": ["CPosix", "CTexts"],
  ]

  /// What every module may import. Foundation is not among them: it costs every command its
  /// start-up time.
  static let everywhere: Set<String> = [
    "Swift", "Glibc", "Synchronization", "FoundationEssentials",
  ]

  /// All modules.
  static var modules: Set<String> { Set(layers.joined()) }

  /// Whether a file of `module` may import `imported`.
  static func allow(_ imported: String, in module: String) -> Bool {
    if everywhere.contains(imported) || libraries[module, default: []].contains(imported) {
      return true
    }
    guard let low = layer(of: imported), let high = layer(of: module), low < high else {
      return false
    }
    return !(pipelineSide.contains(module) && soundSide.contains(imported))
      && !(soundSide.contains(module) && pipelineSide.contains(imported))
  }

  private static func layer(of module: String) -> Int? {
    layers.firstIndex { $0.contains(module) }
  }
}
