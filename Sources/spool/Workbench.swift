import Arguments
import Glibc
import Media
import PipelineEngine
import PipelineFile
import PipelineModel
import Stages
import Store

/// What most commands need: the catalogue, a pipeline read from its file, the store.
struct Workbench {
  let catalog = StageCatalog.builtIn
  let console: Console

  /// A command that ended before its work: what to tell, and the exit code.
  struct Refusal: Error {
    let text: String
    let code: ExitCode
  }

  /// A pipeline as read from a file.
  struct Pipeline {
    let definition: PipelineDefinition
    let path: String
    let text: String
  }

  /// Reads a pipeline's file; every problem that shows without inputs is reported.
  func pipeline(at path: String) throws(Refusal) -> Pipeline {
    try pipeline(read(path), from: path)
  }

  /// Reads a pipeline from its text; `path` is where it lay.
  func pipeline(_ text: String, from path: String) throws(Refusal) -> Pipeline {
    let parsed = ParsedPipeline(text, knownKinds: catalog.kinds)
    guard let definition = parsed.definition, parsed.problems.isEmpty else {
      throw refusal(allProblems(parsed), in: text, at: path)
    }
    return Pipeline(definition: definition, path: path, text: text)
  }

  /// All the problems of a pipeline's file, and its text.
  func problems(at path: String) throws(Refusal) -> (problems: [Problem], text: String) {
    let text = try read(path)
    return (allProblems(ParsedPipeline(text, knownKinds: catalog.kinds)), text)
  }

