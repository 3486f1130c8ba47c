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
  products: [
    .executable(name: "spool", targets: ["spool"]),
    .executable(name: "spool-confine", targets: ["SpoolConfine"]),
  ],
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
    // What SQLite reads and writes files through: pages with checksums.
    .target(
      name: "CSealedPages", dependencies: ["CSQLite", "CXXHash"],
      path: "Sources/System/CSealedPages"),
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
    // libasound's headers only: it is opened when something is played.
    .target(name: "CAsoundLoader", path: "Sources/System/CAsoundLoader"),
    .target(name: "CPosix", path: "Sources/System/CPosix"),
    // Scripts, templates and SQL that are compiled in; the files themselves are no sources of it.
    .target(
      name: "CTexts", path: "Sources/System/CTexts",
      exclude: ["Completion", "Guides", "JSON", "Proof", "Scaffold", "Search", "Store"]),
    // The launcher that confines programs, which opens libseccomp itself. It is part of spool, and a
    // program of its own beside it, which starts faster.
    .target(name: "CConfinement", path: "Sources/System/CConfinement"),
    .executableTarget(
      name: "SpoolConfine", dependencies: ["CConfinement"], path: "Sources/System/SpoolConfine"),

    // What every program needs; it knows nothing of Spool.
    library(
      "Platform",
      [
        "CCrypto", "CPosix", "CXXHash", "CCurlLoader", "CSQLite", "CSealedPages", "CTexts",
      ],
      extra: optimised),

    // The pipeline side: it has never heard of sound.
    library("PipelineModel", ["Platform", "CYAML"]),
    library("PipelineEngine", ["PipelineModel", "Platform"]),
    library("Store", ["PipelineModel", "Platform", "CSQLite", "CTexts"]),
    library("Search", ["PipelineModel", "Transcripts", "Platform", "CTexts"]),
    library(
      "Plugins",
      [
        "PipelineModel", "Transcripts", "Platform", "CPosix", "CConfinement", "CSpoolPlugin",
        "CLilvLoader", "CTexts",
      ],
      extra: optimised),

    // The sound side: it has never heard of pipelines.
    library("Audio", extra: lifetimes + optimised),
    library(
      "Media",
      [
        "Audio", "Platform", "CLibAV", "CLibAVLoader", "CAsoundLoader", "CPosix", "CConfinement",
      ],
      extra: lifetimes + optimised),
    library(
      "Speech", ["Audio", "Transcripts", "Platform", "CEspeak", "CSpeechLoader"],
      extra: optimised),

    // Text, and statements that are signed: neither side.
    library("Transcripts", ["Platform"], extra: optimised),
    library("Proof", ["Platform", "CCrypto", "CTexts"]),

    // Where recordings come in, where receipts are made, and where the two sides meet.
    library("Receipts", ["PipelineModel", "PipelineEngine", "Store", "Proof", "Platform"]),
    library("Intake", ["PipelineModel", "PipelineEngine", "Store", "Platform", "CPosix"]),
    library("Delivery", ["PipelineModel", "PipelineEngine", "Store", "Proof", "Platform"]),
    library(
      "SoundEngine",
      ["PipelineModel", "PipelineEngine", "Plugins", "Audio", "Media", "Proof", "Platform"],
      extra: lifetimes),
    library(
      "Stages",
      [
        "PipelineModel", "PipelineEngine", "Store", "SoundEngine", "Receipts", "Audio", "Media",
        "Proof", "Speech", "Transcripts", "Plugins", "Platform",
      ],
      extra: lifetimes),
    .executableTarget(
      name: "spool",
      dependencies: [
        "PipelineModel", "PipelineEngine", "Store", "Search", "Stages", "SoundEngine", "Receipts",
        "Intake", "Delivery", "Audio", "Media", "Proof", "Plugins", "Transcripts", "Platform",
        "CPosix", "CTexts",
      ],
      swiftSettings: rules),

    // Tests and benchmarks. libebur128 is what the tests hold the loudness meter against; its
    // module map names the library, so that only they need it.
    system("CEBUR128", apt: ["libebur128-dev"]),
    .target(
      name: "TestSupport", dependencies: ["Audio", "PipelineModel", "Platform", "CEBUR128"],
      path: "Tests/TestSupport", swiftSettings: rules + lifetimes + optimised),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "Audio", "Platform", "PipelineModel", "Store", "Search", "TestSupport", "CSQLite",
        "CEspeak", "CSpeechLoader",
      ],
      path: "Tests/Benchmarks",
      exclude: ["Pipelines"],
      swiftSettings: rules + lifetimes),
    tests("ArchitectureTests", []),
    tests("PlatformTests", ["Platform", "TestSupport"]),
    tests("PipelineModelTests", ["PipelineModel", "Platform", "TestSupport"]),
    tests(
      "PipelineEngineTests",
      ["PipelineEngine", "Store", "PipelineModel", "Platform", "TestSupport"]),
    tests("StoreTests", ["Store", "PipelineModel", "Platform", "CSQLite", "TestSupport"]),
    tests(
      "SearchTests",
      [
        "Search", "Store", "PipelineModel", "Transcripts", "Platform", "CSQLite", "TestSupport",
      ]),
    tests("AudioTests", ["Audio", "Platform", "TestSupport"]),
    tests("MediaTests", ["Media", "Audio", "Platform", "TestSupport"]),
    tests("TranscriptsTests", ["Transcripts", "Platform", "TestSupport"]),
    tests("SpeechTests", ["Speech", "Transcripts", "Audio", "Platform", "TestSupport"]),
    tests("ProofTests", ["Proof", "Platform", "TestSupport"]),
    tests(
      "ReceiptsTests",
      ["Receipts", "Store", "Proof", "PipelineModel", "Platform", "TestSupport"]),
    tests(
      "PluginsTests",
      [
        "Plugins", "Stages", "SoundEngine", "Audio", "PipelineModel", "Platform", "Transcripts",
        "spool", "TestSupport", "CConfinement",
      ]),
    tests(
      "IntakeTests",
      ["Intake", "Store", "PipelineEngine", "PipelineModel", "Platform", "CPosix", "TestSupport"]),
    tests(
      "DeliveryTests",
      ["Delivery", "PipelineEngine", "PipelineModel", "Store", "Platform", "TestSupport"]),
    tests(
      "StagesTests",
      [
        "Stages", "SoundEngine", "Receipts", "PipelineModel", "PipelineEngine", "Store", "Audio",
        "Platform", "Media", "Proof", "Speech", "Plugins", "Transcripts", "TestSupport",
      ]),
    tests(
      "SpoolTests",
      [
        "spool", "Stages", "SoundEngine", "PipelineModel", "PipelineEngine", "Intake", "Search",
        "Store", "Platform", "TestSupport",
      ]),
    tests(
      "EndToEndTests", ["spool", "Store", "PipelineModel", "Audio", "Platform", "TestSupport"]),
  ]
)

// The parsers under libFuzzer. `Tests/long.sh fuzz` alone builds them, as all that they call must be
// compiled for it.
if Context.environment["SPOOL_FUZZING"] != nil {
  package.targets.append(
    .executableTarget(
      name: "fuzzing",
      dependencies: [
        "Platform", "PipelineModel", "Audio", "Media", "Transcripts", "Proof", "Plugins", "Search",
        "Store", "Intake", "SoundEngine",
      ],
      path: "Tests/Fuzzing",
      swiftSettings: rules + [.unsafeFlags(["-parse-as-library"])]))
}
