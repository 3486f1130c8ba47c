import Glibc
import PipelineFile
import PipelineModel

/// A session file and the list of recordings that it fills: where a stage takes both, and the
/// session was given but the list was not, the list is what the session names.
struct SessionTracks {
  /// The port that takes a session file.
  private static let port = PortName("session")

  /// The input that is the session.
  let session: InputDefinition
  /// The list that it fills.
  let list: InputDefinition

  /// What a pipeline leaves to a session; nil where there is nothing of the kind.
  init?(_ definition: PipelineDefinition, _ catalog: StageCatalog) {
    func input(_ reference: String?) -> InputDefinition? {
      definition.inputs.first { reference == "$\($0.name)" }
    }
    for step in definition.steps {
      guard let ports = catalog[step.kind.value]?.descriptor.inputs,
        ports.contains(where: { $0.name == Self.port }),
        let session = input(Self.reference(of: step))
      else { continue }
      let sources: [String]
      switch step.from {
      case .ordered(let references): sources = references.map(\.value)
      case .named(let references): sources = references.map(\.value.value)
      case nil: sources = definition.inputs.filter(\.isList).map { "$\($0.name)" }
      }
      if let list = sources.compactMap({ input($0) }).first(where: \.isList) {
        self.session = session
        self.list = list
        return
      }
    }
    return nil
  }

  /// The session's path, where it has to say what the tracks are.
  func path(in bound: [String: String]) -> String? {
    list.names(in: Set(bound.keys)).isEmpty ? bound[session.name] : nil
  }

  /// What exports call the tracks: the mix of a session is called as the session is.
  func names(in bound: [String: String]) -> [String: String] {
    guard let path = bound[session.name] else { return [:] }
    return Dictionary(
      list.names(in: Set(bound.keys)).map { ($0, path) }, uniquingKeysWith: { first, _ in first })
  }

  /// The tracks that a session names, by the places of the list, and what is wrong with it. A path
  /// that is not absolute begins at the session file's folder. A session of which no channel names
  /// a file takes its tracks beside it; one of which some do must say what the others play.
  func tracks(_ text: String, at path: String) -> (paths: [String: String], problems: [Problem]) {
    let parsed = ParsedSession(text)
    var problems = parsed.problems
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    var paths: [String: String] = [:]
    for (index, file) in parsed.definition.files(from: folder).enumerated() {
      paths[list.place(index + 1)] = file.value
      if unsafe access(file.value, R_OK) != 0 {
        problems.append(
          Problem(
            at: file.location,
            "the track \(file.value) cannot be read: \(unsafe String(cString: strerror(errno)))",
            allowed: "a path from the session file's folder"))
      }
    }
    if paths.isEmpty, problems.isEmpty {
      problems.append(
        Problem(
          at: nil, "the session names no files",
          allowed: "file: PATH in every channel; or the tracks behind the session, in the order of "
            + "its channels: \(path) TRACK…"))
    } else if !paths.isEmpty {
      for channel in parsed.definition.channels where channel.file == nil && channel.name == nil {
        problems.append(
          Problem(
            at: channel.location, "the channel has neither a file nor a name",
            allowed: "file: a path from the session file's folder; name: for a track that an "
              + "earlier step gives"))
      }
    }
    return (paths, problems)
  }

  /// The input that a step's session port refers to, as written.
  private static func reference(of step: StepDefinition) -> String? {
    if case .named(let references) = step.from, let reference = references[port.name] {
      return reference.value
    }
    guard case .mapping(let entries) = step.parameters.content,
      case .scalar(let text, _)? = entries.first(where: { $0.key == port.name })?.value.content
    else { return nil }
    return text
  }
}
