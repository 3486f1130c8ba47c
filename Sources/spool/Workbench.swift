import Arguments
import Glibc
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
    let text = try read(path)
    let parsed = ParsedPipeline(text, knownKinds: catalog.kinds)
    guard let definition = parsed.definition, parsed.problems.isEmpty else {
      let (problems, text) = try problems(at: path)
      throw refusal(problems, in: text, at: path)
    }
    return Pipeline(definition: definition, path: path, text: text)
  }

  /// All the problems of a pipeline's file, and its text.
  func problems(at path: String) throws(Refusal) -> (problems: [Problem], text: String) {
    let text = try read(path)
    let parsed = ParsedPipeline(text, knownKinds: catalog.kinds)
    var problems = parsed.problems
    if let definition = parsed.definition {
      problems += Plan.problems(in: definition, catalog: catalog).filter { !problems.contains($0) }
    }
    return (PlanError(problems: problems).problems, text)
  }

  /// Binds a pipeline to files and overrides.
  func plan(
    _ pipeline: Pipeline, inputs: [String: String], overrides: [String]
  ) throws(Refusal) -> Plan {
    let overrides = try parse(overrides)
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
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, names.contains(String(parts[0])) {
        guard bound[String(parts[0])] == nil else {
          throw Refusal(
            text: "\(console.red("error:")) the input \(parts[0]) was given twice", code: .usage)
        }
        bound[String(parts[0])] = absolute(String(parts[1]))
        free.removeAll { $0 == parts[0] }
      } else {
        unnamed.append(argument)
      }
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
    return bound
  }

  /// Opens the store, and makes it if there is none.
  func store(at option: String?) throws(Refusal) -> DiskStore {
    do {
      return try DiskStore(
        at: StoreLocation.resolve(option: option, environment: Environment.variables))
    } catch {
      throw Refusal(text: ErrorText(StageError(error)).render(console), code: .failed)
    }
  }

  /// Opens the store for a command that only looks.
  func readableStore(at option: String?) throws(Refusal) -> ReadableStore {
    do {
      return try ReadableStore(
        at: StoreLocation.resolve(option: option, environment: Environment.variables))
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

  private func parse(_ overrides: [String]) throws(Refusal) -> [String: DocumentNode] {
    var result: [String: DocumentNode] = [:]
    for override in overrides {
      let parts = override.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let document = YAMLDocument(parts.count == 2 ? String(parts[1]) : "")
      guard parts.count == 2, !parts[0].isEmpty, let value = document.root else {
        throw Refusal(
          text: """
            \(console.red("error:")) --set \(override) cannot be understood
            next:  --set name=value, with a variable of the pipeline
            """, code: .usage)
      }
      result[String(parts[0])] = value
    }
    return result
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