  /// What the file says wrongly, and what the catalogue finds wrong with the rest.
  private func allProblems(_ parsed: ParsedPipeline) -> [Problem] {
    var problems = parsed.problems
    if let definition = parsed.definition {
      problems += Plan.problems(in: definition, catalog: catalog).filter { !problems.contains($0) }
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
  func plan(
    _ pipeline: Pipeline, inputs: [String: String], overrides: [String]
  ) throws(Refusal) -> Plan {
    let overrides = try parse(overrides)
    MediaLibraries.beginOpening()
    do {
      return try Plan(
        pipeline.definition, catalog: catalog, inputs: inputs, overrides: overrides)
    } catch {
      throw refusal(error.problems, in: pipeline.text, at: pipeline.path)
    }
  }

  /// Gives each file its input: `name=path`, or in the order of the pipeline's inputs.
  func bind(_ arguments: [String], to pipeline: Pipeline) throws(Refusal) -> [String: String] {
    var bound: [String: String] = [:]
    var free = pipeline.definition.inputs.map(\.name)
    let names = Set(free)
    var unnamed: [String] = []
    for argument in arguments {
      if let (name, path) = Self.assignment(argument), names.contains(name) {
        let list = pipeline.definition.inputs.first { $0.name == name && $0.isList }
        let place = list.map { $0.place($0.names(in: Set(bound.keys)).count + 1) } ?? name
        guard bound[place] == nil else {
          throw Refusal(
            text: "\(console.red("error:")) the input \(name) was given twice", code: .usage)
        }
        bound[place] = absolute(path)
        free.removeAll { $0 == name }
      } else {
        unnamed.append(argument)
      }
    }
    // A list takes whatever the inputs leave that have to be there.
    let waiting = pipeline.definition.inputs.filter { free.contains($0.name) }
    if let place = waiting.firstIndex(where: \.isList) {
      let list = waiting[place]
      let others = waiting.count { !$0.isOptional } - 1
      let taken = unnamed.dropFirst(place).prefix(max(0, unnamed.count - others))
      for (index, path) in taken.enumerated() { bound[list.place(index + 1)] = absolute(path) }
      unnamed.removeSubrange(taken.indices)
      free.removeAll { $0 == list.name }
    }
    guard unnamed.count <= free.count else {
      throw Refusal(
        text: """
          \(console.red("error:")) \(pipeline.definition.name) takes \
          \(names.count) input\(names.count == 1 ? "" : "s") \
          (\(pipeline.definition.inputs.map(\.name).joined(separator: ", "))), \
          and \(arguments.count) were given
          next:  run spool once for each recording
          """, code: .usage)
    }
    for (name, path) in zip(free, unnamed) { bound[name] = absolute(path) }
    return try bound.merging(sessionTracks(pipeline, bound)) { given, _ in given }
  }

  /// What exports call the inputs, where they are not called as their files are.
  func names(of inputs: [String: String], in pipeline: Pipeline) -> [String: String]? {
    SessionTracks(pipeline.definition, catalog)?.names(in: inputs)
  }

  /// The tracks that a session file names, where nobody else did.
  private func sessionTracks(
    _ pipeline: Pipeline, _ bound: [String: String]
  ) throws(Refusal) -> [String: String] {
    guard let rule = SessionTracks(pipeline.definition, catalog),
      let path = rule.path(in: bound)
    else { return [:] }
    let text: String
    do throws(TextFileError) { text = try TextFile.read(path) } catch {
      throw Refusal(
        text: """
          \(console.red("error:")) cannot read the session \(path)
          why:   \(error.reason)
          next:  check the path
          """, code: .usage)
    }
    let (paths, problems) = rule.tracks(text, at: path)
    guard problems.isEmpty else { throw refusal(problems, in: text, at: path) }
    return paths
  }

  /// Opens the store, and makes it if there is none.
  func store(at option: String?) throws(Refusal) -> DiskStore {
    if let named = option ?? Environment.variables["SPOOL_STORE"], !named.isEmpty {
      try requireParent(of: absolute(named))
    }
    let store = try open(option) { (path) throws(StoreError) in try DiskStore(at: path) }
    return told(store, store)
  }

  /// A folder that was named and is not there is made; one above it that is missing is more likely a
  /// mistake, and is not.
  private func requireParent(of path: String) throws(Refusal) {
    var names = path.split(separator: "/").filter { $0 != "." }
    guard !names.isEmpty, names.removeLast() != ".." else { return }
    let parent = "/" + names.joined(separator: "/")
    guard unsafe access(parent, F_OK) != 0, errno == ENOENT else { return }
    throw Refusal(
      text: ErrorText(
        StageError(
          "cannot make the store \(path)",
          reason: "the folder above it, \(parent), does not exist",
          advice: "make the folder above it, or name another with --store", cause: .environment)
      ).render(console), code: .failed)
  }

  /// Opens the store for a command that only looks.
  func readableStore(at option: String?) throws(Refusal) -> ReadableStore {
    let readable = try open(option) { (path) throws(StoreError) in try ReadableStore(at: path) }
    return told(readable, readable.store)
  }

  /// Opens the store for a command that looks at what was done there: refused where there is none,
  /// which is most likely a slip of the pen.
  func existingStore(at option: String?) throws(Refusal) -> ReadableStore {
    let path = StoreLocation.resolve(option: option, environment: Environment.variables)
    try requireStore(at: path)
    return try readableStore(at: option)
  }

  /// Throws where there is no store.
  func requireStore(at path: String) throws(Refusal) {
    if DiskStore.isThere(at: path) { return }
    let reason =
      unsafe access(path, F_OK) == 0
      ? "nothing that a store is made of lies there" : unsafe String(cString: strerror(errno))
    throw Refusal(
      text: ErrorText(
        StageError(
          "there is no store at \(absolute(path))", reason: reason,
          advice: "name the store's folder with --store; spool run makes one")
      ).render(console), code: .failed)
  }

  /// Says so where a store's database had to be made again.
  private func told<Opened>(_ opened: Opened, _ store: DiskStore) -> Opened {
    if let recovery = store.recovery { console.report("note: \(Format.visible(recovery.line))") }
    store.listen { [console] in console.report("note: \(Format.visible($0))") }
    return opened
  }

  private func open<Opened>(
    _ option: String?, _ body: (String) throws(StoreError) -> Opened
  ) throws(Refusal) -> Opened {
    do {
      return try body(
        StoreLocation.resolve(option: option, environment: Environment.variables))
    } catch {
      throw Refusal(text: ErrorText(StageError(error)).render(console), code: .failed)
    }
  }

  /// The refusal that shows a file's problems.
  func refusal(_ problems: [Problem], in text: String, at path: String) -> Refusal {
    let excerpt = SourceExcerpt(text, path: path, isColored: console.isColored)
    let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
    return Refusal(text: excerpt.render(problems) + "\n\(count) in \(path)", code: .usage)
  }

  /// A path that does not depend on the current folder.
  func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/"
      + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
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
          \(console.red("error:")) cannot read the pipeline \(path)
          why:   \(error.reason)
          next:  check the path; spool new writes a pipeline to start from
          """, code: .usage)
    }
  }
}
