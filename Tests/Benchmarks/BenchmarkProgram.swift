import Foundation
import Platform

/// The command line of the benchmarks, and what each command runs.
enum BenchmarkProgram {
  private static let minutes: Option<Count> = .value(
    "minutes", "N", default: Count(10), help: "The length of the recording.")
  private static let longMinutes: Option<Count> = .value(
    "long", "N", default: Count(180), help: "The length of the long recording, in minutes.")
  private static let pairs: Option<Count> = .value(
    "pairs", "N", short: "n", default: Count(5), help: "How many times each side runs.")
  private static let only: Option<String?> = .value(
    "only", "WORD", help: "Only the processors whose names hold this word.")
  private static let notes: Option<Count> = .value(
    "notes", "N", default: Count(200), help: "How many notes of 30 s a batch has.")
  private static let spool: Option<String?> = .value(
    "spool", "PATH", help: "The spool to measure.",
    defaultText: "the one of this package, built for release first", completion: .files())

  private static let files: Option<Count> = .value(
    "files", "N", default: Count(50_000), help: "How many files the watched inbox holds.")
  private static let talk: Option<Count> = .value(
    "talk", "N", default: Count(60), help: "The length of the long recording of speech, in minutes."
  )
  private static let idle: Option<Count> = .value(
    "idle", "SECONDS", default: Count(60), help: "How long the idle watch is looked at.")

  private static let hours: Option<Count> = .value(
    "hours", "N", default: Count(1000), help: "How many hours of speech are searched.")

