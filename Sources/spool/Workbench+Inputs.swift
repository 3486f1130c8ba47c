import Glibc
import PipelineModel

/// Which file is which input.
extension Workbench {
  /// Gives each file its input: `name=path`, or in the order of the pipeline's inputs. `name=` says
  /// that there is none, for an input that may stay away.
  func bind(
    _ arguments: [String], to pipeline: Pipeline, store: String?
  ) throws(Refusal) -> [String: String] {
    var bound: [String: String] = [:]
    var declined: Set<String> = []
    var free = pipeline.definition.inputs.map(\.name)
    let names = Set(free)
    var unnamed: [String] = []
    for argument in arguments {
      if let (name, path) = Self.assignment(argument), names.contains(name) {
        let isOptional = pipeline.definition.inputs.contains { $0.name == name && $0.isOptional }
        if path.isEmpty, isOptional {
          declined.insert(name)
          free.removeAll { $0 == name }
          continue
        }
        let list = pipeline.definition.inputs.first { $0.name == name && $0.isList }
        let place = list.map { $0.place($0.names(in: Set(bound.keys)).count + 1) } ?? name
        guard bound[place] == nil else {
          throw Refusal(
            text: "\(console.red("error:")) the input \(name) was given twice", code: .usage)
        }
        bound[place] = absolute(path)
        free.removeAll { $0 == name }
      } else {
        try refuseUnknownName(argument, among: pipeline)
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
    for path in bound.values.sorted() { try refuseUnnameable(path) }
    bound = withTranscript(bound, in: pipeline, declined: declined, store: store)
    return try bound.merging(sessionTracks(pipeline, bound)) { given, _ in given }
  }

  /// Refuses `notes=a.m4a` where the input is called `note`, unless a file is called just that.
  private func refuseUnknownName(
    _ argument: String, among pipeline: Pipeline
  ) throws(Refusal) {
    guard let (name, path) = Self.assignment(argument), !name.contains("/"),
      unsafe access(argument, F_OK) != 0
    else { return }
    let names = pipeline.definition.inputs.map(\.name)
    let nearest = Problem.nearest(to: name, in: names)
    let isFile = unsafe access(path, F_OK) == 0
    guard nearest != nil || isFile else { return }
    throw Refusal(
      text: """
        \(console.red("error:")) \(pipeline.definition.name) has no input "\(name)"
        why:   its inputs are \(names.joined(separator: ", "))
        next:  \(nearest ?? names.first ?? "name")=\(path)
        """, code: .usage)
  }

  /// Refuses a name that is not text, which arrives here mended and leads to no file.
  private func refuseUnnameable(_ path: String) throws(Refusal) {
    guard path.contains("\u{FFFD}"), unsafe access(path, F_OK) != 0 else { return }
    throw Refusal(
      text: """
        \(console.red("error:")) cannot take \(path)
        why:   its name is not UTF-8 text, and shows here as well as it can be written
        next:  rename it: convmv -f latin1 -t utf8 helps with many
        """, code: .usage)
  }

  /// What exports call the inputs, where they are not called as their files are.
  func names(of inputs: [String: String], in pipeline: Pipeline) -> [String: String]? {
    SessionTracks(pipeline.definition, pipeline.catalog)?.names(in: inputs)
  }

  /// The tracks that a session file names, where nobody else did.
  private func sessionTracks(
    _ pipeline: Pipeline, _ bound: [String: String]
  ) throws(Refusal) -> [String: String] {
    guard let rule = SessionTracks(pipeline.definition, pipeline.catalog),
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
}
