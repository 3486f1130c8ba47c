import FoundationEssentials
import Glibc
import Intake
import Media
import PipelineEngine
import PipelineModel
import Platform
import Plugins
import Stages
import Store

/// One call of a command: its arguments, the console, and the services that commands share:
/// catalogue, pipelines, store, keys, plugins.
struct CommandContext {
  let arguments: ParsedArguments
  let console: Console
  /// `--plugins` as typed, or `SPOOL_PLUGINS`.
  private var plugins: String?
  /// Whether `plugins` comes from an earlier run.
  private var isRemembered = false
  /// Where the key of an earlier run is.
  private(set) var earlierSigning: RunRequest.Signing?
  /// A store whose runs record earlier plugins.
  var storeOfRuns: String?

  init(_ arguments: ParsedArguments, console: Console) {
    self.arguments = arguments
    self.console = console
    plugins = named(Options.plugins) ?? Environment.variables["SPOOL_PLUGINS"]
  }

  /// Has all recordings decoded in confined processes, unless `--no-sandbox` is given.
  func confineDecoders() {
    guard arguments.texts(of: Options.noSandbox.declaration).isEmpty else { return }
    MediaSandbox.use(MediaSandbox { [console] in console.report("warning: \($0)") })
  }

  /// The value of an option as typed; nil also if the command does not take the option.
  func named(_ option: Option<String?>) -> String? { arguments.texts(of: option.declaration).last }

  /// Whether the command prints JSON.
  var isJSON: Bool { !arguments.texts(of: Options.json.declaration).isEmpty }

  /// Whether the command prints errors only.
  var isQuiet: Bool { !arguments.texts(of: Options.quiet.declaration).isEmpty }

  /// The same services with the keys and the plugins of an earlier run, unless others were named.
  func remembering(_ earlier: RunRecord) -> CommandContext {
    var context = self
    context.earlierSigning = earlier.request?.signing
    guard named(Options.plugins) == nil else { return context }
    context.isRemembered = true
    if let folder = earlier.request?.pluginFolder { context.plugins = folder }
    return context
  }

  /// The same services with the keys of an earlier run, unless others are named.
  func remembering(_ signing: RunRequest.Signing) -> CommandContext {
    var context = self
    context.earlierSigning = signing
    return context
  }

  /// The same services with the folder of `--plugins` in `SPOOL_PLUGINS`, for child processes too;
  /// a missing folder is ignored. Called first, while there is one thread.
  func sharingPlugins() -> CommandContext {
    if let folder = named(Options.plugins), let path = try? FilePath.resolved(folder) {
      unsafe setenv("SPOOL_PLUGINS", path, 1)
    }
    var context = self
    context.plugins = Environment.variables["SPOOL_PLUGINS"]
    return context
  }

  /// A parsed pipeline file.
  struct Pipeline {
    let definition: PipelineDefinition
    let path: String
    let text: String
    /// The available stage kinds.
    let catalog: StageCatalog
  }

  /// Reads a pipeline's file and reports every problem that does not depend on inputs.
  /// - Parameter path: the file, or the name of a pipeline that comes with Spool.
  func pipeline(at path: String) throws(SpoolError) -> Pipeline {
    let path = pipelinePath(path)
    return try pipeline(read(path), from: path)
  }

  /// The file that a user means by a path or by the name of a pipeline that comes with Spool.
  /// - Parameter base: the folder that paths start from; nil for the current one.
  func pipelinePath(_ typed: String, base: String? = nil) -> String {
    let path = typed.hasPrefix("/") ? typed : (base.map { $0 + "/" } ?? "") + typed
    if NamedPipelines.isFile(path) { return path }
    // A name that no folder has stays one, so that the error lists the known ones.
    return NamedPipelines().path(of: typed) ?? (NamedPipelines.isName(typed) ? typed : path)
  }

