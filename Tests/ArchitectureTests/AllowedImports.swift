/// Which module may import which: the shape of the program, in one place.
///
/// The pipeline side has never heard of sound, the sound side has never heard of pipelines, and
/// they meet only in `Stages` and in the program.
enum AllowedImports {
  /// What each module under `Sources` may import besides ``everywhere``.
  static let table: [String: Set<String>] = [
    // What both sides share.
    "Hashing": ["CCrypto", "CXXHash"],
    "Threading": [],
    "JSONText": [],
    "HTTP": ["CCurlLoader"],
    "Spelling": [],

    "Transcripts": ["JSONText"],

    // The pipeline side.
    "PipelineModel": ["Hashing", "JSONText"],
    "PipelineFile": ["PipelineModel", "CYAML"],
    "PipelineEngine": ["PipelineModel", "Hashing", "Threading"],
    "Sidecars": ["PipelineModel", "JSONText"],
    "Batch": [
      "PipelineModel", "PipelineEngine", "Sidecars", "JSONText", "Threading", "Hashing",
    ],
    "Store": [
      "PipelineModel", "JSONText", "Hashing", "Spelling", "Threading", "CSQLite", "CPosix",
    ],
    "Inbox": ["PipelineModel", "Sidecars", "JSONText", "Hashing", "Threading", "CPosix"],

    "PluginHost": [
      "PipelineModel", "PipelineFile", "JSONText", "Hashing", "Threading", "CPosix", "CConfinement",
    ],

    "PluginWorker": ["PluginHost", "JSONText", "CPosix", "CSpoolPlugin"],
    "LV2Host": [
      "PipelineModel", "PluginHost", "PluginWorker", "JSONText", "CLilvLoader", "CPosix",
    ],

    "Proof": ["JSONText", "Hashing", "Threading", "CCrypto"],

    // The sound side.
    "AudioModel": [],
    "DSP": ["AudioModel"],
    "Pictures": [],
    "Media": ["AudioModel", "Hashing", "Threading", "CLibAV", "CLibAVLoader", "CPosix"],

    "Speech": [
      "AudioModel", "DSP", "Spelling", "Threading", "CEspeak", "CSpeechLoader", "CPosix",
    ],

    // Where they meet, and the program.
    "Stages": [
      "PipelineModel", "PipelineFile", "PipelineEngine", "AudioModel", "DSP", "Media", "Pictures",
      "Proof", "HTTP", "Speech", "Spelling", "Transcripts", "PluginHost", "LV2Host", "JSONText",
      "Hashing", "Threading",
    ],
    // Recordings that arrive meet the pipelines that they go through.
    "Watching": [
      "PipelineModel", "PipelineEngine", "Inbox", "Sidecars", "AudioModel", "Media", "Hashing",
      "JSONText", "Threading", "CPosix",
    ],
    "Arguments": [],
    // It sees a run only from outside, as a user does.
    "CrashTest": ["Hashing"],
    "spool": [
      "Arguments", "CrashTest", "PipelineModel", "PipelineFile", "PipelineEngine", "Batch", "Store",
      "Stages", "Watching", "Inbox", "Sidecars", "JSONText", "Hashing", "Media", "Proof",
      "PluginHost", "PluginWorker", "LV2Host", "Threading", "Transcripts", "CPosix",
    ],

    // For tests.
    "TestSupport": [
      "AudioModel", "PipelineModel", "Hashing", "CEBUR128", "Foundation", "Testing",
    ],
  ]

  /// What every module may import. Foundation is not among them: it costs every command its
  /// start-up time.
  static let everywhere: Set<String> = [
    "Swift", "Glibc", "Synchronization", "FoundationEssentials",
  ]

  static let pipelineSide: Set<String> = [
    "PipelineModel", "PipelineFile", "PipelineEngine", "Batch", "Store", "Sidecars", "Inbox",
    "PluginHost",
  ]
  static let soundSide: Set<String> = ["AudioModel", "DSP", "Media", "Pictures"]

  /// Every module that `module` reaches through what it may import.
  static func reach(of module: String) -> Set<String> {
    var reached: Set<String> = []
    var waiting = table[module] ?? []
    while let next = waiting.popFirst() {
      if reached.insert(next).inserted { waiting.formUnion(table[next] ?? []) }
    }
    return reached
  }
}
