// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built under the same rules: Swift 6 mode, strict memory safety, and
/// no warning left standing.
let rules: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Spans handed out by `AudioBuffer` need lifetime annotations, which are still experimental.
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

/// Where every sample passes through, debug builds are optimised too: they would be slower than the
/// recording itself, and the tests with them. Preconditions stay, only `assert` goes.
let optimised: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

func library(
  _ name: String, _ dependencies: [Target.Dependency] = [], extra: [SwiftSetting] = []
) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: rules + extra)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: rules)
}

/// A C library that Debian packages, imported through a module map of ours.
func system(_ name: String, pkgConfig: String? = nil, apt packages: [String]) -> Target {
  .systemLibrary(
    name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt(packages)])
}

let package = Package(
  name: "spool",
  products: [.executable(name: "spool", targets: ["spool"])],
  targets: [
    // C libraries. libav's headers only: CLibAVLoader opens the libraries on first use, because
    // linking them would cost every command 40 ms of start-up.
    system(
      "CLibAV",
      apt: ["libavformat-dev", "libavcodec-dev", "libswresample-dev", "libavutil-dev"]),
    .target(name: "CLibAVLoader", path: "Sources/System/CLibAVLoader"),
    system("CYAML", pkgConfig: "yaml-0.1", apt: ["libyaml-dev"]),
    system("CSQLite", pkgConfig: "sqlite3", apt: ["libsqlite3-dev"]),
    system("CCrypto", pkgConfig: "libcrypto", apt: ["libssl-dev"]),
    // libcurl's headers only, for the same reason.
    .target(name: "CCurlLoader", path: "Sources/System/CCurlLoader"),
    system("CXXHash", pkgConfig: "libxxhash", apt: ["libxxhash-dev"]),
    system("CEspeak", apt: ["libespeak-ng-dev"]),
    // libpocketsphinx's headers include each other by names that only this folder makes valid.
    .target(
      name: "CSpeechLoader", dependencies: ["CEspeak"], path: "Sources/System/CSpeechLoader",
      cSettings: [.unsafeFlags(["-I/usr/include/pocketsphinx"])]),
    // The interface of native plugins: the header that their authors use.
    .systemLibrary(name: "CSpoolPlugin", path: "Sources/System/CSpoolPlugin"),
    // liblilv's header and ladspa.h: the library is opened on first use, and its header lies in a
    // folder of its own.
    .target(
      name: "CLilvLoader", path: "Sources/System/CLilvLoader",
      cSettings: [.unsafeFlags(["-I/usr/include/lilv-0"])]),
    system("CPosix", apt: ["libc6-dev", "linux-libc-dev"]),
    // What confines plugins: system calls that Swift's Glibc lacks, in an order that counts.
    .target(name: "CConfinement", path: "Sources/System/CConfinement"),

    // What both sides share.
    library("Hashing", ["CCrypto", "CXXHash"], extra: optimised),
    library("Threading"),
    library("JSONText", extra: optimised),
    library("HTTP", ["CCurlLoader"]),

    // What is said and when; it reads and writes text, and knows no sound.
    library("Transcripts", ["JSONText"]),

    // How what is written is said.
    library("Spelling", extra: optimised),

    // The pipeline side: it has never heard of sound.
    library("PipelineModel", ["Hashing", "JSONText"]),
    library("PipelineFile", ["PipelineModel", "CYAML"]),
    library("PipelineEngine", ["PipelineModel", "Hashing", "Threading"]),
    library(
      "Store",
      ["PipelineModel", "JSONText", "Hashing", "Spelling", "Threading", "CSQLite", "CPosix"]),
    library("Sidecars", ["PipelineModel", "JSONText"]),
    library("Inbox", ["PipelineModel", "Sidecars", "JSONText", "Hashing", "Threading", "CPosix"]),
    library(
      "Batch",
      ["PipelineModel", "PipelineEngine", "Sidecars", "JSONText", "Threading", "Hashing"]),

    // Stages that are programs of their own; it hands their sound on without knowing what that is.
    library(
      "PluginHost",
      [
        "PipelineModel", "PipelineFile", "JSONText", "Hashing", "Threading", "CPosix",
        "CConfinement",
      ],
      extra: optimised),

    // What such a program is, where Spool hosts the plugin itself: in a process of its own.
    library(
      "PluginWorker", ["PluginHost", "JSONText", "CPosix", "CSpoolPlugin"], extra: optimised),
    library(
      "LV2Host",
      ["PipelineModel", "PluginHost", "PluginWorker", "JSONText", "CLilvLoader", "CPosix"],
      extra: optimised),

    // It knows neither side: it signs statements and checks them.
    library("Proof", ["JSONText", "Hashing", "Threading", "CCrypto"]),

    // The sound side: it has never heard of pipelines.
    library("AudioModel", extra: lifetimes + optimised),
    library("DSP", ["AudioModel"], extra: lifetimes + optimised),
    library("Pictures", extra: optimised),
    library(
      "Media", ["AudioModel", "Hashing", "Threading", "CLibAV", "CLibAVLoader", "CPosix"],
      extra: lifetimes + optimised),

    library(
      "Speech",
      ["AudioModel", "DSP", "Spelling", "Threading", "CEspeak", "CSpeechLoader", "CPosix"],
      extra: optimised),

    // Where they meet, and the program.
    library(
      "Stages",
      [
        "PipelineModel", "PipelineFile", "PipelineEngine", "AudioModel", "DSP", "Media", "Pictures",
        "Proof", "HTTP", "Speech", "Spelling", "Transcripts", "PluginHost", "LV2Host", "JSONText",
        "Hashing", "Threading",
      ],
      extra: lifetimes),
    library(
      "Watching",
      [
        "PipelineModel", "PipelineEngine", "Inbox", "Sidecars", "AudioModel", "Media", "Hashing",
        "JSONText", "Threading", "CPosix",
      ]),
    library("Arguments"),
    library("CrashTest", ["Hashing"]),
    .executableTarget(
      name: "spool",
      dependencies: [
        "Arguments", "PipelineModel", "PipelineFile", "PipelineEngine", "Batch", "Store", "Stages",
        "Watching", "Inbox", "Sidecars", "CrashTest", "Hashing", "JSONText", "Media", "Proof",
        "PluginHost", "PluginWorker", "LV2Host", "Threading", "Transcripts", "CPosix",
      ],
      swiftSettings: rules),

    // Tests and benchmarks. libebur128 is what the tests hold the loudness meter against; its
    // module map names the library, so that only they need it.
    system("CEBUR128", apt: ["libebur128-dev"]),
    library(
      "TestSupport", ["AudioModel", "PipelineModel", "Hashing", "CEBUR128"],
      extra: lifetimes + optimised),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "Arguments", "AudioModel", "DSP", "Hashing", "PipelineModel", "Store", "TestSupport",
        "CSQLite", "CEspeak", "CSpeechLoader",
      ],
      path: "Tests/Benchmarks",
      exclude: ["Pipelines"],
      swiftSettings: rules + lifetimes),
    tests("ArchitectureTests", []),
    tests("HashingTests", ["Hashing"]),
    tests("ThreadingTests", ["Threading"]),
    tests("JSONTextTests", ["JSONText"]),
    tests("SpellingTests", ["Spelling", "TestSupport"]),
    tests("SpeechTests", ["Speech", "Spelling", "TestSupport"]),
    tests("TranscriptsTests", ["Transcripts", "JSONText", "TestSupport"]),
    tests("HTTPTests", ["HTTP", "TestSupport"]),
    tests("PipelineModelTests", ["PipelineModel", "Hashing", "TestSupport"]),
    tests("PipelineFileTests", ["PipelineFile", "PipelineModel", "TestSupport"]),
    tests("PipelineEngineTests", ["PipelineEngine", "PipelineModel", "Hashing", "TestSupport"]),
    tests(
      "BatchTests",
      [
        "Batch", "PipelineModel", "PipelineEngine", "Sidecars", "Threading", "Hashing",
        "TestSupport",
      ]),
    tests(
      "StoreTests", ["Store", "PipelineModel", "Spelling", "Hashing", "Threading", "TestSupport"]),
    tests(
      "InboxTests",
      [
        "Inbox", "Sidecars", "Store", "PipelineModel", "JSONText", "Hashing", "CPosix",
        "TestSupport",
      ]),
    tests("SidecarsTests", ["Sidecars", "PipelineModel", "TestSupport"]),
    tests(
      "PluginHostTests",
      [
        "PluginHost", "PluginWorker", "Stages", "AudioModel", "PipelineModel", "PipelineFile",
        "JSONText", "Hashing", "Transcripts", "spool", "TestSupport", "CConfinement",
      ]),
    tests("WatchingTests", ["Watching", "Inbox", "Sidecars"]),
    tests("LV2HostTests", ["LV2Host", "PluginWorker", "TestSupport"]),
    tests("ProofTests", ["Proof", "JSONText", "Hashing", "TestSupport"]),
    tests("AudioModelTests", ["AudioModel", "TestSupport"]),
    tests("DSPTests", ["DSP", "AudioModel", "TestSupport"]),
    tests("PicturesTests", ["Pictures", "Media", "TestSupport"]),
    tests("MediaTests", ["Media", "AudioModel", "Hashing", "Threading", "TestSupport"]),
    tests(
      "StagesTests",
      [
        "Stages", "PipelineModel", "PipelineFile", "PipelineEngine", "Store", "AudioModel", "DSP",
        "Hashing", "Media", "Pictures", "Proof", "Speech", "Threading", "LV2Host", "PluginHost",
        "Transcripts", "TestSupport",
      ]),
    tests("ArgumentsTests", ["Arguments", "TestSupport"]),
    tests("CrashTestTests", ["CrashTest", "TestSupport"]),
    tests(
      "SpoolTests",
      ["spool", "PipelineModel", "PipelineEngine", "Watching", "JSONText", "Hashing"]),
    tests("EndToEndTests", ["spool", "Store", "PipelineModel", "AudioModel", "TestSupport"]),
  ]
)