  /// Parses a pipeline; `path` is the text's origin.
  func pipeline(_ text: String, from path: String) throws(SpoolError) -> Pipeline {
    try checkPluginFolder()
    let registry = registry(beside: path)
    let catalog = StageCatalog.builtIn.adding(registry)
    let parsed = ParsedPipeline(text, knownKinds: catalog.kinds)
    guard var definition = parsed.definition, parsed.problems.isEmpty,
      definition.steps.allSatisfy({ catalog[$0.kind.value] != nil })
    else {
      throw refusal(allProblems(parsed, at: path, catalog, registry), in: text, at: path)
    }
    definition.folder = folder(of: path)
    return Pipeline(definition: definition, path: path, text: text, catalog: catalog)
  }

  /// All problems of a pipeline's file, and its text.
  func problems(at path: String) throws(SpoolError) -> (problems: [Problem], text: String) {
    try checkPluginFolder()
    let path = pipelinePath(path)
    let text = try read(path)
    let registry = registry(beside: path)
    let catalog = StageCatalog.builtIn.adding(registry)
    let parsed = ParsedPipeline(text, knownKinds: catalog.kinds)
    return (allProblems(parsed, at: path, catalog, registry), text)
  }

  /// Problems of the text and of the kinds that it names.
  private func allProblems(
    _ parsed: ParsedPipeline, at path: String, _ catalog: StageCatalog, _ registry: PluginRegistry
  ) -> [Problem] {
    var problems = parsed.problems
    if var definition = parsed.definition {
      definition.folder = folder(of: path)
      problems += Plan.problems(in: definition, catalog: catalog).filter { !problems.contains($0) }
      let advice = registry.problems(with: definition, catalog, earlier: earlierPlugins)
      // Plugin advice replaces the generic message about an unknown kind.
      let places = Set(advice.compactMap(\.location))
      problems = problems.filter { !($0.location.map { places.contains($0) } ?? false) } + advice
    }
    return PlanError(problems: problems).problems
  }

  /// Splits `name=value`; nil for anything else.
  static func assignment(_ text: String) -> (name: String, value: String)? {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return (String(parts[0]), String(parts[1]))
  }

  /// Binds a pipeline to files and overrides.
  /// - Parameter checksEquipment: whether missing programs of stages are problems.
  func plan(
    _ pipeline: Pipeline, inputs: [String: String], overrides: [String],
    checksEquipment: Bool = true
  ) throws(SpoolError) -> Plan {
    let overrides = try parse(overrides)
    MediaLibraries.beginOpening()
    do {
      return try Plan(
        pipeline.definition, catalog: pipeline.catalog, inputs: inputs, overrides: overrides,
        checksEquipment: checksEquipment)
    } catch {
      throw refusal(error.problems, in: pipeline.text, at: pipeline.path)
    }
  }

  /// The error that shows problems of a file and of what is typed for its variables.
  /// - Parameter text: nil if none of it may be shown.
  func refusal(_ problems: [Problem], in text: String?, at path: String) -> SpoolError {
    let typed = problems.count { $0.override != nil }
    let place = typed == 0 ? path : typed == problems.count ? "--set" : "\(path) and --set"
    return SpoolError(
      "\(Count.of(problems.count, "problem")) in \(place)",
      reason: problems.excerpts(of: text, at: path, isColored: console.isColored),
      kind: .invalid)
  }

  /// The absolute path.
  func absolute(_ path: String) -> String {
    let folder = FilePath.absolute("")
    guard !path.hasPrefix("/"), !folder.isEmpty else { return path }
    return folder + "/" + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
  }

  /// The absolute path of a file's folder.
  func folder(of path: String) -> String {
    "/" + absolute(path).pathNames.dropLast().joined(separator: "/")
  }

  /// Parses `--set` options, by variable.
  func parse(_ overrides: [String]) throws(SpoolError) -> [String: DocumentNode] {
    var result: [String: DocumentNode] = [:]
    for override in overrides {
      let (name, value) = try assignment(ofSet: override)
      result[name] = DocumentNode(.typed(value), at: .commandLine)
    }
    return result
  }

