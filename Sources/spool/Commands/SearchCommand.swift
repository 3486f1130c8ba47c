import Arguments
import PipelineModel
import Store

/// `spool search`: where something is said.
struct SearchCommand: Command {
  private static let words = Positional<[String]>.repeated(
    "WORDS", help: "What is looked for: words, \"phrases\", begin*, AND, OR, NOT, NEAR.")
  private static let near = Option<Int?>.value(
    "near", "N", help: "Only where all of it is said with at most so many words between.")
  private static let since = Option<SearchSince?>.value(
    "since", "WHEN", help: "Only what runs have told since: a date, or an age like 30d.")
  private static let pipeline = Option<String?>.value(
    "pipeline", "NAME", help: "Only what this pipeline has told.")
  private static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 20, help: "Show so many; 0 shows all.")
  private static let clip = Option<String?>.value(
    "clip", "FILE", help: "Cut what was found out of its recording, as a WAV file.",
    completion: .files(extensions: ["wav"]))
  private static let hit = Option<Int>.value(
    "hit", "N", default: 1, help: "Which of those found --clip cuts.")
  private static let padding = Option<MediaTime?>.value(
    "padding", "TIME", help: "How much sound --clip leaves before and behind.",
    defaultText: "0.5")

  static let declaration = CommandDeclaration(
    name: "search", group: "History",
    summary: "Find where something is said, in all recordings whose words have times.",
    discussion: """
      Searches the words that runs with a transcript have given their times. Case, accents and \
      punctuation do not count. Several words must all be said in a recording, and where they are \
      said close together, only those places are shown. Words in one argument with spaces are a \
      phrase. In capitals, AND, OR and NOT stand between words: NOT leaves out recordings in which \
      something is said. NEAR, or NEAR/5, wants both within so many words. A star stands for the \
      rest of a word. A number is found as digits and as English words, and so is what is written \
      short: "twenty percent" finds 20 %, and doctor finds Dr.

      Every line is a place: its number, the recording, the time, and what is said there. Places \
      that lie close together are one. What was told last comes first.

      --clip takes the recording, if it is where it was and is the same, and if no stage has moved \
      its sound in time; otherwise the sound that the store has kept. The samples are those of the \
      source, in 24 bits.

      The exit code is 1 if nothing is found.
      """,
    positionals: [words],
    options: [
      near, since, pipeline, limit, clip, hit, padding, Options.replace, Options.store,
      Options.json,
    ],
    examples: [
      Example("A phrase", "spool search \"the quick brown fox\""),
      Example("Words close to each other", "spool search budget NEAR/5 garage --since 30d"),
      Example("Hear the second place", "spool search invoice --clip invoice.wav --hit 2"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    do throws(Workbench.Refusal) {
      try check(console)
      let query = try query(console)
      let bench = Workbench(console: console)
      let readable = try bench.existingStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      let answer = try find(query, in: readable.store, console)
      guard !answer.hits.isEmpty else {
        console.report(nothing(answer, readable.store))
        return .failed
      }
      if let path = arguments[Self.clip] {
        try cut(answer, to: path, from: readable.store, console)
      } else {
        show(answer, console)
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  private func check(_ console: Console) throws(Workbench.Refusal) {
    let limit = arguments[Self.limit]
    if limit < 0 { throw usage("--limit is 0 or more, not \(limit)", "0 shows all", console) }
    if arguments[Self.hit] < 1 {
      throw usage("--hit counts from 1", "spool search WORDS shows the numbers", console)
    }
    if let near = arguments[Self.near], !(0...1000).contains(near) {
      throw usage("--near is 0 to 1000 words, not \(near)", "--near 5", console)
    }
  }

  private func usage(_ what: String, _ next: String, _ console: Console) -> Workbench.Refusal {
    Workbench.Refusal(text: "\(console.red("error:")) \(what)\nnext:  \(next)", code: .usage)
  }

  private func query(_ console: Console) throws(Workbench.Refusal) -> SearchQuery {
    do throws(SearchQueryError) {
      return try SearchQuery(arguments[Self.words], near: arguments[Self.near])
    } catch {
      throw Workbench.Refusal(
        text: ErrorText(StageError(error.message, reason: error.reason, advice: error.advice))
          .render(console), code: .usage)
    }
  }

  private func find(
    _ query: SearchQuery, in store: DiskStore, _ console: Console
  ) throws(Workbench.Refusal) -> SearchAnswer {
    var limits = SearchLimits()
    limits.since = arguments[Self.since]?.time
    limits.pipeline = arguments[Self.pipeline]
    let limit = arguments[Self.limit]
    if arguments[Self.clip] != nil {
      limits.count = arguments[Self.hit]
    } else if limit > 0 {
      limits.count = limit
    }
    do throws(StoreError) {
      let answer = try store.search(query, limits)
      if answer.hasWords { return answer }
    } catch {
      throw Workbench.Refusal(
        text: ErrorText(StageError(error)).render(console), code: .failed)
    }
    throw usage(
      "there is nothing to look for: no letter or digit is in the query", "spool search WORD",
      console)
  }

  private func nothing(_ answer: SearchAnswer, _ store: DiskStore) -> String {
    guard answer.transcripts > 0 else {
      return "there are no words in the store \(Format.visible(store.path))\n"
        + "next:  run a pipeline with a transcript, like Pipelines/words.yaml"
    }
    return "nothing is found in \(Count.of(answer.transcripts, "transcript"))"
  }

  private func show(_ answer: SearchAnswer, _ console: Console) {
    let text = SearchText(answer.hits, console)
    guard !arguments[Options.json] else {
      for line in text.json { console.print(line) }
      return
    }
    for line in text.lines { console.print(line) }
    if answer.hasMore { console.report("more is found; --limit 0 shows all") }
  }

  private func cut(
    _ answer: SearchAnswer, to path: String, from store: DiskStore, _ console: Console
  ) throws(Workbench.Refusal) {
    let number = arguments[Self.hit]
    guard answer.hits.count >= number else {
      throw Workbench.Refusal(
        text: ErrorText(
          StageError(
            "there is no hit \(number)", reason: "\(answer.hits.count) found",
            advice: "spool search WORDS shows the numbers")
        ).render(console), code: .failed)
    }
    let stop = SignalWatch.begin()
    let desk = SearchClip(store: store, padding: arguments[Self.padding]?.seconds ?? 0.5)
    do throws(StageError) {
      let made = try desk.cut(
        answer.hits[number - 1], to: path, isReplacing: arguments[Options.replace],
        mayGoOn: { !stop.isRequested })
      console.print(arguments[Options.json] ? made.json : made.text)
    } catch {
      let code = stop.signalNumber.map { ExitCode.interrupted(by: $0) } ?? .failed
      throw Workbench.Refusal(text: ErrorText(error).render(console), code: code)
    }
  }
}