  static let declaration = ProgramDeclaration(
    name: "benchmarks", summary: "Measure Spool against the ffmpeg program on this machine.",
    version: "benchmarks",
    commands: [
      CommandDeclaration(
        name: "whole-job", group: "Benchmarks",
        summary: "From AAC to three mastered files: wall time against ffmpeg.",
        discussion: """
          spool: one run of Tests/Benchmarks/Pipelines/whole-job.yaml with an empty store: four \
          equalizer bands, gate, compressor, -16 LUFS with a ceiling of -1 dBTP; WAV 24, AAC at \
          128 kbit/s and ALAC; everything hashed, flushed and checkpointed.

          ffmpeg: two commands, which FFmpegMastering.swift spells out. The first runs the same \
          filters and measures loudness and true peak; the second runs them again with the gain \
          (and a limiter where a peak would pass the ceiling) and writes the same three files. \
          It flushes nothing.

          Both sides run once for the caches and then in turns; between runs everything is \
          written to the disk. The target is a median ratio of wall times of 0.45.
          """,
        options: [minutes, pairs, spool],
        examples: [
          Example("A careful measurement", "swift run -c release benchmarks whole-job -n 9"),
          Example("An hour", "swift run -c release benchmarks whole-job --minutes 60 -n 3"),
        ]),
      CommandDeclaration(
        name: "dsp", group: "Benchmarks",
        summary: "Every processor alone: CPU time against a filter of ffmpeg or sox.",
        discussion: """
          An hour of stereo at 48 kHz, reckoned from minutes; both sides in turns, and the least of \
          each counts. What a filter takes is the difference of two commands with and without it. \
          The target is a ratio of 1, and of 0.5 for equalizer, gate and compressor together.
          """,
        options: [pairs, only]),
      CommandDeclaration(
        name: "mixdown", group: "Benchmarks",
        summary: "24 tracks to one: wall time and memory against ffmpeg's amix.",
        discussion: """
          Tests/Benchmarks/Pipelines/mixdown.yaml with an empty store, and one ffmpeg command with \
          the same faders, pans and offsets; both mixes are compared. The targets are a median \
          ratio of wall times of 0.5, and 100 MB.
          """,
        options: [minutes, pairs, spool]),
      CommandDeclaration(
        name: "waveform", group: "Benchmarks",
        summary: "The waveform of an hour of WAV: wall time, also against ffmpeg's picture.",
        discussion: "With an empty store. The targets are 2 s, and a median ratio of 1.",
        options: [pairs, spool]),
      CommandDeclaration(
        name: "plugins", group: "Benchmarks",
        summary: "What plugins that do nothing cost a pass, and how soon fifty are found.",
        discussion: """
          Tests/Benchmarks/Pipelines/plugins.yaml with an empty store, with and without a program in \
          Python, a library in C, and three LV2 plugins. The targets are a median ratio of wall times \
          of 1.15, and 50 ms for fifty plugins. Not among all.
          """,
        options: [minutes, pairs, spool]),
      CommandDeclaration(
        name: "memory", group: "Benchmarks",
        summary: "The most memory that a short and a long recording take.",
        discussion: "What the kernel reports as resident at the most. The target is 100 MB.",
        options: [minutes, longMinutes, spool]),
      CommandDeclaration(
        name: "startup", group: "Benchmarks",
        summary: "How long 'spool --version' takes.",
        discussion: "50 runs in turns with /bin/true. The target is a median of 20 ms.",
        options: [spool]),
      CommandDeclaration(
        name: "reuse", group: "Benchmarks",
        summary: "How long a run takes when everything was done before.",
        discussion: """
          The whole job, and then the same command five times again. The target is a median of \
          0.3 s, without any pass over the sound.
          """,
        options: [minutes, spool]),
      CommandDeclaration(
        name: "batch", group: "Benchmarks",
        summary: "A folder of 30 s notes to mastered AAC: wall time against xargs and ffmpeg.",
        discussion: """
          spool: one batch of Tests/Benchmarks/Pipelines/notes.yaml with an empty store. ffmpeg: \
          xargs -P with as many as there are cores, over one command a note, with the same filters \
          and loudnorm for the loudness; and, as a harder comparison without a target, over two \
          commands a note, of which the first measures. Then the same batch again, of which \
          everything is done. The target is a median ratio of wall times of 0.5 against one command.
          """,
        options: [notes, pairs, spool]),
      CommandDeclaration(
        name: "watch-idle", group: "Benchmarks",
        summary: "What an idle watch over many known files takes, and how soon it wakes.",
        discussion: """
          One recording is taken in, and the store is given notes like its for all other files. The \
          targets are 0.5 % of a core, 60 MB, and a recording in the store a second after it has settled. \
          Not among all.
          """,
        options: [files, idle, spool]),
      CommandDeclaration(
        name: "search", group: "Benchmarks",
        summary: "How long 'spool search' takes over 1,000 hours of words, and the index's size.",
        discussion: """
          The store is given runs with transcripts of 9,000 words an hour, as frequent as words of a \
          language are. The target is a median of 100 ms a search, with the process's start. Not among \
          all.
          """,
        options: [hours, spool]),
      CommandDeclaration(
        name: "words", group: "Benchmarks",
        summary: "How exactly and how fast align finds words whose times are known.",
        discussion: """
          Six voices of espeak-ng, which tells when its words begin: clean, and with the noises, \
          rooms and narrow bands that sox makes; recordings timed by hand where they lie in \
          ../shared/data; a long recording on one core and on all; and texts that lack blocks of \
          it, or have blocks that nobody speaks. Not among all.
          """,
        options: [talk, spool]),
      CommandDeclaration(
        name: "all", group: "Benchmarks",
        summary: "Everything above, with all verdicts at the end.",
        discussion: """
          To repeat figures: an idle machine, AC power, and nothing else that writes to the disk. \
          Spool uses every core and ffmpeg one, so whatever else runs takes from Spool alone: on a \
          busy machine only CPU times can be compared. The recordings are made once, and stay in \
          .build/benchmarks. The exit code is 0 if every target was met, 1 if one was missed, 2 if \
          something could not be measured.
          """,
        options: [minutes, longMinutes, notes, pairs, spool]),
    ])

