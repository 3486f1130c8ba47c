import Glibc
import PipelineModel
import Platform
import Receipts
import Search
import SoundEngine
import Stages
import Store

extension Command {
  /// `spool search`: where something is said.
  static let search = Command(
    name: "search", group: "Recordings",
    summary: "Find where something is said, in all recordings whose words have times.",
    discussion: """
      Searches the words that runs with a transcript have given their times. Case, accents and \
      punctuation do not count. Several words must all be said in a recording, and where they are \
      said close together, only those places are shown. Words in one argument with spaces are a \
      phrase. In capitals, AND, OR and NOT stand between words: NOT leaves out recordings in which \
      something is said. NEAR(fox dog, 5) wants both with at most 5 words between them. A star \
      stands for the rest of a word, and parentheses group. A number is found as digits and as English words, and so is what is written \
      short: "twenty percent" finds 20 %, and doctor finds Dr.

      Every line is a place: its number, the recording, the time, and what is said there. Where another sound \
      is at a path now, the run that found the words is named; spool runs show says more of it. Places that lie close together are one. What was told last comes first.

      --clip takes the recording, if it is where it was and is the same. Where stages have moved its \
      sound in time, it takes the sound that the store has kept, or the stretch of the recording that \
      the words were in before they were moved. The samples are those of the source, in 24 bits.

      The exit code is 1 if nothing is found.
      """,
    positionals: [Options.words],
    options: [
      Options.near, Options.since, Options.pipelineName, Options.limit, Options.clip, Options.hit,
      Options.padding, Options.replace, Options.store, Options.json,
    ],
    examples: [
      Example("A phrase", "spool search \"the quick brown fox\""),
      Example("Words close to each other", "spool search budget garage --near 5 --since 30d"),
      Example("Hear the second place", "spool search invoice --clip invoice.wav --hit 2"),
    ],
    perform: CommandContext.search)
}

extension Options {
  fileprivate static let words = Positional<[String]>.repeated(
    "WORDS", help: "What is looked for: words, \"phrases\", begin*, AND, OR, NOT, NEAR(…).")
  fileprivate static let near = Option<Int?>.value(
    "near", "N", help: "Only where all of it is said with at most so many words between.")
  fileprivate static let since = Option<SearchSince?>.value(
    "since", "WHEN", help: "Only what runs have told since: a date, or an age like 30d.")
  fileprivate static let pipelineName = Option<String?>.value(
    "pipeline", "NAME", help: "Only what this pipeline has told.",
    completion: NameKind.ranPipelines.hint())
  fileprivate static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 20, help: "Show so many; 0 shows all.")
  fileprivate static let clip = Option<String?>.value(
    "clip", "FILE", help: "Cut what was found out of its recording, as a WAV file.",
    completion: .files(extensions: ["wav"]))
  fileprivate static let hit = Option<Int>.value(
    "hit", "N", default: 1, help: "Which of those found --clip cuts.")
  fileprivate static let padding = Option<MediaTime?>.value(
    "padding", "TIME", help: "How much sound --clip leaves before and behind.", defaultText: "0.5")
}

extension CommandContext {
  fileprivate func search() throws(SpoolError) -> ExitCode {
    try check()
    let query: SearchQuery
    do throws(SpoolError) {
      query = try SearchQuery(arguments[Options.words], near: arguments[Options.near])
    } catch { throw error.asUsage }
    let store = try existingStore()
    let answer = try find(query, in: store)
    defer { tell(of: answer.lost, in: store) }
    guard !answer.hits.isEmpty else {
      console.report(nothing(answer, store))
      return .failed
    }
    if let path = arguments[Options.clip] { return try cut(answer, to: path, from: store) }
    show(answer)
    return .done
  }

  /// Says whose words could not be searched.
  private func tell(of lost: [LostWords], in store: DiskStore) {
    for words in lost.prefix(Self.shownLosses) {
      let lines = words.lines(in: store, option: namedStore)
      console.report("note: " + Format.visible(lines: lines))
    }
    if case let rest = lost.count - Self.shownLosses, rest > 0 {
      console.report("note: the words of \(Count.of(rest, "more recording")) are lost")
    }
  }

