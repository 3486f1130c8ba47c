import Glibc
import Intake
import PipelineModel
import Platform
import Store

/// Assignment of files to pipeline inputs.
extension CommandContext {
  /// Assigns files to inputs: `name=path`, or by position. `name=` leaves an optional input empty.
  func bind(_ arguments: [String], to pipeline: Pipeline) throws(SpoolError) -> [String: String] {
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
        guard bound[place] == nil else { throw .usage("the input \(name) was given twice") }
        bound[place] = absolute(path)
        free.removeAll { $0 == name }
      } else {
        try refuseUnknownName(argument, among: pipeline)
        unnamed.append(argument)
      }
    }
    // A list takes what the required inputs leave.
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
      let list = pipeline.definition.inputs.map(\.name).joined(separator: ", ")
      throw .usage(
        "\(pipeline.definition.name) takes \(Count.of(names.count, "input")) (\(list)), and "
          + "\(arguments.count) were given", advice: "run spool once for each recording")
    }
    for (name, path) in zip(free, unnamed) { bound[name] = absolute(path) }
    for path in bound.values.sorted() { try requireInput(path) }
    try refuseSound(in: bound, of: pipeline.definition)
    bound = try withTranscript(bound, in: pipeline, declined: declined)
    return try bound.merging(sessionTracks(pipeline, bound)) { given, _ in given }
  }

  /// Refuses what is no file, and says of a recording that the store has how its files are got.
  private func requireInput(_ path: String) throws(SpoolError) {
    do throws(SpoolError) { try requireFile(path) } catch {
      let name = path.pathNames.last ?? path
      guard !FilePath.exists(path), path == absolute(name), DiskStore.isThere(at: storePath)
      else { throw error }
      let store = try existingStore()
      guard let recording = try? knownRecording(named: name, in: store) else { throw error }
      let pipeline = arguments.texts(of: Options.pipeline.declaration)
      throw .usage(
        "there is no file \(name) in this folder",
        reason: "it is the recording \(recording.key), which lies in the store",
        advice: try way(
          ofRunning: ["spool"] + arguments.command.name.split(separator: " ").map(String.init)
            + pipeline,
          on: recording, in: store))
    }
  }

  /// The commands that give a recording of the store back, with the text and the sidecar that came with
  /// it, and run something on it.
  func way(
    ofRunning command: [String], on recording: Recording, in store: DiskStore
  ) throws(SpoolError) -> String {
    let file = "originals/" + (try store.originalName(of: recording))
    return StoreOption(namedStore).completing(
      "\(command: .inboxExport) \(recording.key) --to originals && "
        + ShellWords.line(command + [file]))
  }

  /// Rejects `notes=a.m4a` if the input is called `note`, unless a file has that very name.
  private func refuseUnknownName(_ argument: String, among pipeline: Pipeline) throws(SpoolError) {
    guard let (name, path) = Self.assignment(argument), !name.contains("/"),
      !FilePath.exists(argument)
    else { return }
    let names = pipeline.definition.inputs.map(\.name)
    let nearest = Problem.nearest(to: name, in: names)
    let isFile = FilePath.exists(path)
    guard nearest != nil || isFile else { return }
    throw .usage(
      "\(pipeline.definition.name) has no input \"\(name)\"",
      reason: "its inputs are \(names.joined(separator: ", "))",
      advice: "\(nearest ?? names.first ?? "name")=\(path)")
  }

  /// Names for exports, where they differ from the file names.
  func names(of inputs: [String: String], in pipeline: Pipeline) -> [String: String]? {
    SessionTracks(pipeline.definition, pipeline.catalog)?.names(in: inputs)
  }

  /// The tracks that a session file names, unless the user gave them.
  private func sessionTracks(
    _ pipeline: Pipeline, _ bound: [String: String]
  ) throws(SpoolError) -> [String: String] {
    guard let rule = SessionTracks(pipeline.definition, pipeline.catalog),
      let path = bound[rule.session.name]
    else { return [:] }
    let text: String
    do throws(SpoolError) { text = try TextFile.read("the session", path) } catch {
      throw error.asUsage
    }
    let areGiven = !rule.list.names(in: Set(bound.keys)).isEmpty
    let (paths, problems) =
      areGiven ? ([:], ParsedSession(text).problems) : rule.tracks(text, at: path)
    guard problems.isEmpty else { throw refusal(problems, in: text, at: path) }
    return paths
  }
}

/// Files in each other's place.
extension CommandContext {
  /// Refuses a recording where a text is wanted.
  private func refuseSound(
    in bound: [String: String], of definition: PipelineDefinition
  ) throws(SpoolError) {
    let texts = definition.inputs.filter { $0.kind == .transcript }.map(\.name)
    for (place, path) in bound.sorted(by: { $0.key < $1.key }) where texts.contains(place) {
      guard let head = try? FileOperations.system.beginning(of: path, byteCount: 16),
        SoundSign.isCarried(by: head)
      else { continue }
      throw .usage(
        "\(path) is no text",
        reason: "it is a recording, and the input \(place) takes what is said in one",
        advice: "run spool once for each recording, or name its text: \(place)=FILE")
    }
  }

