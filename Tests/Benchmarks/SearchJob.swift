import Audio
import Foundation
import PipelineModel
import Platform
import Search
import Store
import TestSupport

/// `benchmarks search`: how long a search takes over the words of many hours, and what the index of
/// them takes.
struct SearchJob: Benchmark {
  let workshop: Workshop
  /// Of speech, at 9,000 words an hour.
  let hours: Int

  private static let wordsAnHour = 9000
  private static let repetitions = 9

  func run() throws(BenchmarkError) -> [Verdict] {
    let folder = try workshop.emptyFolder("search")
    do {
      report("Search: \(hours) h of speech, \(hours * Self.wordsAnHour) words")
      let adding = try fill(folder)
      let size = try size(of: folder + "/search.sqlite")
      report(
        "  added in \(Text.number(adding.total, 1)) s, an hour in "
          + "\(Text.number(adding.spread.median * 1000, 0)) ms (max "
          + "\(Text.number(adding.spread.maximum * 1000, 0)) ms); the index has "
          + "\(Text.number(size / Double(hours) / 1000, 0)) kB an hour, "
          + "\(Text.number(size / 1e6, 1)) MB in all")
      var verdicts: [Verdict] = []
      for query in queries {
        let spread = try Spread(of: time(query, folder))
        report(
          "  \(query.joined(separator: " ")): min \(Text.number(spread.minimum, 3)), "
            + "median \(Text.number(spread.median, 3)) s")
        verdicts.append(
          .atMost(
            0.1, "search: \(query.joined(separator: " "))", spread.median, unit: " s", decimals: 3))
      }
      return verdicts
    } catch let error as BenchmarkError {
      throw error
    } catch {
      throw BenchmarkError("cannot search", "\(error)")
    }
  }

  /// A word of every recording, rare ones, and what has to be put together.
  private var queries: [[String]] {
    [
      [Self.word(0)], [Self.word(40)], [Self.word(15_000)], ["nowhere", "OR", Self.word(1000)],
      ["\(Self.word(3)) \(Self.word(7))"], ["NEAR(\(Self.word(900)) \(Self.word(30)))"],
      [Self.word(0), "AND", Self.word(19_000)], [Self.word(2), "OR", Self.word(1)],
      [Self.word(900), "NOT", Self.word(15_000)], ["\(Self.word(600).prefix(3))*"],
      ["\(Self.word(14_000)) \(Self.word(2))"],
    ]
  }

  /// A process for each search, as a user starts it, after one for the caches.
  private func time(_ query: [String], _ store: String) throws -> [Double] {
    let arguments = ["search", "--store", store] + query
    var seconds: [Double] = []
    for index in 0...Self.repetitions {
      let usage = try ChildProcess(workshop.spool, arguments).wait()
      if index > 0 { seconds.append(usage.wall.value) }
    }
    return seconds
  }

  /// Makes the store: a run for each hour, which ends as others do.
  private func fill(_ folder: String) throws -> (total: Double, spread: Spread) {
    let store = try DiskStore(at: folder)
    store.listenToRuns { store, run in
      WordSearch(
        of: store, runs: store.runs, holds: { [store] in store.file(of: $0) != nil },
        in: store.path, isWritable: true, note: { _ in }
      ).update(after: run)
    }
    var generator = SystemRandomNumberGenerator()
    var seconds: [Double] = []
    for hour in 0..<hours {
      let transcript = try store.makeArtifact(
        Self.transcript(&generator), kind: .transcript)
      var run = RunRecord(
        id: RunID("run-\(hour)"), pipeline: "words", pipelinePath: "/p/words.yaml",
        inputs: ["recording": "/in/\(hour).wav"], overrides: [:],
        startedAt: Date().timeIntervalSince1970)
      run.steps = [
        StepRecord(
          id: StepID("align"), kind: "align", outcome: .made,
          outputs: [PortName("transcript"): StepOutput(transcript)])
      ]
      run.state = .done
      run.finishedAt = run.startedAt
      let begin = ContinuousClock.now
      try store.runs.save(run)
      seconds.append((ContinuousClock.now - begin) / .seconds(1))
    }
    return (seconds.reduce(0, +), Spread(of: seconds))
  }

  private func size(of path: String) throws -> Double {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return Double((attributes[.size] as? Int) ?? 0)
  }

  /// An hour's words as `align` gives them, as often as words are in a language: the n-th 1/n as often as
  /// the first.
  private static func transcript(_ generator: inout SystemRandomNumberGenerator) -> String {
    var words: [String] = []
    var time = 0.0
    for _ in 0..<wordsAnHour {
      let rank = Int(pow(20_000, Double.random(in: 0..<1, using: &generator))) - 1
      let start = time
      time += Double(Int.random(in: 10...69, using: &generator)) / 100
      words.append(
        #"{"text":"\#(word(rank))","startTime":\#(Text.number(start, 2)),"#
          + #""endTime":\#(Text.number(time, 2)),"confidence":0.98}"#)
    }
    return #"{"words":[\#(words.joined(separator: ","))],"isFinal":true}"#
  }

  /// A word of its own for each number.
  private static func word(_ number: Int) -> String {
    let syllables = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "to", "vi", "zu"]
    var (rest, text) = (number, "")
    repeat {
      text += syllables[rest % 10]
      rest /= 10
    } while rest > 0
    return text
  }
}