  private static let shownLosses = 3

  private func check() throws(SpoolError) {
    _ = try limit(Options.limit, all: "shows")
    if arguments[Options.hit] < 1 {
      throw .usage("--hit counts from 1", advice: "spool search WORDS shows the numbers")
    }
    if let near = arguments[Options.near], !(0...1000).contains(near) {
      throw .usage("--near is 0 to 1000 words, not \(near)", advice: "--near 5")
    }
    if let clip = arguments[Options.clip] { try Self.checkName(ofClip: clip) }
  }

  /// Refuses a name that would call a WAV file something else.
  private static func checkName(ofClip path: String) throws(SpoolError) {
    let name = path.pathNames.last ?? ""
    let ending = ExportFormat.wav.fileExtension
    guard !name.lowercased().hasSuffix(ending) || path.hasSuffix("/") else { return }
    let dot = name.lastIndex(of: ".").map { String(name[$0...]) }
    let wanted = String(path.dropLast(dot?.count ?? 0)) + ending
    throw .usage(
      "--clip \(path) is no name of a WAV file",
      reason: "clips are WAV files, whose names end in \(ending)",
      advice: path.isEmpty || path.hasSuffix("/")
        ? "--clip \(path)clip\(ending)"
        : "--clip \(ShellWords.line([wanted])); spool convert makes a clip a file of another format"
    )
  }

  private func find(_ query: SearchQuery, in store: DiskStore) throws(SpoolError) -> SearchAnswer {
    var limits = SearchLimits()
    limits.since = arguments[Options.since]?.time
    limits.pipeline = arguments[Options.pipelineName]
    let limit = arguments[Options.limit]
    if arguments[Options.clip] != nil {
      limits.count = arguments[Options.hit]
    } else if limit > 0 {
      limits.count = limit
    }
    do throws(SpoolError) {
      var answer = try WordSearch(store).answer(query, limits)
      answer.hits = try store.placed(answer.hits)
      return answer
    } catch { throw error.cause == .input ? error.asUsage : error }
  }

  private func nothing(_ answer: SearchAnswer, _ store: DiskStore) -> String {
    guard answer.transcripts > 0 else {
      return
        "there are no words in the store \(Format.visible(store.path)): a run of a pipeline with "
        + "a transcript, like words, brings them"
    }
    return "nothing is found in \(Count.of(answer.transcripts, "transcript"))"
  }

  private func show(_ answer: SearchAnswer) {
    let text = SearchText(answer.hits, console)
    self.answer(list: text.json, text.lines.joined(separator: "\n"))
    if !isJSON, answer.hasMore { console.report("more is found; --limit 0 shows all") }
  }

  private func cut(
    _ answer: SearchAnswer, to path: String, from store: DiskStore
  ) throws(SpoolError) -> ExitCode {
    let number = arguments[Options.hit]
    guard answer.hits.count >= number else {
      throw SpoolError(
        "there is no hit \(number)", reason: "\(answer.hits.count) found",
        advice: "spool search WORDS shows the numbers")
    }
    let stop = console.heed(SignalWatch.begin())
    let finder = NamedSoundFinder(context: self, stop: stop)
    let clip = SearchClip(store: store, padding: arguments[Options.padding]?.seconds ?? 0.5) {
      (run, step) throws(SpoolError) in
      _ = try finder.sound(.run(run, stage: step.name))
    }
    do throws(SpoolError) {
      let made = try clip.cut(
        answer.hits[number - 1], to: path, isReplacing: arguments[Options.replace],
        mayGoOn: { !stop.isRequested })
      if arguments[Options.replace] { warnOfBrokenReceipts(at: [made.path], in: store) }
      self.answer(made.json, made.text)
      return .done
    } catch {
      guard let signal = stop.signalNumber else { throw error }
      console.report(error.text(console))
      return .interrupted(by: signal)
    }
  }
}

/// A moment as users type it: a date, a date with a time, or how long ago it was.
struct SearchSince: ArgumentValue {
  /// Seconds since 1970.
  let time: Double
  let argument: String

  static let expectation = "a date like 2026-11-22, or an age like 12h or 30d"