  /// Does what the arguments say, and gives the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    do {
      switch try declaration.parse(arguments) {
      case .help(let subject):
        report(declaration.help(for: subject))
        return 0
      case .version:
        report(declaration.version)
        return 0
      case .run(let parsed): return try run(parsed)
      }
    } catch let error as UsageError {
      complain(error.message + "\n" + error.hint)
    } catch let error as BenchmarkError {
      complain("\(error.message): \(error.reason)")
    } catch {
      complain("\(error)")
    }
    return 2
  }

  private static func run(_ arguments: ParsedArguments) throws -> Int32 {
    if arguments.command.name == "dsp" {
      let benchmarks = DSPBenchmarks(rounds: arguments[pairs].value, only: arguments[only])
      return settle(try benchmarks.run())
    }
    // Before the build, which keeps the machine busy itself.
    Workshop.warnIfBusy()
    let workshop = try Workshop(spool: arguments[spool])
    var verdicts: [Verdict] = []
    for benchmark in benchmarks(arguments, workshop) {
      verdicts += try benchmark.run()
      report("")
    }
    // Last, because it grows this process; see `ChildProcess`.
    if arguments.command.name == "all" {
      verdicts += try DSPBenchmarks(rounds: arguments[pairs].value).run()
      report("")
    }
    return settle(verdicts)
  }

  /// Prints what was met and what was missed, and gives the exit code.
  private static func settle(_ verdicts: [Verdict]) -> Int32 {
    verdicts.forEach { report($0.line) }
    return verdicts.allSatisfy(\.isMet) ? 0 : 1
  }

  private static func benchmarks(
    _ arguments: ParsedArguments, _ workshop: Workshop
  ) -> [any Benchmark] {
    switch arguments.command.name {
    case "startup": return [Startup(workshop: workshop)]
    case "watch-idle":
      return [
        WatchIdle(
          workshop: workshop, fileCount: arguments[files].value,
          idleSeconds: arguments[idle].value)
      ]
    case "search": return [SearchJob(workshop: workshop, hours: arguments[hours].value)]
    case "words":
      return [
        WordsAccuracy(workshop: workshop),
        LongWords(workshop: workshop, minutes: arguments[talk].value),
      ]
    case "reuse": return [Reuse(workshop: workshop, minutes: arguments[minutes].value)]
    case "memory":
      return [
        Memory(
          workshop: workshop, minutes: [arguments[minutes].value, arguments[longMinutes].value])
      ]
    case "whole-job":
      return [
        WholeJob(
          workshop: workshop, minutes: arguments[minutes].value, pairs: arguments[pairs].value)
      ]
    case "mixdown":
      return [
        MixdownJob(
          workshop: workshop, minutes: arguments[minutes].value, pairs: arguments[pairs].value)
      ]
    case "plugins":
      return [
        PluginJob(
          workshop: workshop, minutes: arguments[minutes].value, pairs: arguments[pairs].value)
      ]
    case "waveform": return [WaveformJob(workshop: workshop, pairs: arguments[pairs].value)]
    case "batch":
      return [
        BatchJob(workshop: workshop, count: arguments[notes].value, pairs: arguments[pairs].value)
      ]
    default:
      return [
        Startup(workshop: workshop),
        Reuse(workshop: workshop, minutes: arguments[minutes].value),
        Memory(
          workshop: workshop, minutes: [arguments[minutes].value, arguments[longMinutes].value]),
        WholeJob(
          workshop: workshop, minutes: arguments[minutes].value, pairs: arguments[pairs].value),
        BatchJob(workshop: workshop, count: arguments[notes].value, pairs: arguments[pairs].value),
        MixdownJob(
          workshop: workshop, minutes: arguments[minutes].value, pairs: arguments[pairs].value),
        WaveformJob(workshop: workshop, pairs: arguments[pairs].value),
      ]
    }
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