  /// Refuses a recording or a folder in the pipeline's place.
  func refuseRecording(at path: String) throws(SpoolError) {
    guard let stamp = try? FileStamp(following: path), stamp.isRegularFile || stamp.isFolder,
      stamp.isFolder || Self.isBinary(path)
    else { return }
    let usage = ["PIPELINE"] + arguments.command.positionals.dropFirst().map(\.name)
    throw .usage(
      "\(path) is no pipeline",
      reason: (stamp.isFolder ? "it is a folder" : "it is no text, and may be a recording")
        + "; the pipeline comes first",
      advice: "spool \(arguments.command.name) "
        + (swapped(path).map(ShellWords.line) ?? usage.joined(separator: " ")))
  }

  private static func isBinary(_ path: String) -> Bool {
    let bytes = (try? FileOperations.system.beginning(of: path, byteCount: 4096)) ?? []
    return bytes.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D].contains($0) }
  }

  /// The arguments with the pipeline before a file that stands in its place; nil if none of them is
  /// a pipeline.
  private func swapped(_ path: String) -> [String]? {
    let inputs = Options.inputs.declaration.name
    guard arguments.command.positionals.contains(where: { $0.name == inputs }) else { return nil }
    let others = arguments[Options.inputs]
    let named = NamedPipelines()
    guard
      let pipeline = others.first(where: {
        $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") || named.path(of: $0) != nil
      })
    else { return nil }
    return [pipeline, path] + others.filter { $0 != pipeline }
  }

  /// Refuses an argument that names nothing, before any work. What is there and cannot be read fails
  /// later, as a failure of the surroundings.
  func requireThere(_ path: String) throws(SpoolError) {
    guard let error = FilePath.obstacle(to: absolute(path)),
      [.missing, .wrongKind, .link].contains(error.kind)
    else { return }
    if path == "-" || path.hasSuffix("/-") {
      throw .usage(
        "- is no file",
        reason: "Spool does not read standard input: recordings are read more than once",
        advice: "save what comes out of the pipe as a file, and name that file")
    }
    throw SpoolError("read", path, error, advice: "check the path").with(kind: .usage)
  }

  /// Refuses an argument that names nothing, a folder, or a pipe or a device: recordings are read more
  /// than once.
  func requireFile(_ path: String, folderAdvice: String = "name a file") throws(SpoolError) {
    try requireThere(path)
    guard let stamp = try? FileStamp(following: absolute(path)), let complaint = stamp.complaint
    else { return }
    throw .usage(
      "cannot read \(ShellWords.visible(path: path))", reason: complaint,
      advice: stamp.isFolder
        ? folderAdvice : "save what comes out of it as a file, and name that file")
  }

  /// Refuses every address in the place of a file or a folder, of any command.
  func refuseAddresses() throws(SpoolError) {
    for positional in arguments.command.positionals where positional.completion.isPath {
      for text in arguments.texts(of: positional) {
        // An input may be named.
        let path =
          Self.assignment(text).flatMap { Self.isAddress($0.value) ? $0.value : nil } ?? text
        if let refusal = Self.refusal(ofAddress: path) { throw refusal }
      }
    }
    for option in arguments.command.options where option.completion.isPath {
      for text in arguments.texts(of: option) where Self.isAddress(text) {
        throw .usage(
          "--\(option.name) \(text) is an address, and no file or folder",
          reason: "Spool reads and writes files only, and neither downloads nor uploads",
          advice: "name a place on this machine, or one that is mounted here")
      }
    }
  }

  /// The refusal of an address in the place of what is read; nil for a path.
  static func refusal(ofAddress path: String) -> SpoolError? {
    guard isAddress(path) else { return nil }
    return .usage(
      "\(path) is an address, and no file", reason: "Spool downloads nothing",
      advice: "download it first: \(ShellWords.line(["curl", "-O", path]))")
  }

  private static func isAddress(_ path: String) -> Bool {
    guard let scheme = path.firstRange(of: "://").map({ path[..<$0.lowerBound] }), !scheme.isEmpty
    else { return false }
    return scheme.allSatisfy { $0.isASCII && $0.isLetter } && !FilePath.exists(path)
  }
}

/// A session file and the list of recordings that it fills, if a stage takes both and the user gave
/// only the session.
struct SessionTracks {
  /// The port of a session file.
  private static let port = PortName("session")

  /// The session's input.
  let session: InputDefinition
  /// The list's input.
  let list: InputDefinition

  /// Nil if no stage takes a session and a list.
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

  /// Names for exports: a mix is named after its session.
  func names(in bound: [String: String]) -> [String: String] {
    guard let path = bound[session.name] else { return [:] }
    return Dictionary(
      list.names(in: Set(bound.keys)).map { ($0, path) }, uniquingKeysWith: { first, _ in first })
  }

  /// The tracks of a session by list position, and the session's problems. Relative paths start
  /// from the session file's folder. If no channel names a file, the files beside the session are
  /// taken; if some do, all must.
  func tracks(_ text: String, at path: String) -> (paths: [String: String], problems: [Problem]) {
    let parsed = ParsedSession(text)
    var problems = parsed.problems
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    var paths: [String: String] = [:]
    for (index, file) in parsed.definition.files(from: folder).enumerated() {
      paths[list.place(index + 1)] = file.value
      if let error = FilePath.obstacle(to: file.value, R_OK) {
        problems.append(
          Problem(
            at: file.location,
            "the track \(file.value) cannot be read: \(error.words)",
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

  /// The input that a step's session port refers to.
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
