import Delivery
import PipelineModel
import Platform
import SoundEngine
import Store

extension Command {
  /// `spool completion`: completion for the shell, and manual pages.
  static let completion = Command(
    name: "completion", group: "Care",
    summary: "Print the completion script of a shell, or a manual page.",
    discussion: """
      The scripts know the names of runs and their stages, recordings, stage kinds, pipelines and \
      variables: they ask \
      spool completion names, which prints one name a line and reads the store that the words behind \
      -- name.
      """,
    positionals: [Options.form, Options.words],
    examples: [
      Example(
        "For bash", "spool completion bash > ~/.local/share/bash-completion/completions/spool"),
      Example("For zsh", "spool completion zsh > ~/.zfunc/_spool"),
      Example("For fish", "spool completion fish > ~/.config/fish/completions/spool.fish"),
      Example("Read a manual page", "spool completion man store check | man -l -"),
    ],
    perform: CommandContext.printCompletion)
}

extension Options {
  fileprivate enum Form: String, CaseIterable, ArgumentValue {
    case bash, zsh, fish, man, names
  }

  fileprivate static let form = Positional<Form>.required(
    "SHELL", help: "The shell; man, for a manual page; names, for names that a script asks for.")
  fileprivate static let words = Positional<[String]>.repeated(
    "WORD", minimum: 0,
    help: "With man: the command or its group; left out, the whole program. With names: "
      + "\(NameKind.allCases.map(\.rawValue).joined(separator: ", ")); then the words typed so far.",
    completion: NameKind.commands.hint())
}

/// What `spool completion names` lists.
enum NameKind: String, CaseIterable {
  case runs, recordings, stages, pipelines, variables
  /// Runs that spool resume takes.
  case openRuns = "open-runs"
  /// The stages of the run that is among the words typed.
  case runStages = "run-stages"
  /// The pipelines of the store's runs.
  case ranPipelines = "ran-pipelines"
  /// What `spool completion` takes behind its first word.
  case commands
  /// Tags that files can be given.
  case tags
  /// The names in destinations.yaml.
  case destinations

  /// The hint that offers these names, and files if `extensions` is not nil.
  func hint(orFiles extensions: [String]? = nil) -> CompletionHint {
    .names(rawValue, orFiles: extensions)
  }
}

extension CommandContext {
  fileprivate func printCompletion() throws(SpoolError) -> ExitCode {
    let words = arguments[Options.words]
    let form = arguments[Options.form]
    switch form {
    case .bash where words.isEmpty: console.draw(CompletionScript.bash(Spool.program).text)
    case .zsh where words.isEmpty: console.draw(CompletionScript.zsh(Spool.program).text)
    case .fish where words.isEmpty: console.draw(CompletionScript.fish(Spool.program).text)
    case .man:
      guard let subject = Spool.program.helpSubject(words) else {
        throw .usage(
          "there is no command \(words.joined(separator: " "))", advice: "spool help completion")
      }
      console.draw(Spool.program.manPage(for: subject))
    case .names:
      guard let kind = words.first.flatMap(NameKind.init) else {
        throw .usage(
          "names of what?",
          advice: NameKind.allCases.map { "spool completion names \($0.rawValue)" }
            .joined(separator: ", "))
      }
      for name in names(kind, typed: words.dropFirst()) { console.print(name) }
    case .bash, .zsh, .fish:
      throw .usage("a script is for all commands", advice: "spool help completion")
    }
    return .done
  }

  /// The names of a kind. What cannot be read has none: a shell that completes a word shows no errors.
  private func names(_ kind: NameKind, typed: ArraySlice<String>) -> [String] {
    switch kind {
    case .runs:
      let runs = try? Self.store(for: typed)?.runs.newest(limit: Self.offeredNames)
      return runs.map { $0.map(\.id.name) + ($0.isEmpty ? [] : ["last"]) } ?? []
    case .recordings:
      let query = RecordingQuery(limit: Self.offeredNames)
      return (try? Self.store(for: typed)?.recordings.matching(query).map(\.key.name)) ?? []
    case .stages: return (try? checkedCatalog().kinds) ?? []
    case .pipelines: return NamedPipelines().all.map(\.name)
    case .openRuns:
      let runs = try? Self.store(for: typed)?.runs.open()
      return runs?.prefix(Self.offeredNames).map(\.id.name) ?? []
    case .runStages: return stages(typed)
    case .ranPipelines:
      let runs = try? Self.store(for: typed)?.runs.newest(limit: 1000)
      return Set(runs?.map(\.pipeline) ?? []).sorted()
    case .commands: return Self.commands(typed)
    case .destinations: return (try? destinations().all.map(\.name)) ?? []
    case .tags: return StatedTags.names.map { $0 + "=" }
    case .variables:
      let named = typed.lazy.filter { !$0.hasPrefix("-") }.compactMap { try? pipeline(at: $0) }
        .first
      return (named?.definition.variables.map { $0.name + "=" } ?? []).sorted()
    }
  }

  /// The stages of the run that the typed words name, and the two ends of its sound where they are
  /// taken. The words may begin with the command's name.
  private func stages(_ typed: ArraySlice<String>) -> [String] {
    guard let store = try? Self.store(for: typed) else { return [] }
    let run = typed.dropFirst().lazy.filter { !$0.isEmpty && !$0.hasPrefix("-") }
      .compactMap { try? self.run(named: $0, in: store) }.first
    guard let run else { return [] }
    return run.steps.map(\.id.name) + (typed.first == "play" ? ["before", "after"] : [])
  }

  private static func commands(_ typed: ArraySlice<String>) -> [String] {
    let words = typed.drop { $0 != "man" && $0 != "names" }.filter { !$0.hasPrefix("-") }
    switch words.first {
    case "names" where words.count == 1: return NameKind.allCases.map(\.rawValue)
    case "man" where words.count == 1: return Spool.program.firstWords
    case "man" where words.count == 2:
      let family = Spool.program.families.first { $0.name == words[1] }
      return family.map { Spool.program.members(of: $0).map(\.lastWord) } ?? []
    default: return []
    }
  }

  /// How many runs or recordings are offered, the newest.
  private static let offeredNames = 200

  /// The store that the typed words name, else the usual one; nil if there is none.
  private static func store(for typed: ArraySlice<String>) throws(SpoolError) -> DiskStore? {
    let attached = typed.last { $0.hasPrefix("--store=") }?.dropFirst("--store=".count)
    let place = typed.lastIndex(of: "--store").flatMap {
      typed.dropFirst($0 + 1 - typed.startIndex).first
    }
    let path = storePath(attached.map(String.init) ?? place)
    return DiskStore.isThere(at: path) ? try DiskStore(reading: path) : nil
  }
}
