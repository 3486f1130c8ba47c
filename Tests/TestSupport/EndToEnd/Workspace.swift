package import Foundation
package import Platform

/// A user's place of work, deleted with its last reference: a scratch folder with a store, an
/// output folder, and whatever recordings and pipelines a test puts there.
package struct Workspace: Sendable {
  /// The scratch folder, which commands are run in.
  package let folder: ScratchFolder
  private let program: Program

  /// Makes an empty place.
  package init() throws {
    folder = try ScratchFolder()
    program = try SpoolProgram.program
  }

  /// Where exports go.
  package var out: String { file("out") }
  /// Where the store is.
  package var store: String { file("store") }

  /// The path of `name` in the scratch folder.
  package func file(_ name: String) -> String { folder.file(name) }

  /// Writes a pipeline and gives its path.
  package func pipeline(_ text: String, named name: String = "pipeline.yaml") throws -> String {
    try folder.write(text, to: name)
  }

  /// Where the keys of receipts are.
  package var keys: String { file("keys") }
  /// What tells programs where they may leave things.
  package var environment: [String: String] { ["SPOOL_STORE": store, "SPOOL_KEYS": keys] }

  /// The store's database: another program than Spool would write pages without their checksums.
  package func database() throws -> Database {
    try Database(at: store + "/spool.sqlite", for: .writing, advice: Database.Advice())
  }

  // MARK: Commands

  /// Runs `spool` with these very arguments.
  package func spool(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Program.Result {
    try program.run(
      arguments, environment: self.environment.merging(environment) { $1 },
      folder: folder.path)
  }

  /// The same, under another program: `strace -f`.
  package func spool(
    _ arguments: [String], under wrapper: Program, _ words: [String]
  ) throws -> Program.Result {
    try wrapper.run(
      words + [program.path] + arguments, environment: ["SPOOL_STORE": store], folder: folder.path)
  }

  /// `spool run --json`, with the exports in `out`.
  package func run(
    _ pipeline: String, _ inputs: [String], _ options: [String] = []
  ) throws -> SpoolRun {
    SpoolRun(try spool(runArguments(pipeline, inputs, options)))
  }

  /// The same, under another program: `taskset -c 0`.
  package func run(
    _ pipeline: String, _ inputs: [String], under wrapper: Program, _ words: [String]
  ) throws -> SpoolRun {
    SpoolRun(
      try wrapper.run(
        words + [program.path] + runArguments(pipeline, inputs, []),
        environment: environment, folder: folder.path))
  }

  /// The same, without waiting for its end.
  package func start(
    _ pipeline: String, _ inputs: [String], _ options: [String] = []
  ) throws -> RunningSpool {
    try RunningSpool(
      program, runArguments(pipeline, inputs, options), environment: environment,
      folder: folder.path)
  }

  /// Starts `spool` with these very arguments.
  package func start(_ arguments: [String]) throws -> RunningSpool {
    try RunningSpool(program, arguments, environment: environment, folder: folder.path)
  }

  /// `spool resume --json`.
  package func resume(_ run: String? = nil) throws -> SpoolRun {
    SpoolRun(try spool(["resume"] + (run.map { [$0] } ?? []) + ["--json"]))
  }

  /// The same, without waiting for its end.
  package func startResuming() throws -> RunningSpool {
    try RunningSpool(
      program, ["resume", "--json"], environment: environment, folder: folder.path)
  }

  /// Starts `spool run --json` under another program: `nohup`.
  package func start(
    _ pipeline: String, _ inputs: [String], under wrapper: Program, _ words: [String]
  ) throws -> RunningSpool {
    try RunningSpool(
      wrapper, words + [program.path] + runArguments(pipeline, inputs, []),
      environment: environment, folder: folder.path)
  }

  private func runArguments(
    _ pipeline: String, _ inputs: [String], _ options: [String]
  ) -> [String] {
    let folder = options.contains("--out") ? [] : ["--out", out]
    return ["run", pipeline] + inputs + ["--json"] + folder + options
  }

  // MARK: What it left

  /// The names in the output folder, sorted; hidden ones too.
  package var exports: [String] { Self.names(in: out) }

  /// The bytes of one export.
  package func export(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: out + "/" + name))
  }

  /// The bytes of all exports, by name.
  package func allExports() throws -> [String: Data] {
    try Dictionary(
      exports.map { ($0, try export($0)) }, uniquingKeysWith: { first, _ in first })
  }

  /// A pipeline that exports, and goes on for so long after that.
  package func slowPipeline(seconds: Int) throws -> String {
    let script = "n=0; while [ $n -lt \(10 * seconds) ]; do sleep 0.1; n=$((n+1)); done"
    return try pipeline(
      """
      pipeline: slow
      inputs: { note: sound }
      stages:
        - decode
        - export: { formats: [wav] }
        - command:
            run: [sh, -c, '\(script); cp "$0" "$1"', "{input}", "{output}"]
            outputs: { file-name: "{stem}.copy" }
            from: decode
      """)
  }

  /// Everything in a folder and in those below it, files with length and time of change: two equal
  /// listings are a folder that nobody wrote into.
  package static func listing(of folder: String) throws -> [String: String] {
    let manager = FileManager.default
    var listing: [String: String] = [:]
    for case let name as String in manager.enumerator(atPath: folder) ?? .init() {
      let facts = try manager.attributesOfItem(atPath: folder + "/" + name)
      // A folder changes its time when a database looks whether another process works on it.
      let isFolder = facts[.type] as? FileAttributeType == .typeDirectory
      let time = (facts[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
      listing[name] = isFolder ? "folder" : "\(facts[.size] ?? 0) \(time)"
    }
    return listing
  }

  /// The names in a folder, sorted; none where there is no folder.
  package static func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }
}
