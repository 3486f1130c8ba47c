import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Search
import Store
import Synchronization
import TestSupport
import Testing
import Transcripts

@Suite("Words of all recordings are found") struct SearchTests {
  private let bench: SearchBench

  init() throws { bench = try SearchBench() }

  @Test("a word is found with its time, whatever its case, accents and punctuation")
  func word() throws {
    try bench.tell("The Café, opens at nine.", of: "a.wav")
    for query in ["cafe", "CAFÉ", "café,"] {
      let hit = try #require(try bench.hits(query).first)
      #expect(hit.name == "a.wav" && hit.start == 1 && hit.end == 1.5)
      #expect(hit.words == "Café,")
    }
    #expect(try bench.hits("cafes").isEmpty)
  }

  @Test("a bit that flips in the index changes no answer, or is found; and a repair makes it again")
  func flippedBits() throws {
    for name in ["one", "two", "three"] {
      try bench.tell("the \(name) fox and the lazy dog of \(name)", of: name + ".wav")
    }
    let queries = ["fox", "\"lazy dog\"", "two", "three NOT one"]
    func answers() throws -> [[String]] {
      try queries.map { try bench.hits($0).map { "\($0.name) \($0.start ?? -1) \($0.words)" } }
    }
    let expected = try answers()
    // What is in the log of the database is moved into it.
    _ = try bench.search.repair()
    do {
      var database = try Database(
        at: bench.index, for: .writing,
        advice: Database.Advice(damaged: "", unreadable: "", denied: ""))
      _ = try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "test")
    }
    let sound = try Data(contentsOf: URL(filePath: bench.index))
    var random = SeededRandom(seed: 7)
    var foundCount = 0
    for byte in Array(0..<100)
      + (0..<200).map({ _ in Int.random(in: 100..<sound.count, using: &random) })
    {
      for ending in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: bench.index + ending)
      }
      try sound.write(to: URL(filePath: bench.index))
      try flipBit(Int.random(in: 0..<8, using: &random), ofByte: byte, in: bench.index)
      do {
        var index = try SearchIndex(at: bench.index)
        if try index.fault() != nil { foundCount += 1 }
      } catch { foundCount += 1 }
      #expect(try answers() == expected, "byte \(byte)")
      _ = try bench.search.repair()
      #expect(try answers() == expected, "byte \(byte), repaired")
    }
    #expect(foundCount > 50)
  }

  @Test("ß and ss are the same, in what is said and in what is asked for")
  func sharpS() throws {
    #expect(SaidText.words(of: ["Straße", "20"], isEnglish: false) == ["Strasse", "20"])
    try bench.tell("In der Straße, nicht im Strassencafé.", of: "a.wav")
    for query in ["Straße", "strasse", "STRAẞE", "der strasse"] {
      #expect(try bench.hits(query).first?.words.hasSuffix("Straße,") == true, "\(query)")
    }
    #expect(try bench.hits("Straßencafé").map(\.start) == [5])
  }

  @Test("other scripts are found", arguments: ["Привет", "καλημέρα", "שלום", "नमस्ते", "日本語"])
  func scripts(word: String) throws {
    try bench.tell("one \(word) three", of: "a.wav")
    #expect(try bench.hits(word).map(\.start) == [1])
  }

  @Test("words without letters, and words of several tokens, do not shift the times behind them")
  func tokens() throws {
    try bench.tell("— $3.50 😀 state-of-the-art don't fox", of: "a.wav")
    #expect(try bench.hits("fox").first?.start == 5)
    #expect(try bench.hits("3 50").first?.start == 1)
    #expect(try bench.hits("of the").first?.words == "state-of-the-art")
  }

  @Test("places that lie close together are one hit, and those that do not are not")
  func passages() throws {
    let gap = (0..<60).map { "w\($0)" }.joined(separator: " ")
    try bench.tell("fox and fox \(gap) fox", of: "a.wav")
    let hits = try bench.hits("fox")
    #expect(hits.map(\.start) == [0, 63])
    #expect(hits.first?.pieces.filter(\.isHit).count == 2)
    // A word that is said all the time does not make one passage of everything.
    try bench.tell((0..<400).map { "the v\($0)" }.joined(separator: " "), of: "b.wav")
    #expect(try bench.hits("the").count == 20)
  }

  @Test("where all that is wanted is said close together, only such places are shown")
  func together() throws {
    let gap = (0..<60).map { "w\($0)" }.joined(separator: " ")
    try bench.tell("budget \(gap) garage", of: "far.wav")
    #expect(try bench.hits("budget AND garage").count == 2)
    try bench.tell("budget \(gap) the budget of the garage", of: "near.wav")
    #expect(
      try bench.hits("budget AND garage", pipeline: nil).map(\.name).filter { $0 == "near.wav" }
        .count == 1)
    #expect(try bench.hits("budget NOT garage").isEmpty)
    #expect(try bench.hits("NEAR(budget garage, 3)").map(\.name) == ["near.wav"])
  }

  @Test("a phrase is found across the paragraphs of a text")
  func paragraphs() throws {
    try bench.tell("end of one\n\nbegin of two", of: "a.wav")
    #expect(try bench.hits("one begin").count == 1)
  }

  @Test(
    "what is written short is found as it is said, and as it is written",
    arguments: [
      ("twenty percent", 2...3), ("20 %", 2...3), ("20 percent", 2...3), ("ten thirty", 5...5),
      ("10:30", 5...5), ("number seven", 7...8), ("No. 7", 7...8), ("fifth floor", 10...11),
      ("5th floor", 10...11), ("three dollars", 13...13), ("$3.50", 13...13),
      ("doctor smith", 15...16), ("Dr. Smith", 15...16), ("said doctor", 14...15),
      ("c plus plus", 18...18), ("C++", 18...18), ("NEAR(percent \"ten thirty\")", 3...5),
      ("NEAR(\"twenty percent\" 10:30, 1)", 2...5), ("eight percent", 20...21), ("8 %", 20...21),
    ] as [(String, ClosedRange<Int>)])
  func said(query: String, place: ClosedRange<Int>) throws {
    try bench.tell(
      """
      He gives 20 % at 10:30 in No. 7, the 5th floor, for $3.50, said Dr. Smith. In C++ only \
      eight percent.
      """, of: "a.wav")
    let hits = try bench.hits(query.contains("NEAR") ? query : "\"\(query)\"")
    #expect(hits.contains { $0.start == Double(place.lowerBound) }, "\(hits)")
    #expect(hits.contains { $0.end == Double(place.upperBound) + 0.5 })
  }

  @Test(
    "a number finds no other number, and a sign is looked for as it stands there",
    arguments: [
      ("20", [5]), ("20 %", [5]), ("twenty percent", [5]), ("100", []), ("101", [8]), ("5", [11]),
      ("2020", []), ("2023", [4]), ("C++", [9]), ("C#", [10]), ("-5°C", [11]), ("105", [12]),
      ("23", [0, 1, 7]), ("50", []), ("5000", [14]), ("3", []), ("3.5", [15]),
    ] as [(String, [Double])])
  func wholeNumbers(query: String, places: [Double]) throws {
    let gap = (0..<60).map { _ in "w" }.joined(separator: " ")
    let words = [
      "twenty three", "23:45", "1945.", "95", "2023.", "20 %", "Psalm", "23", "101", "C++", "C#",
      "-5°C", "one hundred and five", "C", "$5,000", "3.5",
    ]
    try bench.tell(words.joined(separator: " \(gap) "), of: "a.wav")
    // Words of a place take seconds of their own.
    var start = 0.0
    let starts = words.map { word in
      defer { start += Double(word.split(separator: " ").count + 60) }
      return start
    }
    let hits = try bench.hits("\"\(query)\"")
    #expect(hits.map(\.start) == places.map { starts[Int($0)] })
    if query == "105" { #expect(hits.first?.pieces.first(where: \.isHit)?.text == words[12]) }
  }

  @Test("signs are found in a text of another language, too")
  func otherLanguage() {
    #expect(
      SaidText.words(of: ["zu", "20", "%", "in", "C++"], isEnglish: false)
        == ["zu", "20", "percent", "in", "c plus plus"])
  }

  @Test("an index of another version is made again, and says nothing of damage")
  func otherVersion() throws {
    try bench.tell("apples cost 20 %", of: "a.wav")
    #expect(try bench.hits("apples").count == 1)
    do {
      let database = try Database(at: bench.index, for: .writing, advice: Database.Advice())
      try database.script("PRAGMA user_version = 1", to: "test")
    }
    #expect(try bench.hits("\"twenty percent\"").count == 1)
  }

  @Test("a recording is told by its own file, whatever its exports are called")
  func fileName() throws {
    var run = try bench.run("alpha", of: "take.wav")
    run.request = RunRequest(
      pipelineText: "", folder: "/", isReplacing: false, keepsEverything: false,
      names: ["recording": "take.recording"])
    try bench.store.runs.save(run)
    #expect(try bench.hits("alpha").map(\.name) == ["take.wav"])
  }

  @Test("words without times get their neighbours', and it is said")
  func untimed() throws {
    try bench.tell("one two three", of: "a.wav", untimed: [1])
    let hit = try #require(try bench.hits("two").first)
    #expect(hit.isApproximate && hit.start == 0.5 && hit.end == 2)
  }

  @Test("told again it is there once; told otherwise, the newer words count")
  func again() throws {
    try bench.tell("alpha beta", of: "a.wav")
    try bench.tell("alpha beta", of: "a.wav")
    #expect(try bench.hits("alpha").count == 1)
    try bench.tell("alpha gamma", of: "a.wav")
    #expect(try bench.hits("alpha").count == 1)
    #expect(try bench.hits("beta").isEmpty)
    #expect(try bench.hits("gamma").count == 1)
  }

  @Test("only what was told since, and only by a pipeline")
  func limits() throws {
    try bench.tell("alpha", of: "a.wav", at: 1000)
    try bench.tell("alpha", of: "b.wav", at: 2000, pipeline: "other")
    #expect(try bench.hits("alpha").map(\.name) == ["b.wav", "a.wav"])
    #expect(try bench.hits("alpha", since: 1500).map(\.name) == ["b.wav"])
    #expect(try bench.hits("alpha", pipeline: "words").map(\.name) == ["a.wav"])
    let cut = try bench.answer("alpha", count: 1)
    #expect(cut.hits.count == 1 && cut.hasMore)
    #expect(try !bench.answer("alpha", count: 2).hasMore)
  }

  @Test("what was said is found after gc has freed all that may go, and after the index is lost")
  func collected() throws {
    try bench.tell("alpha", of: "a.wav", at: 1000)
    #expect(try bench.hits("alpha").count == 1)
    var policy = CollectionPolicy()
    policy.age = 0
    policy.keptBytes = 0
    policy.grace = 0
    for _ in 0..<2 {
      _ = try bench.store.collect(policy)
      _ = try bench.search.repair()
      #expect(try bench.hits("alpha").map(\.name) == ["a.wav"])
    }
    try FileManager.default.removeItem(atPath: bench.index)
    #expect(try bench.hits("alpha").map(\.name) == ["a.wav"])
  }

  @Test("words that cannot be read are reported and left out, and are taken in later")
  func unread() throws {
    let told = Told()
    bench.store.listen { told.add($0) }
    try bench.tell("beta", of: "b.wav")
    let run = try bench.run("alpha beta", of: "a.wav")
    let file = try hide(run)
    try bench.store.runs.save(run)
    for _ in 0..<2 {
      #expect(try bench.hits("alpha").isEmpty)
      #expect(try bench.hits("beta").map(\.name) == ["b.wav"])
    }
    let warnings = told.lines.filter { $0.contains("are not searched") }
    #expect(warnings.count == 1, "\(told.lines)")
    let line = warnings.first ?? ""
    #expect(
      line.contains("/in/a.") && line.contains(bench.store.path) && line.contains("; "),
      "\(line)")
    try show(file)
    #expect(try bench.hits("alpha").count == 1)
    #expect(try bench.hits("beta").count == 2)
  }

  @Test("words that are read late do not take the place of those of a later run")
  func readLate() throws {
    let run = try bench.run("alpha old", of: "a.wav", at: 5000)
    let file = try hide(run)
    try bench.store.runs.save(run)
    #expect(try bench.hits("alpha").isEmpty)
    // Its clock was set back.
    try bench.tell("alpha new", of: "a.wav", at: 1000)
    try show(file)
    #expect(try bench.hits("new").count == 1)
    #expect(try bench.hits("old").isEmpty)
  }

  /// Puts a folder in the place of a run's transcript, and gives its path.
  private func hide(_ run: RunRecord) throws -> String {
    let artifact = try #require(run.steps.last?.outputs[PortName("transcript")]?.artifact)
    let file = try #require(bench.store.file(of: artifact.digest))
    try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
    return file
  }

  /// Puts the transcript back.
  private func show(_ file: String) throws {
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
  }

  @Test("words whose files cannot be looked at for a while stay in the index")
  func unseen() throws {
    let run = try bench.run("alpha", of: "a.wav")
    try bench.store.runs.save(run)
    let artifact = try #require(run.steps.last?.outputs[PortName("transcript")]?.artifact)
    let file = try #require(bench.store.file(of: artifact.digest))
    let folder = (file as NSString).deletingLastPathComponent
    try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
    #expect(bench.store.file(of: artifact.digest) == nil)
    // A link to itself cannot be followed: whether the file is there is not known.
    try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: folder)
    #expect(bench.store.file(of: artifact.digest) != nil)
    _ = try bench.search.repair()
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
    #expect(try bench.hits("alpha").count == 1)
  }

  @Test("an index that cannot be used says what to do")
  func advice() throws {
    try bench.tell("alpha", of: "a.wav")
    for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: bench.index + end) }
    try Data("no database at all, but some text".utf8)
      .write(to: URL(fileURLWithPath: bench.index))
    let frozen = WordSearch(
      of: bench.store, runs: bench.store.runs, holds: { _ in true }, in: bench.store.path,
      isWritable: false, note: { _ in })
    let query = try SearchQuery(["alpha"])
    let error = #expect(throws: SpoolError.self) { try frozen.answer(query) }
    #expect(error?.advice?.contains("\(command: .repair)") == true)
  }

  @Test("an index that is lost, emptied, cut short or overwritten is made again", arguments: 0..<5)
  func damaged(way: Int) throws {
    try bench.tell("alpha beta", of: "a.wav")
    try bench.tell("alpha gamma", of: "b.wav")
    let path = bench.index
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    switch way {
    case 0: bytes = Data("no database at all, but some text that is long enough".utf8)
    case 1: bytes = Data()
    case 2: bytes = bytes.prefix(bytes.count / 2)
    case 3: for index in 4096..<bytes.count { bytes[index] ^= 0x5A }
    default: break
    }
    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    if way < 4 { try bytes.write(to: URL(fileURLWithPath: path)) }
    #expect(try bench.hits("alpha").map(\.name) == ["b.wav", "a.wav"])
    #expect(try bench.hits("beta").count == 1)
    #expect(try bench.search.repair() == nil)
  }

  @Test("repair finds a row that is gone, and makes the index again")
  func repaired() throws {
    try bench.tell("alpha beta", of: "a.wav")
    do {
      var index = try SearchIndex(at: bench.index)
      try index.database.run("DELETE FROM texts_data WHERE id > 10", to: "test")
    }
    #expect(try bench.search.repair() != nil)
    #expect(try bench.hits("beta").count == 1)
    #expect(try bench.search.repair() == nil)
  }

  @Test("an older run that was missed does not take the place of a newer one")
  func order() throws {
    try bench.tell("alpha old", of: "a.wav", at: 5000)
    try FileManager.default.removeItem(atPath: bench.index)
    // Its clock was set back.
    try bench.tell("alpha new", of: "a.wav", at: 1000)
    #expect(try bench.hits("alpha").map(\.words) == ["alpha"])
    #expect(try bench.hits("new").count == 1)
    #expect(try bench.hits("old").isEmpty)
  }

  @Test("commits of the index are crash points, and what a kill before any leaves is taken in")
  func killed() async throws {
    for name in ["a", "b", "c"] { try bench.tell("alpha \(name)", of: "\(name).wav") }
    let path = bench.store.path
    let mark = path + "/survived"
    var counts: Set<Int64> = []
    for number in 1...100 where !FileManager.default.fileExists(atPath: mark) {
      for end in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: bench.index + end)
      }
      await #expect(processExitsWith: .failure) { [path = path as String, number = number as Int] in
        _ = unsafe setenv(CrashPoint.variable, "\(number)", 1)
        let store = try DiskStore(reading: path)
        var index = try SearchIndex(at: path + "/search.sqlite")
        _ = try index.update(from: store.runs, in: store)
        try Data().write(to: URL(fileURLWithPath: path + "/survived"))
        exit(3)
      }
      if !FileManager.default.fileExists(atPath: mark) {
        var index = try SearchIndex(at: bench.index)
        let count = try index.database.run("SELECT count(*) FROM sources", to: "test")
        counts.insert(count.first?[0].integer ?? -1)
      }
      let again = try SearchBench(at: path)
      #expect(try again.answer("alpha").transcripts == 3)
      #expect(try again.hits("alpha").count == 3)
    }
    #expect(FileManager.default.fileExists(atPath: mark))
    #expect(counts == [0, 1, 2])
  }

  @Test("where the index cannot be written no run fails, and its words are taken in later")
  func unwritable() throws {
    let place = bench.index
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    try bench.tell("beta", of: "b.wav")
    #expect(try bench.store.runs.newest(limit: 1).first?.state == .done)
    try FileManager.default.removeItem(atPath: place)
    #expect(try bench.hits("beta").count == 1)
  }

  @Test("a query of ten thousand bytes, and one with NUL, are answered")
  func hostile() throws {
    try bench.tell("alpha beta", of: "a.wav")
    #expect(try bench.hits(String(repeating: "a", count: 10_000)).isEmpty)
    #expect(try bench.hits("alpha\0beta").count == 1)
    #expect(try bench.hits("alpha\"; DROP TABLE said").isEmpty)
  }

  @Test("times are kept to a ten-thousandth of a second, and words without one have none")
  func times() throws {
    let transcript = """
      {"words":[{"text":"a","startTime":12.3456,"endTime":13},{"text":"—"},
      {"text":"b\\u0002c","startTime":3,"endTime":3.5}],"language":"en-GB"}
      """
    let page = SearchIndex.Page(try Transcript(ofStage: Array(transcript.utf8)))
    #expect(page.words == "a\n—\nb c")
    let times = try #require(SearchIndex.Page.times(page.times, count: 3))
    #expect(times == [12.3456...13, nil, 3...3.5])
    #expect(SearchIndex.Page.times(page.times, count: 2) == nil)
  }

  @Test("words of captions have the times of their places in them")
  func captions() throws {
    let captions = "1\n00:00:01,000 --> 00:00:03,000\nand so\n"
    let page = SearchIndex.Page(try Transcript(ofStage: Array(captions.utf8)))
    #expect(page.words == "and\nso")
    let times = try #require(SearchIndex.Page.times(page.times, count: 2))
    #expect(times[0]?.lowerBound == 1 && times[1]?.upperBound == 3)
  }
}

/// What a store has told its user.
private final class Told: Sendable {
  private let kept = Mutex<[String]>([])

  var lines: [String] { kept.withLock { $0 } }

  func add(_ line: String) { kept.withLock { $0.append(line) } }
}