  /// The variable and the value of `--set`.
  func assignment(ofSet text: String) throws(SpoolError) -> (name: String, value: String) {
    guard let (name, value) = Self.assignment(text), !name.isEmpty else {
      throw .usage(
        "\(option: .set) \(text) names no variable and value",
        advice: "\(option: .set) name=value, with a variable of the pipeline")
    }
    return (name, value)
  }

  /// `--set` options as typed, by variable.
  func texts(_ overrides: [String]) -> [String: String] {
    Dictionary(overrides.compactMap { Self.assignment($0) }, uniquingKeysWith: { $1 })
  }

  /// Warns of `--set` options for variables that no stage uses.
  func warnOfUnused(_ overrides: [String], in definition: PipelineDefinition) {
    for name in definition.unusedVariables where texts(overrides)[name] != nil {
      console.report(
        "warning: \(option: .set) \(name) changes nothing: no stage of \(definition.name) uses the "
          + "variable $\(name)")
    }
  }

  private func read(_ path: String) throws(SpoolError) -> String {
    try refuseRecording(at: path)
    do throws(SpoolError) { return try TextFile.read("the pipeline", path) } catch {
      var advice = "check the path; spool pipeline new writes a pipeline to start from"
      let named = NamedPipelines()
      let meant = error.kind == .missing ? named.nearest(to: path) : nil
      let near = meant.map { "; did you mean \(ShellWords.visible(path: $0))?" } ?? ""
      if NamedPipelines.isName(path) {
        let known = named.all.map(\.name)
        advice =
          (known.isEmpty
            ? "name a file" : "name a file, or one of " + known.joined(separator: ", "))
          + "; names are looked up as NAME.yaml in " + named.folders.joined(separator: ", ")
      }
      throw .usage(error.message + near, reason: error.reason, advice: advice)
    }
  }
}

/// Options that several commands read alike.
extension CommandContext {
  /// The maximum number of results; 0 stands for all.
  /// - Parameter verb: what is done to all.
  func limit(_ option: Option<Int>, all verb: String) throws(SpoolError) -> Int {
    try Self.limit(arguments[option], all: verb)
  }

  /// The newest results, as many as are wanted, and a note for people where there are more.
  /// - Parameters:
  ///   - count: how many are shown without the option; with --json all are.
  ///   - read: reads at most so many.
  func newest<Result>(
    _ option: Option<Int?>, otherwise count: Int, all verb: String,
    _ read: (Int) throws(SpoolError) -> [Result]
  ) throws(SpoolError) -> (results: [Result], note: String?) {
    let limit =
      if let typed = arguments[option] { try Self.limit(typed, all: verb) } else {
        isJSON ? Int.max : count
      }
    // One more tells whether there are more.
    let results = try read(limit == .max ? .max : limit + 1)
    guard results.count > limit else { return (results, nil) }
    return (
      results.dropLast(), "note: there are more than these \(limit): --limit 0 \(verb) all"
    )
  }

  /// As `limit(_:all:)`, for a number as typed.
  private static func limit(_ limit: Int, all verb: String) throws(SpoolError) -> Int {
    guard limit >= 0 else {
      throw .usage("--limit is 0 or more, not \(limit)", advice: "0 \(verb) all")
    }
    return limit == 0 ? .max : limit
  }
}

/// Results on standard output: JSON with `--json`, else text.
extension CommandContext {
  /// Reports the error that ends the command. A command that prints events prints it as one too.
  func report(_ error: SpoolError) {
    if isJSON, ["run", "resume", "batch"].contains(arguments.command.name) {
      console.print(json: JSONLine(error))
    }
    console.report(error.text(console))
  }

  func answer(_ value: some Encodable, _ text: @autoclosure () -> String) {
    if isJSON { console.print(json: value) } else { console.print(console.completed(text())) }
  }

