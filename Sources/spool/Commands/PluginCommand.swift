import Arguments
import PipelineModel
import PluginHost

/// `spool plugin`: stages that anyone writes, in any language.
struct PluginCommand: Command {
  /// What is to be done.
  enum Action: String, CaseIterable, ArgumentValue {
    case list, show, check, test, new
  }

  private static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, list.")
  private static let words = Positional<[String]>.repeated(
    "PLUGIN", minimum: 0, help: "A plugin's name or folder; the name of a new one.",
    completion: .folder)
  private static let language = Option<ScaffoldLanguage?>.value(
    "lang", "LANGUAGE", help: "With new: what it is written in.", defaultText: "python")
  private static let folder = Option<String?>.value(
    "dir", "DIR", help: "With new: the folder in which the plugin's folder is made.",
    defaultText: "Plugins", completion: .folder)

  private static let parameters = Option<[String]>.values(
    "set", "NAME=VALUE", help: "With test: a parameter that is not to have its default.")

  private static let only = Option<[String]>.values(
    "only", "CHECK", help: "With test: run only this check, such as latency.")

  static let declaration = CommandDeclaration(
    name: "plugin", group: "Pipelines",
    summary: "Make, list, check and test plugins: stages in any language.",
    discussion: """
      list shows every plugin that is found here and how it stands. show tells what one offers. check \
      reports every problem of its manifest, each with its place, and what is missing on this machine; \
      without a name, of all plugins. new writes a plugin that works, with a pipeline to try it and a \
      test. test starts a plugin again and again and holds it to the protocol: silence, odd lengths, \
      sample rates, channels, the cutting into blocks, two equal runs, going on after it was killed, \
      parameters at their limits.

      A plugin is a folder with a plugin.yaml. It is looked for where --plugins says, in the folders \
      Plugins beside the pipeline and beside the pipeline's folder, in Plugins of the current folder, \
      and in ~/.local/share/spool/plugins. A folder that was not named is left out where others can \
      write into it. These commands look as a pipeline in the current folder would.

      The exit code is 2 if check finds a problem, and 4 if a plugin fails its test.
      """,
    positionals: [action, words],
    options: [language, folder, parameters, only, Options.plugins, Options.json],
    examples: [
      Example("Begin a plugin in Python", "spool plugin new warmth --lang python"),
      Example("Does it keep to the protocol?", "spool plugin test Plugins/warmth"),
      Example("What is here?", "spool plugin list"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let desk = PluginDesk(
      bench: Workbench(console: console, plugins: arguments[Options.plugins]),
      isJSON: arguments[Options.json])
    let words = arguments[Self.words]
    do throws(Workbench.Refusal) {
      try desk.bench.checkPluginFolder()
      switch (arguments[Self.action] ?? .list, words.count) {
      case (.list, 0): return PluginList(desk: desk).run()
      case (.show, 1): return try PluginPage(desk: desk, name: words[0]).run()
      case (.check, _): return try PluginReview(desk: desk, names: words).run()
      case (.test, 1):
        return try PluginTrial(
          desk: desk, name: words[0], parameters: arguments[Self.parameters],
          only: arguments[Self.only]
        ).run()
      case (.new, 1):
        return try PluginStart(
          desk: desk, name: words[0], language: arguments[Self.language] ?? .python,
          folder: arguments[Self.folder] ?? "Plugins"
        ).run()
      default:
        throw Workbench.Refusal(
          text: "\(console.red("error:")) that is not what spool plugin takes\n"
            + "next:  spool plugin list, show NAME, check [DIR], test DIR, or new NAME",
          code: .usage)
      }
    } catch {
      console.report(error.text)
      return error.code
    }
  }
}
