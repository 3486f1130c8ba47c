import Foundation
import TestSupport
import Testing

@Suite("Words that are forgotten are gone from the store, and nothing brings them back")
struct WordsForgetTests {
  private static let text = "The quick brown fox jumps over the lazy dog near the river bank."

  private let place: Workspace
  private let sound: String
  private let script: String

  init() throws {
    place = try Workspace()
    sound = place.file("talk.wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, Self.text]).exitCode == 0)
    script = try place.folder.write(Self.text, to: "talk.txt")
    try find()
    let edited = try place.folder.write(
      Self.text.replacingOccurrences(of: "lazy", with: "sleepy"), to: "edited.txt")
    try #require(place.spool(["words", "edit", sound, "--from", edited]).exitCode == 0)
  }

  private func find() throws {
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound, script])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
  }

  private func isFound(_ word: String) throws -> Bool {
    try place.spool(["search", word]).exitCode == 0
  }

  /// The files of the store, but for its backups, that have a word.
  private func files(with word: String) throws -> [String] {
    let grep = try #require(Program(named: "grep"))
    let found = try grep.run(["-rliaF", "--exclude-dir", "backups", word, place.store])
    return found.text.split(separator: "\n").map(String.init)
  }

  private func expectNoWords() throws {
    let shown = try place.spool(["words", "show", sound])
    #expect(shown.exitCode == 1)
    #expect(shown.errorOutput.contains("there are no words of talk.wav"), "\(shown.errorOutput)")
    for word in ["quick", "lazy", "sleepy"] {
      let search = try place.spool(["search", word])
      #expect(search.exitCode != 0, "\(search.text)")
      #expect(!search.errorOutput.contains("talk.wav"), "\(search.errorOutput)")
      #expect(try files(with: word) == [])
    }
  }

  /// A folder of the recording and its text, and the batch of it.
  private func batchOfOne() throws -> (folder: String, words: [String]) {
    let folder = place.file("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for (file, name) in [(sound, "talk.wav"), (script, "talk.txt")] {
      try FileManager.default.copyItem(atPath: file, toPath: folder + "/" + name)
    }
    // What changed less than two seconds ago is always examined again.
    Thread.sleep(forTimeInterval: 2.5)
    let words = ["batch", PackageFiles.pipeline("words.yaml"), folder, "--out", place.file("b")]
    return (folder, words)
  }

  @Test("a batch's report of them goes too, and no later report has them")
  func batch() throws {
    // A correction that goes would make the file be done again.
    #expect(try place.spool(["words", "forget", sound, "--yes"]).exitCode == 0)
    let (folder, words) = try batchOfOne()
    try #require(place.spool(words).exitCode == 0)
    func report() throws -> String {
      try String(contentsOfFile: place.file("b") + "/batch.json", encoding: .utf8)
    }
    #expect(try report().contains("longestWord"))
    #expect(try place.spool(["words", "forget", folder + "/talk.wav", "--yes"]).exitCode == 0)
    try expectNoWords()
    try FileManager.default.removeItem(atPath: place.file("b") + "/batch.json")
    let again = try place.spool(words)
    #expect(again.text.contains("1 reused"), "\(again.text)")
    #expect(try !report().contains("longestWord"))
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("those that a store has lost are found again by the batch that found them")
  func lost() throws {
    let (_, words) = try batchOfOne()
    try #require(place.spool(words).exitCode == 0)
    #expect(try place.spool(words).text.contains("1 reused"))
    let backup = place.file("backup.sqlite")
    try #require(place.spool(["store", "backup", backup]).exitCode == 0)
    try FileManager.default.removeItem(atPath: place.store)
    try #require(place.spool(["store", "restore", backup]).exitCode == 0)
    #expect(try !isFound("sleepy"))
    let again = try place.spool(words)
    #expect(again.exitCode == 0 && again.text.contains("1 to do"), "\(again.text)")
    #expect(try isFound("sleepy"))
  }

  @Test(
    "those of a file that is another recording by now are not looked for in it, and are given up")
  func replaced() throws {
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-s", "140", "-w", sound, Self.text]).exitCode == 0)
    let other = try place.run(
      PackageFiles.pipeline("words.yaml"), [sound, script], ["--replace"])
    try #require(other.exitCode == 0, "\(other.errorOutput)")
    let backup = place.file("backup.sqlite")
    try #require(place.spool(["store", "backup", backup]).exitCode == 0)
    try FileManager.default.removeItem(atPath: place.store)
    try #require(place.spool(["store", "restore", backup]).exitCode == 0)
    try find()
    let told = try place.spool(["search", "fox"]).errorOutput
    #expect(told.contains("\(sound) is another recording by now"), "\(told)")
    let forget = try #require(told.firstMatch(of: /spool words forget (\S+) gives them up/))
    try #require(
      place.spool(["words", "forget", String(forget.1), "--yes"]).exitCode == 0)
    #expect(try place.spool(["search", "fox"]).errorOutput == "")
  }

  @Test("they, their corrections and what the store made of them go; recording and exports stay")
  func forget() throws {
    let exports = try place.allExports()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
    #expect(try isFound("sleepy") && !files(with: "sleepy").isEmpty)
    let forgotten = try place.spool(["words", "forget", sound, "--yes"])
    #expect(forgotten.exitCode == 0, "\(forgotten.errorOutput)")
    #expect(
      forgotten.text.hasPrefix("forgot the words of talk.wav: 1 transcript and "),
      "\(forgotten.text)")
    #expect(forgotten.text.contains("1 correction"), "\(forgotten.text)")
    try expectNoWords()
    #expect(try place.allExports() == exports)
    #expect(try Data(contentsOf: URL(fileURLWithPath: sound)) == bytes)
    #expect(try place.spool(["store", "check"]).exitCode == 0)

    let again = try place.spool(["words", "forget", "last", "--yes"])
    #expect(again.exitCode == 0 && again.text.contains("nothing to forget"), "\(again.text)")
    #expect(try place.spool(["store", "repair"]).exitCode == 0)
    try expectNoWords()
    // The database is made again from the change log.
    try Data("destroyed".utf8).write(to: URL(fileURLWithPath: place.store + "/spool.sqlite"))
    try expectNoWords()

    try find()
    #expect(try isFound("lazy") && !isFound("sleepy"))
    #expect(try place.allExports() == exports)
  }

  @Test(
    "those of a whole of several recordings go, and a part keeps its own words",
    arguments: ["concat", "mixdown"])
  func whole(stage: String) throws {
    let other = place.file("other.wav")
    let words = "Sphinx of black quartz, judge my vow."
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+f3", "-w", other, words]).exitCode == 0)
    let both = try place.folder.write("\(Self.text) \(words)\n", to: "both.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: whole
      inputs: { a: sound, b: sound, text: transcript }
      stages:
        - \(stage): { from: [$a, $b] }
        - align: { transcript: $text, least: 0 % }
        - transcript: { formats: [srt], name: both }
      """)
    #expect(try place.run(pipeline, [sound, other, both]).exitCode == 0)
    #expect(try isFound("quartz") && !files(with: "quartz").isEmpty)
    let forgotten = try place.spool(["words", "forget", "last", "--yes"])
    #expect(
      forgotten.text.hasPrefix("forgot the words of talk.wav + other.wav: 1 transcript and "),
      "\(forgotten.text)\(forgotten.errorOutput)")
    #expect(try !isFound("quartz") && files(with: "quartz") == [])
    #expect(try place.spool(["words", "show", sound]).text.contains("sleepy"))
    let again = try place.spool(["words", "forget", "last", "--yes"])
    #expect(again.exitCode == 0 && again.text.contains("nothing to forget"), "\(again.text)")
    #expect(try isFound("sleepy"))
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("corrected words that were given to a stage behind one that moved them go, too")
  func retimed() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: moved
      inputs: { talk: sound, text: transcript }
      stages:
        - decode: { from: $talk }
        - align: { transcript: $text }
        - trim: { start: 100 ms, from: decode }
        - retime: { changes: trim, from: align }
        - transcript: { formats: [srt], name: moved }
      """)
    #expect(try place.run(pipeline, [sound, script]).exitCode == 0)
    #expect(try !files(with: "sleepy").isEmpty)
    let forgotten = try place.spool(["words", "forget", sound, "--yes"])
    #expect(forgotten.exitCode == 0, "\(forgotten.errorOutput)")
    try expectNoWords()
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("those of another recording that a run has joined with it stay, and are found")
  func joined() throws {
    let other = place.file("other.wav")
    let program = try #require(Program(named: "espeak-ng"))
    let said = "Ask not what your country can do for you."
    #expect(try program.run(["-v", "en-us+m3", "-w", other, said]).exitCode == 0)
    let text = try place.folder.write(said, to: "other.txt")
    #expect(try place.run(PackageFiles.pipeline("words.yaml"), [other, text]).exitCode == 0)
    let join = try place.pipeline(
      """
      pipeline: join
      inputs: { a: sound, b: sound, ta: transcript, tb: transcript }
      stages:
        - decode: { from: $a }
          id: da
        - decode: { from: $b }
          id: db
        - align: { from: da, transcript: $ta }
          id: wa
        - align: { from: db, transcript: $tb }
          id: wb
        - concat: { parts: [da, db] }
          id: whole
        - retime: { from: wa, changes: whole, part: 1 }
          id: ra
        - transcript: { from: ra, formats: [vtt], name: a }
        - retime: { from: wb, changes: whole, part: 2 }
          id: rb
        - transcript: { from: rb, formats: [vtt], name: b }
      """)
    let run = try place.run(
      join, ["a=" + sound, "b=" + other, "ta=" + script, "tb=" + text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try isFound("sleepy") && isFound("country"))
    #expect(try place.spool(["words", "forget", other, "--yes"]).exitCode == 0)
    #expect(try isFound("sleepy") && !isFound("country"))
    #expect(try files(with: "country") == [])
    #expect(try place.spool(["words", "forget", sound, "--yes"]).exitCode == 0)
    try expectNoWords()
  }

  @Test("of unfinished runs, those are named that would make words again")
  func unfinished() throws {
    func fail(_ name: String, _ stage: String) throws -> String {
      let pipeline = try place.folder.write(
        """
        pipeline: \(name)
        inputs: { talk: sound, text: transcript }
        stages:
          - decode: { from: $talk }
          - \(stage)
          - command: { run: [sh, -c, "exit 3", "{input}"], outputs: { file-name: x } }
            from: decode
          - export: { from: decode, formats: [wav] }
        """, to: name + ".yaml")
      #expect(try place.run(pipeline, [sound, script]).exitCode == 1)
      let runs = try place.spool(["runs"]).text
      return try #require(runs.split(separator: " ").first.map(String.init))
    }
    let level = try fail("level", "gain: -3 dB")
    let words = try fail("again", "align: { transcript: $text, from: decode }")
    let told = try place.spool(["words", "forget", sound, "--yes"]).errorOutput
    #expect(told.contains("run \(words) is not finished") && !told.contains(level), "\(told)")
  }

  @Test("without a terminal it needs --yes, and a refusal and a no leave everything")
  func asking() throws {
    let refused = try place.spool(["words", "forget", sound])
    #expect(
      refused.exitCode == 2 && refused.errorOutput.contains("--yes"), "\(refused.errorOutput)")
    let stage = try place.spool(["words", "forget", "last", "align", "--yes"])
    #expect(stage.exitCode == 2, "\(stage.errorOutput)")
    #expect(try isFound("sleepy"))
    let terminal = try #require(Program(named: "script"))
    func answer(_ word: String) throws -> String {
      let line = try #require(Program(named: "bash"))
      let command = "\(try SpoolProgram.program.path) words forget '\(sound)'"
      return try line.run(
        ["-c", "echo \(word) | '\(terminal.path)' -qec \"\(command)\" /dev/null"],
        environment: place.environment, folder: place.folder.path
      ).text
    }
    let no = try answer("no")
    #expect(no.contains("nothing was forgotten"), "\(no)")
    #expect(try isFound("sleepy"))
    let yes = try answer("yes")
    #expect(yes.contains("It cannot be undone") && yes.contains("forgot the words"), "\(yes)")
    try expectNoWords()
  }

  @Test("another recording keeps its words, also the same text")
  func others() throws {
    let other = place.file("other.wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+f3", "-w", other, Self.text]).exitCode == 0)
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [other, script])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try place.spool(["words", "forget", sound, "--yes"]).exitCode == 0)
    #expect(try place.spool(["words", "show", sound]).exitCode == 1)
    #expect(try place.spool(["words", "show", other]).text.contains("lazy"))
    let found = try place.spool(["search", "lazy"])
    #expect(found.text.contains("other.wav") && !found.text.contains("talk.wav"), "\(found.text)")
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("killed anywhere, it leaves a sound store, and asked again it ends")
  func killed() throws {
    let whole = place.file("whole")
    let shell = try #require(Program(named: "bash"))
    func copy(_ source: String, to target: String) throws {
      let line = "rm -rf '\(target)'; cp -a '\(source)' '\(target)'"
      #expect(try shell.run(["-c", line]).exitCode == 0)
    }
    try copy(place.store, to: whole)
    var number = 1
    while true {
      try copy(whole, to: place.store)
      let forget = try place.spool(
        ["words", "forget", sound, "--yes"], environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      if forget.exitCode != 128 + SIGKILL {
        #expect(forget.exitCode == 0, "\(forget.errorOutput)")
        break
      }
      // The next command takes in what the log has and the database has not.
      #expect(try place.spool(["runs"]).exitCode == 0)
      let check = try place.spool(["store", "check"])
      #expect(check.exitCode == 0, "\(number): \(check.text)")
      let again = try place.spool(["words", "forget", sound, "--yes"])
      #expect(again.exitCode == 0, "\(number): \(again.errorOutput)")
      #expect(try place.spool(["words", "show", sound]).exitCode == 1)
      #expect(try files(with: "lazy") == [] && files(with: "sleepy") == [])
      number += max(1, number / 2)
    }
    #expect(number > 5)
  }
}