  func answer(_ value: Value, _ text: @autoclosure () -> String) {
    console.print(isJSON ? value.canonicalJSON : console.completed(text()))
  }

  /// Prints a list: one line of JSON for each value, or a table.
  func answer(list values: [Value], _ table: @autoclosure () -> String) {
    guard isJSON else { return console.print(console.completed(table())) }
    for value in values { console.print(value.canonicalJSON) }
  }

  /// Prints a list: one line of JSON for each value, or a table.
  func answer(list values: [some Encodable], _ table: @autoclosure () -> String) {
    guard isJSON else { return console.print(console.completed(table())) }
    for value in values { console.print(json: value) }
  }
}

/// Finding runs by name.
extension CommandContext {
  /// The run with this name or prefix; `last` is the newest that began its work.
  func run(named name: String, in store: DiskStore) throws(SpoolError) -> RunRecord {
    if let found = try knownRun(named: name, in: store) { return found }
    if name == "last", let refused = try store.runs.newest(limit: 1).first {
      throw .usage(
        "no run has begun its work yet", reason: refused.failure,
        advice: "spool runs show \(refused.id) says more of the last start")
    }
    guard try store.runs.newest(limit: 1).isEmpty else {
      throw .usage("there is no run \"\(name)\"", advice: "spool runs lists them")
    }
    throw .usage(
      noRuns(in: store),
      advice: "spool run PIPELINE INPUT makes the first; --store names another store")
  }

  /// The same; nil if there is none.
  func knownRun(named name: String, in store: DiskStore) throws(SpoolError) -> RunRecord? {
    do throws(SpoolError) {
      return name == "last" ? try store.runs.last() : try store.runs.run(named: name)
    } catch { throw error.asUsage }
  }

  /// The message for a store without runs.
  func noRuns(in store: DiskStore) -> String { "no run yet in \(store.path)" }
}

/// The plugins of a command, and the catalogue with them.
extension CommandContext {
  /// The absolute path of `--plugins`; nil if not given.
  var pluginFolder: String? { plugins.map { ResolvedPath.of(absolute($0)) } }

  /// The plugins that a pipeline may use.
  /// - Parameter path: the pipeline's file; nil if there is none.
  func registry(beside path: String?) -> PluginRegistry {
    PluginRegistry(
      in: PluginRegistry.folders(
        pipeline: path.map(folder), current: FilePath.absolute(""),
        environment: Environment.variables),
      named: plugins.map(absolute), beside: path.map(folder),
      installed: PluginRegistry.installedFolders,
      taken: StageCatalog.builtIn.kinds + StageCatalog.hostedKinds)
  }

  /// The plugins of earlier runs, newest first; empty if no store is set.
  func earlierPlugins() -> [PluginUse] {
    guard let storeOfRuns, DiskStore.isThere(at: storeOfRuns),
      let runs = try? DiskStore(reading: storeOfRuns).runs.newest(limit: 1000)
    else { return [] }
    return runs.flatMap { $0.plugins ?? [] }
  }

  /// Refuses a `--plugins` folder that does not exist.
  func checkPluginFolder() throws(SpoolError) {
    guard let plugins, !isRemembered else { return }
    let stamp = try? FileStamp(following: absolute(plugins))
    if stamp?.isFolder == true { return }
    throw .usage(
      "there are no plugins in \(plugins)",
      reason: stamp == nil ? "there is no such folder" : "it is no folder",
      advice: "--plugins DIR, or SPOOL_PLUGINS, names a folder in which plugins have theirs")
  }

  /// The built-in stage kinds and those of plugins.
  func catalog(beside path: String?) -> StageCatalog {
    StageCatalog.builtIn.adding(registry(beside: path))
  }

  /// The stage kinds for the current folder.
  func checkedCatalog() throws(SpoolError) -> StageCatalog {
    try checkPluginFolder()
    return catalog(beside: nil)
  }
}
