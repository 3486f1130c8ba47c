import Foundation
import TestSupport
import Testing

/// Real speech with what is said beside it, in an inbox whose pipeline takes transcripts.
@Suite("A watch takes transcripts with their recordings")
struct WatchTranscriptTests {
  private let inbox: WatchedPlace
  private let place: Workspace
  private static let text = "The meeting was moved to Monday morning."

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
    _ = try place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      stages:
        - decode: { from: $note }
        - export: { formats: [flac] }
        - align: { transcript: $text, from: decode }
          when: $text
        - transcript: { formats: [json] }
          when: $text
        - proof
      """)
  }

  /// Speech outside the inbox, different for each name.
  private func speak(_ names: String...) throws {
    let program = try #require(Program(named: "espeak-ng"))
    for (number, name) in names.enumerated() {
      let pitch = "\(40 + 5 * number)"
      let file = place.file("made/\(name).wav")
      #expect(
        try program.run(["-v", "en-us", "-p", pitch, "-w", file, Self.text]).exitCode == 0)
    }
  }

  private func words(_ name: String) throws -> [String] {
    try ExportedWords(at: place.out + "/" + name).words.map(\.text)
  }

  /// The acknowledgement that contains something.
  private func told(_ part: String) throws -> String? {
    try Workspace.names(in: inbox.outbox).filter { $0.hasSuffix(".ack.json") }
      .map { try String(contentsOfFile: inbox.outbox + "/" + $0, encoding: .utf8) }
      .first { $0.contains(part) }
  }

  /// The statement of a recording's receipt.
  private func sources(of name: String) throws -> String {
    struct Envelope: Decodable { let payload: Data }
    let path = place.out + "/\(name).receipt.json"
    let envelope = try JSONDecoder().decode(
      Envelope.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    return String(decoding: envelope.payload, as: UTF8.self)
  }

  @Test("beside the recording, as Whisper's JSON, in the sidecar or named by it: each is used")
  func places() throws {
    try speak("text", "whisper", "inside", "named", "silent")
    let watch = try inbox.watch()
    let whisper =
      #"{"text":"\#(Self.text)","duration":3.5,"segments":[{"start":0,"end":3,"text":" \#(Self.text)"}]}"#
    try inbox.shell("cp made/text.wav inbox; sleep 0.1; echo '\(Self.text)' > inbox/text.txt")
    try inbox.shell("echo '\(whisper)' > inbox/whisper.json; cp made/whisper.wav inbox")
    try inbox.shell(
      #"echo '{"title":"In","transcript":"\#(Self.text)"}' > inbox/inside.json; cp made/inside.wav inbox"#
    )
    try inbox.shell(
      "echo '\(Self.text)' > inbox/said.txt; "
        + #"echo '{"transcript":"said.txt"}' > inbox/named.json; cp made/named.wav inbox"#)
    try inbox.shell("cp made/silent.wav inbox")
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 5 },
      "\(watch.output) \(watch.errors)")
    for name in ["text", "whisper", "inside", "named"] {
      #expect(try words(name + ".json") == Self.text.split(separator: " ").map(String.init))
    }
    #expect(!FileManager.default.fileExists(atPath: place.out + "/silent.json"))
    // What was said is found with where the recording arrived, and with its key.
    let hit = try place.spool(
      ["search", "--json"] + Self.text.split(separator: " ").prefix(2).map(String.init))
    let key = try #require(
      try inbox.notes().first { hit.text.contains("\"key\":\"\($0.key)\"") }?.key)
    #expect(hit.text.contains("\"recording\":\"\(inbox.inbox)/"), "\(key): \(hit.text)")
    // All that came with a recording went with it.
    let left = [
      "inside.json", "inside.wav", "named.json", "named.wav", "said.txt", "silent.wav", "text.txt",
      "text.wav", "whisper.json", "whisper.wav",
    ]
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox) == left.map { "accepted/" + $0 } },
      "\(WatchedPlace.files(in: inbox.inbox))")
    #expect(!watch.news.contains { ["ignored", "refused", "trouble"].contains($0.event) })
    // The acknowledgement tells which file it was, and the receipt names it among its sources.
    #expect(
      inbox.wait {
        (try? told(#""name":"text.wav""#))?.contains(#""transcript":"text.txt""#) == true
      })
    #expect(try sources(of: "text").contains(#""name":"text.txt""#))
    // What comes behind a recording that is done is left alone, and told.
    try inbox.shell("echo '\(Self.text)' > inbox/silent.txt")
    #expect(inbox.wait { watch.news.contains { $0.event == "refused" } }, "\(watch.output)")
    #expect(watch.news.last { $0.event == "refused" }?.text?.contains("processed already") == true)
    #expect(WatchedPlace.files(in: inbox.inbox).contains("silent.txt"))
  }

  @Test("a text that the sidecar names is waited for, and a retry uses one that comes too late")
  func namedText() throws {
    try speak("soon", "late", "hand")
    func name(_ name: String) throws {
      try inbox.shell(
        #"echo '{"transcript":"\#(name)-words.txt"}' > inbox/\#(name).json; "#
          + "cp made/\(name).wav inbox")
    }
    func isRight(_ name: String) throws -> Bool {
      try words(name + ".json") == Self.text.split(separator: " ").map(String.init)
    }
    let watch = try inbox.watch(["--sidecar", "4s"])
    try name("soon")
    try inbox.shell("sleep 1.5; echo '\(Self.text)' > inbox/soon-words.txt")
    #expect(
      inbox.wait { watch.news.contains { ["uploaded", "quarantined"].contains($0.event) } },
      "\(watch.output)")
    #expect(try isRight("soon"))
    try name("late")
    #expect(inbox.wait { watch.news.contains { $0.event == "quarantined" } }, "\(watch.output)")
    let told = watch.news.last { $0.event == "quarantined" }?.text ?? ""
    let place = "\(inbox.inbox)/late-words.txt"
    #expect(
      told.hasPrefix(
        "the sidecar names late-words.txt, which is not there: put that text at \(place), and "
          + "spool inbox retry "), "\(told)")
    try inbox.shell("echo '\(Self.text)' > inbox/late-words.txt")
    #expect(inbox.wait { watch.news.last?.event == "transcript" }, "\(watch.output)")
    #expect(watch.news.last?.text?.contains("; spool inbox retry ") == true, "\(watch.output)")
    let isTold = try inbox.wait(seconds: 20) {
      try !self.place.spool(["status"]).text.contains("has not been taken in")
    }
    let status = try self.place.spool(["status"]).text
    #expect(isTold, "\(status)")
    #expect(try self.place.spool(["inbox", "retry", "late.wav"]).exitCode == 0)
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    #expect(try isRight("late"))
    // Also without a watch, and beside the recording in quarantine.
    try name("hand")
    let quarantined = "quarantine/hand.wav.reason.json"
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox).contains(quarantined) }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    try inbox.shell("echo '\(Self.text)' > inbox/quarantine/hand-words.txt")
    #expect(try self.place.spool(["inbox", "retry", "hand.wav"]).exitCode == 0)
    let next = try inbox.watch()
    #expect(inbox.wait { next.news.contains { $0.event == "uploaded" } }, "\(next.output)")
    #expect(try isRight("hand"))
    let all = ["hand", "late", "soon"].flatMap { ["\($0)-words.txt", "\($0).json", "\($0).wav"] }
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox) == all.map { "accepted/" + $0 } },
      "\(WatchedPlace.files(in: inbox.inbox))")
  }

  @Test("without the text that the sidecar names, one beside the recording is used, or none")
  func otherText() throws {
    try speak("talk", "bare")
    let watch = try inbox.watch(["--sidecar", "1s"])
    try inbox.shell(
      "echo '\(Self.text)' > inbox/talk.txt; "
        + #"echo '{"transcript":"said.txt"}' > inbox/talk.json; cp made/talk.wav inbox"#)
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    let warning = "the sidecar names said.txt, which is not there: talk.txt is used"
    #expect(watch.news.contains { $0.text == warning }, "\(watch.output)")
    #expect(try words("talk.json").first == "The")
    try inbox.shell(
      #"echo '{"transcript":"bare-words.txt"}' > inbox/bare.json; cp made/bare.wav inbox"#)
    #expect(inbox.wait { watch.news.contains { $0.event == "quarantined" } }, "\(watch.output)")
    #expect(try place.spool(["inbox", "release", "bare.wav"]).exitCode == 0)
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    #expect(!FileManager.default.fileExists(atPath: place.out + "/bare.json"))
  }

  @Test("a text that comes for a processed recording is told, with the run that aligns it")
  func correctedText() throws {
    try speak("text")
    let watch = try inbox.watch()
    try inbox.shell("echo '\(Self.text)' > inbox/text.txt; cp made/text.wav inbox")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "uploaded" } },
      "\(watch.output) \(watch.errors)")
    #expect(inbox.wait { !WatchedPlace.files(in: inbox.inbox).contains("text.txt") })
    try inbox.shell("echo 'Indeed \(Self.text)' > inbox/text.txt")
    #expect(inbox.wait { watch.news.contains { $0.event == "refused" } }, "\(watch.output)")
    let told = try #require(watch.news.last { $0.event == "refused" }?.text)
    let line = try #require(told.split(separator: ": ").last.map(String.init))
    #expect(line.hasPrefix("spool run ") && line.contains("/text.txt"), "\(told)")
    try shell(line)
    #expect(try words("text.json").first == "Indeed")
    let key = try #require(try place.spool(["inbox", "list"]).text.split(separator: " ").first)
    let release = try place.spool(["inbox", "release", String(key)])
    #expect(release.errorOutput.contains("spool words edit "), "\(release.errorOutput)")
  }

  @Test("a text that comes after words were recognised is told with the run of the same settings")
  func lateText() throws {
    _ = try place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      vars: { level: { value: 0 dB, overridable: true }, peak: { value: 0 dB, overridable: true } }
      stages:
        - decode: { from: $note }
        - gain: $level
        - gain: $peak
        - export: { formats: [wav] }
        - align: { transcript: $text, from: decode }
          when: $text
        - recognize: { from: decode }
          when: not $text
        - transcript: { formats: [json] }
      """)
    try speak("text")
    let watch = try inbox.watch(["--set", "level=-3 dB"])
    try inbox.shell(
      #"echo '{"spool":{"set":{"peak":"-2 dB"}}}' > inbox/text.json; cp made/text.wav inbox"#)
    #expect(
      inbox.wait { watch.news.contains { $0.event == "released" } },
      "\(watch.output) \(watch.errors)")
    let before = try place.export("text.wav")
    try inbox.shell("echo '\(Self.text)' > inbox/text.txt")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "refused" } }, "\(watch.output)")
    let told = try #require(watch.news.last { $0.event == "refused" }?.text)
    let line = try #require(told.split(separator: "to use it: ").last.map(String.init))
    #expect(line.contains("--set 'level=-3 dB' --set 'peak=-2 dB'"), "\(told)")
    try shell(line)
    #expect(try words("text.json") == Self.text.split(separator: " ").map(String.init))
    #expect(try place.export("text.wav") == before)
    // It is used: nothing asks for it again, and the recording shows the run that did.
    #expect(!(try place.spool(["status"]).text.contains("to use it")))
    let key = try #require(try place.spool(["inbox", "list"]).text.split(separator: " ").first)
    let shown = try place.spool(["inbox", "show", String(key)]).text
    // Its ID names it for the commands of words, too.
    let known = try place.spool(["words", "show", String(key)])
    #expect(known.exitCode == 0 && known.text.contains("meeting"), "\(known.errorOutput)")
    let newest = try #require(try place.spool(["runs"]).text.split(separator: " ").first)
    #expect(shown.contains("run:       \(newest) "), "\(shown)")
  }

  /// Types a line.
  private func shell(_ line: String) throws {
    let folder = (try SpoolProgram.program.path as NSString).deletingLastPathComponent
    let run = try #require(Program(named: "bash")).run(
      ["-c", "PATH=\(folder):$PATH; \(line)"], environment: place.environment,
      folder: place.folder.path)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
  }

  /// Corrects a word of a recording that a watch has processed with its text and released.
  /// - Returns: what that says.
  private func correct(watchedWith options: String...) throws -> String {
    try speak("text")
    let watch = try inbox.watch(options)
    try inbox.shell("echo '\(Self.text)' > inbox/text.txt; cp made/text.wav inbox")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "released" } },
      "\(watch.output) \(watch.errors)")
    let run = try #require(try place.spool(["runs"]).text.split(separator: " ").first)
    let edited = try place.folder.write("Indeed " + Self.text, to: "edited.txt")
    let edit = try place.spool(["words", "edit", String(run), "--from", edited])
    #expect(edit.exitCode == 0 && edit.text.contains("1 place"), "\(edit.errorOutput)")
    return edit.text
  }

  @Test(
    "captions of a recording that only the store has are written again by the line that is given")
  func deletedRecording() throws {
    let edit = try correct(watchedWith: "--keep", "delete", "--single-copy")
    let line = try #require(edit.split(separator: "line:  ").last.map(String.init))
    #expect(line.hasPrefix("spool inbox export "), "\(edit)")
    try shell(line)
    #expect(try words("text.json").first == "Indeed")
  }

  @Test(
    "captions that a receipt covers under a template's name are told to stay, and how to renew them"
  )
  func signedCaptions() throws {
    _ = try place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      stages:
        - decode: { from: $note }
        - export: [flac]
        - align: { transcript: $text, from: decode }
          when: $text
        - transcript: { formats: [srt] }
          when: $text
        - proof
      """)
    let edit = try correct(watchedWith: "--name", "dated {title}")
    #expect(edit.contains("stay as they are, for a receipt covers them"), "\(edit)")
    #expect(edit.contains("spool inbox forget "), "\(edit)")
  }

  /// A recording with a sidecar that sets something and a text, processed and released; then the disk of
  /// the store is lost, and a backup's file brought back.
  /// - Returns: what a search says.
  private func restored(watchedWith options: String...) throws -> String {
    _ = try place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      vars: { peak: { value: 0 dB, overridable: true } }
      stages:
        - decode: { from: $note }
        - gain: $peak
        - export: { formats: [wav] }
        - align: { transcript: $text, from: decode }
          when: $text
        - transcript: { formats: [json] }
          when: $text
        - proof
      """)
    try speak("text")
    let watch = try inbox.watch(options)
    try inbox.shell(
      #"echo '{"title":"T","spool":{"set":{"peak":"-2 dB"}}}' > inbox/text.json; "#
        + "echo '\(Self.text)' > inbox/text.txt; cp made/text.wav inbox")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "released" } },
      "\(watch.output) \(watch.errors)")
    watch.send(SIGTERM)
    _ = watch.end()
    try #require(try place.spool(["store", "backup", place.file("backup")]).exitCode == 0)
    try inbox.shell("rm -r '\(place.store)'")
    try #require(try place.spool(["store", "restore", place.file("backup")]).exitCode == 0)
    let search = try place.spool(["search", "Monday"])
    return search.text + search.errorOutput
  }

  @Test("after a restore without words, the line that is told brings all back as it was")
  func restoredWords() throws {
    let told = try restored()
    let line = try #require(told.split(separator: "next:  ").last.map(String.init))
    #expect(line.contains("--set 'peak=-2 dB'"), "\(told)")
    let before = try place.export("text.wav")
    try shell(line)
    #expect(try place.export("text.wav") == before)
    #expect(try place.spool(["search", "Monday"]).text.contains("text.wav"))
    #expect(try sources(of: "text").contains("text.json"))
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
    // Where the sidecar is gone too, nothing says what it has set.
    let second = try WatchTranscriptTests()
    _ = try second.restored()
    try second.inbox.shell("rm inbox/accepted/text.json")
    let lost = try second.place.spool(["search", "Monday"])
    #expect(!lost.errorOutput.contains("next:  spool run"), "\(lost.errorOutput)")
    try second.shell("spool run pipeline.yaml inbox/accepted/text.wav --out other")
  }

  @Test("after a restore, words of exports under a template's name are told with what to deliver")
  func restoredUnderTemplate() throws {
    let told = try restored(watchedWith: "--name", "dated {title}")
    #expect(told.contains("then spool inbox forget "), "\(told)")
    let line = try #require(told.split(separator: "next:  ").last.map(String.init))
    #expect(line.hasPrefix("spool inbox export "), "\(told)")
    let before = try place.export("dated T.wav")
    try shell(line)
    let key = try #require(line.split(separator: " ").dropFirst(3).first)
    try shell("spool inbox forget \(key)")
    let watch = try inbox.watch(["--name", "dated {title}"])
    try inbox.shell(
      "cd original-*; cp text.json ../inbox; cp text.txt ../inbox; cp text.wav ../inbox")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    #expect(try place.export("dated T.wav") == before)
    #expect(try place.spool(["search", "Monday"]).text.contains("text.wav"))
  }

  @Test("a sidecar in another encoding tells the same in a watch, a batch and a run")
  func encodings() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      stages:
        - decode: { from: $note }
        - export: { formats: [flac] }
        - align: { transcript: $text, from: decode, least: 0 % }
          when: $text
        - transcript: { formats: [text] }
          when: $text
        - proof
      """)
    try speak("latin", "wide")
    let sidecar =
      #"{"title":"Gärten","transcript":"Thé \#(Self.text)","chapters":[{"start":0,"title":"Schön"}]}"#
    for (name, encoding) in [("latin", String.Encoding.isoLatin1), ("wide", .utf16)] {
      try sidecar.data(using: encoding)?.write(
        to: URL(fileURLWithPath: place.file("made/\(name).json")))
    }
    let watch = try inbox.watch()
    try inbox.shell("cp made/*.json inbox; cp made/*.wav inbox")
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 },
      "\(watch.output) \(watch.errors)")
    let batch = try place.spool(["batch", pipeline, "made", "--out", place.file("batch")])
    #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    let run = try place.spool(["run", pipeline, "made/latin.wav", "--out", place.file("run")])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    for path in ["out/latin", "out/wide", "batch/latin", "batch/wide", "run/latin"] {
      let sound = try Data(contentsOf: URL(fileURLWithPath: place.file(path + ".flac")))
      for text in ["Gärten", "Schön"] {
        #expect(sound.range(of: Data(text.utf8)) != nil, "\(path) lacks \(text)")
      }
      let said = try String(contentsOfFile: place.file(path + ".txt"), encoding: .utf8)
      #expect(said.hasPrefix("Thé "), "\(path): \(said)")
    }
    // The receipt has the sidecar as it came.
    let content = try #require(sidecar.data(using: .isoLatin1)).base64EncodedString()
    #expect(try sources(of: "latin").contains(content))
  }

  @Test("what is written of a transcript alone has its recording's name, whatever runs it")
  func transcriptsAlone() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      stages:
        - decode: { from: $note }
        - export: { formats: [flac] }
        - transcript: { from: $text, formats: [srt] }
          when: $text
        - proof
      """)
    for number in [1, 2] {
      try inbox.make(number)
      let cue = "1\n00:00:00,000 --> 00:00:00,200\nnumber \(number)\n"
      try cue.write(
        toFile: place.file("made/\(number).wav.srt"), atomically: true, encoding: .utf8)
    }
    func check(_ folder: String, _ told: String) {
      let names = ["1.flac", "1.srt", "2.flac", "2.srt"]
      let files = WatchedPlace.files(in: folder).filter { $0 != "batch.json" }
      #expect(files == names, "\(told)")
      for number in [1, 2] {
        let text = try? String(contentsOfFile: folder + "/\(number).srt", encoding: .utf8)
        #expect(text?.contains("number \(number)") == true, "\(told)")
      }
    }

    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav.srt made/2.wav.srt inbox; cp made/1.wav made/2.wav inbox")
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 },
      "\(watch.output) \(watch.errors)")
    check(place.out, watch.output)
    #expect(!watch.news.contains { $0.event == "retrying" }, "\(watch.output)")

    let batch = try place.spool(["batch", pipeline, "made", "--out", place.file("batch")])
    #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    check(place.file("batch"), batch.errorOutput)

    // With a new text, the exports are the same recording's, and are replaced.
    for texts in [["2.wav.srt", "1.wav.srt"], ["1.wav.srt", "2.wav.srt"]] {
      for (number, text) in zip([1, 2], texts) {
        let run = try place.spool([
          "run", pipeline, "made/\(number).wav", "made/\(text)", "--out", place.file("run"),
        ])
        #expect(run.exitCode == 0, "\(run.errorOutput)")
      }
    }
    check(place.file("run"), "run")
  }

  @Test("a text of another recording quarantines both, and a better one lets the recording in")
  func wrongText() throws {
    try speak("talk")
    let watch = try inbox.watch()
    try inbox.shell(
      "echo 'Shall I compare thee to a summer day, rough winds do shake' > inbox/talk.txt; "
        + "cp made/talk.wav inbox")
    let both = ["quarantine/talk.txt", "quarantine/talk.wav", "quarantine/talk.wav.reason.json"]
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox) == both },
      "\(WatchedPlace.files(in: inbox.inbox)) \(watch.output)")
    let told = try #require(watch.news.last { $0.event == "quarantined" })
    #expect(told.text?.contains("does not belong to the recording") == true)
    try inbox.shell("echo '\(Self.text)' > inbox/talk.txt")
    #expect(inbox.wait { watch.news.contains { $0.event == "transcript" } }, "\(watch.output)")
    // Wherever they go, the text that counts has the recording's name, and not the one before.
    func text(_ path: String) -> String? {
      try? String(contentsOfFile: place.file(path), encoding: .utf8)
    }
    #expect(
      inbox.wait { text("inbox/quarantine/talk.txt") == Self.text + "\n" },
      "\(WatchedPlace.files(in: inbox.inbox))")
    #expect(text("inbox/quarantine/talk (2).txt")?.hasPrefix("Shall I compare") == true)
    let key = try #require(try inbox.notes().first?.key)
    #expect(try place.spool(["inbox", "release", key]).exitCode == 0)
    #expect(
      inbox.wait { watch.news.contains { $0.event == "uploaded" } },
      "\(watch.output)")
    #expect(try words("talk.json") == Self.text.split(separator: " ").map(String.init))
    let accepted = ["talk (2).txt", "talk.txt", "talk.wav"].map { "accepted/" + $0 }
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox) == accepted },
      "\(WatchedPlace.files(in: inbox.inbox))")
    #expect(text("inbox/accepted/talk.txt") == Self.text + "\n")
    #expect(try place.spool(["inbox", "export", key, "--to", "back"]).exitCode == 0)
    #expect(text("back/talk.txt") == Self.text + "\n")
    #expect(text("back/talk (2).txt")?.hasPrefix("Shall I compare") == true)
  }

  @Test(
    "a run of what a watch has done keeps the arrival in the receipt, and finds lost words again")
  func doneAgain() throws {
    try speak("talk")
    let watch = try inbox.watch()
    try inbox.shell(
      "echo '\(Self.text)' > inbox/talk.txt; echo '{\"title\":\"A talk\"}' > inbox/talk.json; "
        + "cp made/talk.wav inbox")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let signed = try sources(of: "talk")
    #expect(signed.contains("arrivedAt") && signed.contains(#""sidecar""#), "\(signed)")
    let edited = try place.folder.write(
      Self.text.replacing("Monday", with: "Sunday"), to: "edited.txt")
    let edit = try place.spool([
      "words", "edit", inbox.inbox + "/accepted/talk.wav", "--from", edited,
    ])
    let line = try #require(edit.text.split(separator: "\n").first { $0.contains("spool run ") })
    let words = try #require(line.components(separatedBy: "spool run ").last)
    #expect(try place.spool(["run"] + words.components(separatedBy: " ")).exitCode == 0, "\(line)")
    let again = try sources(of: "talk")
    #expect(again != signed)
    for part in ["arrivedAt", #""sidecar""#, #""name":"talk.json""#] {
      #expect(again.contains(part), "\(part) is missing in \(again)")
    }
    // Of a store that only the backup has, the recording still lies where the watch has put it.
    let backup = place.file("backup.sqlite")
    try #require(place.spool(["store", "backup", backup]).exitCode == 0)
    try FileManager.default.removeItem(atPath: place.store)
    try #require(place.spool(["store", "restore", backup]).exitCode == 0)
    let lost = try place.spool(["search", "morning"])
    #expect(
      lost.errorOutput.contains("next:  spool run")
        && lost.errorOutput.contains("accepted/talk.wav"),
      "\(lost.errorOutput)")
  }

  @Test("a recording that is forgotten leaves nothing of its sidecar in the store")
  func forgotten() throws {
    try speak("talk")
    let watch = try inbox.watch()
    try inbox.shell(
      #"echo '{"remark":"lampshade","transcript":"\#(Self.text)"}' > inbox/talk.json; "#
        + "cp made/talk.wav inbox")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    func isThere() throws -> Bool {
      try inbox.shell("grep -rqa lampshade store --exclude-dir backups")
    }
    #expect(try isThere())
    #expect(try place.spool(["words", "forget", "last", "--yes"]).exitCode == 0)
    let note = try #require(try inbox.notes().first)
    #expect(try place.spool(["inbox", "forget", note.key]).exitCode == 0)
    #expect(try place.spool(["store", "gc", "--grace", "0s", "--older-than", "0s"]).exitCode == 0)
    #expect(try !isThere())
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }
}