  init?(argument: String) {
    self.argument = argument
    if let age = Age(argument: argument) {
      time = SystemClock().now - age.seconds
      return
    }
    guard let date = Self.date(argument) else { return nil }
    time = date
  }

  /// `2026-11-22`, `2026-11-22 14:30`, in local time.
  private static func date(_ text: String) -> Double? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "T" })
    guard let day = parts.first, parts.count <= 2 else { return nil }
    let numbers = day.split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) }
    guard numbers.count == 3, let year = numbers[0], let month = numbers[1], let day = numbers[2],
      (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    var fields = unsafe tm()
    unsafe (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year - 1900, month - 1, day)
    unsafe fields.tm_isdst = -1
    if parts.count == 2 {
      let clock = parts[1].split(separator: ":").map { Int32($0) }
      guard (2...3).contains(clock.count), let hour = clock[0], let minute = clock[1],
        (0...23).contains(hour), (0...59).contains(minute)
      else { return nil }
      unsafe (fields.tm_hour, fields.tm_min) = (hour, minute)
    }
    let time = unsafe mktime(&fields)
    // A day that the month does not have becomes another one.
    guard time >= 0, unsafe fields.tm_mday == day else { return nil }
    return Double(time)
  }
}

/// Cuts what a search has found out of the sound it was found in.
struct SearchClip {
  let store: DiskStore
  /// Seconds that are left before and behind.
  let padding: Double
  /// Computes the sound after a step of a run again, and keeps it.
  let remake: (RunRecord, StepID) throws(SpoolError) -> Void

  /// A clip that was written.
  struct Made {
    let path: String
    let source: String
    let start: Double
    let end: Double

    var text: String {
      "\(Format.visible(path))  \(Format.decimal(end - start, places: 1)) s from "
        + "\(SearchText.time(start)) of \(Format.visible(source))"
    }

    var json: JSONLine {
      JSONLine(["clip": path, "source": source, "startTime": start, "endTime": end])
    }
  }

  /// Writes the clip of a hit.
  func cut(
    _ hit: SearchHit, to path: String, isReplacing: Bool, mayGoOn: () -> Bool
  ) throws(SpoolError) -> Made {
    guard let start = hit.start, let end = hit.end else {
      throw SpoolError(
        "the words have no times", reason: "the transcript of \(hit.name) says none",
        advice: "align gives them: spool run Pipelines/words.yaml RECORDING TRANSCRIPT")
    }
    if isReplacing, let refusal = try store.refusal(toReplaceRecording: path) { throw refusal }
    let place = try place(of: hit, start...end)
    let clip = try SoundClip(
      max(0, place.stretch.lowerBound - padding)...place.stretch.upperBound + padding,
      of: place.source, to: path, isReplacing: isReplacing, mayGoOn: mayGoOn)
    return Made(path: path, source: place.name, start: clip.start, end: clip.end)
  }

  private typealias Place = (
    source: SoundClip.Source, name: String, stretch: ClosedRange<Double>
  )

  /// The recording, where its times are those of the words; else the sound that was kept, or the
  /// stretch of the recording that the words were in before stages moved them.
  private func place(of hit: SearchHit, _ stretch: ClosedRange<Double>) throws(SpoolError) -> Place
  {
    guard let sound = try WordSearch(store).sound(of: hit) else {
      throw SpoolError(
        "find the run", hit.run, reason: "the store knows it no more",
        advice: "run the pipeline on the recording again")
    }
    let origin = sound.origin(of: stretch)
    let kept = sound.keptPlace(of: stretch).map { kept -> Place in
      (.kept(kept.sound, store), "the sound kept for \(hit.name)", kept.stretch)
    }
    if !sound.isUnmoved, let kept { return kept }
    var changed: String?
    if let origin {
      let paths = hit.paths + [sound.digest.flatMap(store.file)].compactMap(\.self)
      let recordings = try sound.digest.map { (digest) throws(SpoolError) in
        try store.recordings(likeThat: digest)
      }
      for path in paths where FilePath.obstacle(to: path, R_OK) == nil {
        guard let recordings, try recordings.contains(store.digest(ofFile: path)) else {
          changed = changed ?? path
          continue
        }
        return (.recording(path), hit.paths.contains(path) ? path : hit.name, origin)
      }
    }
    if let kept { return kept }
    if origin == nil, let maker = sound.maker {
      try remake(sound.run, maker)
      if let again = try WordSearch(store).sound(of: hit)?.keptPlace(of: stretch) {
        return (.kept(again.sound, store), "the sound kept for \(hit.name)", again.stretch)
      }
    }
    throw missing(hit, changed, sound)
  }

