import Arguments
import Glibc
import Media
import PipelineEngine
import PipelineFile
import PipelineModel
import PluginHost
import Proof
import Stages
import Store

/// What most commands need: the catalogue, a pipeline read from its file, the store.
struct Workbench {
  let console: Console
  /// The folder of `--plugins` as it was typed, or of `SPOOL_PLUGINS`.
  let plugins: String?
  /// Whether that is what an earlier run was given.
  private(set) var isRemembered = false
  /// A store whose runs tell which plugins there were.
  var storeOfRuns: String?

  /// - Parameter plugins: `--plugins` as typed.
  init(console: Console, plugins: String? = nil) {
    self.console = console
    self.plugins = plugins ?? Environment.variables["SPOOL_PLUGINS"]
  }

  /// The same, and where nothing was typed, the folder that an earlier run was given.
  init(console: Console, plugins: String?, rememberedBy earlier: RunRecord) {
    self.init(console: console, plugins: plugins ?? earlier.request?.pluginFolder)
    isRemembered = plugins == nil
  }

  /// A command that ended before its work: what to tell, and the exit code.
  struct Refusal: Error {
    let text: String
    let code: ExitCode
    /// Whether the disk of the store is full.
    var isFullDisk = false
  }

  /// A pipeline as read from a file.
  struct Pipeline {
    let definition: PipelineDefinition
    let path: String
    let text: String
    /// The stage kinds that it may use.
    let catalog: StageCatalog
  }

  /// Reads a pipeline's file; every problem that shows without inputs is reported.
  func pipeline(at path: String) throws(Refusal) -> Pipeline {
    try pipeline(read(path), from: path)
  }

  /// Reads a pipeline from its text; `path` is where it lay.
  func pipeline(_ text: String, from path: String) throws(Refusal) -> Pipeline {
    try checkPluginFolder()
    let shelf = shelf(beside: path)
    let catalog = StageCatalog.builtIn.adding(shelf)
    let parsed = ParsedPipeline(text, knownKinds: catalog.kinds)
    guard var definition = parsed.definition, parsed.problems.isEmpty else {
      throw refusal(allProblems(parsed, at: path, catalog, shelf), in: text, at: path)
    }
    definition.folder = folder(of: path)
    guard definition.steps.allSatisfy({ catalog[$0.kind.value] != nil }) else {
      throw refusal(allProblems(parsed, at: path, catalog, shelf), in: text, at: path)
    }
    return Pipeline(definition: definition, path: path, text: text, catalog: catalog)
  }

  /// All the problems of a pipeline's file, and its text.
  func problems(at path: String) throws(Refusal) -> (problems: [Problem], text: String) {
    try checkPluginFolder()
    let text = try read(path)
    let shelf = shelf(beside: path)
    let catalog = StageCatalog.builtIn.adding(shelf)
    let parsed = ParsedPipeline(text, knownKinds: catalog.kinds)
    return (allProblems(parsed, at: path, catalog, shelf), text)
  }

  /// What the file says wrongly, and what the catalogue finds wrong with the rest.
  private func allProblems(
    _ parsed: ParsedPipeline, at path: String, _ catalog: StageCatalog, _ shelf: PluginShelf
  ) -> [Problem] {
    var problems = parsed.problems
    if var definition = parsed.definition {
      definition.folder = folder(of: path)
      problems += Plan.problems(in: definition, catalog: catalog).filter { !problems.contains($0) }
      let advice = PluginAdvice(shelf, earlier: earlierPlugins).problems(with: definition, catalog)
      // Where a plugin would have the kind, there is more to say than that nothing has it.
      let places = Set(advice.compactMap(\.location))
      problems = problems.filter { !($0.location.map { places.contains($0) } ?? false) } + advice
    }
    return PlanError(problems: problems).problems
  }

  /// The two sides of `name=value`; nil for anything else.
  static func assignment(_ text: String) -> (name: String, value: String)? {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return (String(parts[0]), String(parts[1]))
  }

  /// Binds a pipeline to files and overrides.
  /// - Parameter checksEquipment: whether what its stages lack on this machine is a problem.
  func plan(
    _ pipeline: Pipeline, inputs: [String: String], overrides: [String],
    checksEquipment: Bool = true
  ) throws(Refusal) -> Plan {
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

  /// The refusal that shows a file's problems.
  func refusal(_ problems: [Problem], in text: String, at path: String) -> Refusal {
    let excerpt = SourceExcerpt(text, path: path, isColored: console.isColored)
    let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
    return Refusal(
      text: excerpt.render(problems) + "\n\(count) in \(Format.visible(path))", code: .usage)
  }

  /// A path that does not depend on the current folder.
  func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/"
      + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
  }

  /// The folder of a file, as a path that does not depend on the current one.
  func folder(of path: String) -> String {
    "/" + absolute(path).split(separator: "/").dropLast().joined(separator: "/")
  }

  /// Where the keys lie that receipts are signed and checked with.
  /// - Parameter passphraseFile: `--passphrase-file`, for commands that sign.
  func keyFolder(at option: String?, passphraseFile: String? = nil) -> KeyFolder {
    KeyFolder(
      absolute(KeyFolder.locate(option: option, environment: Environment.variables)),
      passphrases: PassphraseDesk(file: passphraseFile))
  }

  /// Who signs receipts.
  func witness(
    keys option: String?, passphraseFile: String?, ledger: any ReceiptLedger & StampQueue & RunLog
  ) -> ReceiptWitness {
    ReceiptWitness(
      keys: keyFolder(at: option, passphraseFile: passphraseFile), ledger: ledger,
      version: Spool.version)
  }

  /// Asks for the passphrase of the signing key, if it has one: before any work, and before a
  /// progress board is drawn where the answer is typed.
  func unlock(_ witness: ReceiptWitness) throws(Refusal) {
    do throws(StageError) { try witness.unlock() } catch {
      throw Refusal(text: ErrorText(error).render(console), code: .failed)
    }
  }

  /// What `--set` says, by variable.
  func parse(_ overrides: [String]) throws(Refusal) -> [String: DocumentNode] {
    var result: [String: DocumentNode] = [:]
    for override in overrides {
      guard let (name, text) = Self.assignment(override), !name.isEmpty,
        let value = YAMLDocument(text).root
      else {
        throw Refusal(
          text: """
            \(console.red("error:")) --set \(override) cannot be understood
            next:  --set name=value, with a variable of the pipeline
            """, code: .usage)
      }
      result[name] = value
    }
    return result
  }

  /// What `--set` says, as typed.
  func texts(_ overrides: [String]) -> [String: String] {
    Dictionary(overrides.compactMap { Self.assignment($0) }, uniquingKeysWith: { $1 })
  }

  private func read(_ path: String) throws(Refusal) -> String {
    do throws(TextFileError) { return try TextFile.read(path) } catch {
      throw Refusal(
        text: """
          \(console.red("error:")) cannot read the pipeline \(Format.visible(path))
          why:   \(error.reason)
          next:  check the path; spool new writes a pipeline to start from
          """, code: .usage)
    }
  }
}