  private func missing(_ hit: SearchHit, _ changed: String?, _ sound: SearchSound) -> SpoolError {
    if let changed {
      return SpoolError(
        "cut from", changed, reason: "it is not the recording whose words were found",
        advice: "put the recording back, or run the pipeline on what is there now")
    }
    guard hit.paths.allSatisfy({ FilePath.obstacle(to: $0, R_OK) == nil }),
      let obstacle = sound.obstacle
    else {
      return SpoolError(
        "cut from", hit.path,
        reason: "the recording is gone, and its sound is not kept in the store",
        advice: "put the recording back there; --json shows all that is known of the place")
    }
    return SpoolError(
      "cut from", hit.path,
      reason: "how \(obstacle) of run \(hit.run) moves the sound in time is not known",
      advice: "run the pipeline on the recording again")
  }
}

/// Hits as lines: for people, and as JSON.
struct SearchText {
  private let hits: [SearchHit]
  private let marks: (begin: String, end: String)

  init(_ hits: [SearchHit], _ console: Console) {
    self.hits = hits
    let isPlain = !(Environment.variables["NO_COLOR"] ?? "").isEmpty
    marks = console.isTerminal && !isPlain ? ("\u{1B}[1m", "\u{1B}[0m") : ("[", "]")
  }

  /// A line each: number, recording, time, what is said.
  var lines: [String] {
    let names = names
    let times = hits.map { hit in
      hit.start.map { (hit.isApproximate ? "~" : "") + Self.time($0) } ?? "–"
    }
    let nameWidth = names.map(\.count).max() ?? 0
    let timeWidth = times.map(\.count).max() ?? 0
    let numberWidth = String(hits.count).count
    return hits.indices.map { index in
      Format.padLeft(String(index + 1), numberWidth) + "  "
        + Format.pad(names[index], nameWidth) + "  " + Format.padLeft(times[index], timeWidth)
        + "  " + snippet(hits[index])
    }
  }

  /// The recordings' names: with the folder where several have one name, and with the run that found the
  /// words where another sound is at its path now.
  private var names: [String] {
    let paths = Dictionary(grouping: hits, by: \.name).mapValues { Set($0.map(\.path)) }
    return hits.map { hit in
      let name = paths[hit.name]?.count == 1 ? hit.name : hit.path
      return Format.visible(hit.isElsewhere ? "\(name) (as it was in run \(hit.run))" : name)
    }
  }

  /// `0:12.3`, `1:02:03.4`: begun tenths do not count.
  static func time(_ seconds: Double) -> String {
    let tenths = Int(max(0, seconds) * 10 + 1e-6)
    return Format.position(Double(tenths / 10)) + ".\(tenths % 10)"
  }

  private func snippet(_ hit: SearchHit) -> String {
    hit.pieces.map { piece in
      let text = Format.visible(piece.text)
      return piece.isHit ? marks.begin + text + marks.end : text
    }.joined(separator: " ")
  }

  /// An object each.
  var json: [JSONLine] {
    zip(hits.indices, hits).map { index, hit in
      JSONLine([
        "hit": index + 1, "recording": hit.path,
        "recordings": hit.paths.count > 1 ? hit.paths : nil, "name": hit.name, "key": hit.key,
        "isElsewhere": hit.isElsewhere ? true : nil, "startTime": hit.start, "endTime": hit.end,
        "isApproximate": hit.isApproximate ? true : nil, "words": hit.words,
        "snippet": hit.pieces.map { $0.isHit ? "[\($0.text)]" : $0.text }.joined(separator: " "),
        "pipeline": hit.pipeline, "step": hit.step, "run": hit.run,
        "toldAt": DateTime(secondsSince1970: hit.time),
      ])
    }
  }
}
