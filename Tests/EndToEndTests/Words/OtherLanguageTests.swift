import Foundation
import TestSupport
import Testing

@Suite("Words of other languages are found by synthesised speech") struct OtherLanguageTests {
  private static let german = """
    Am 3. Mai ging der alte Müller mit seinem Hund durch den Wald, obwohl es schon dunkel wurde. \
    Er dachte an die vielen Jahre, die er dort verbracht hatte — und lachte 😀 leise. Ein Brot \
    kostete damals ungefähr 2 Mark.
    """
  private static let french = """
    Longtemps, je me suis couché de bonne heure. Parfois, à peine ma bougie éteinte, mes yeux se \
    fermaient si vite que je n'avais pas le temps de me dire que je m'endormais.
    """

  @Test("every word of a German text comes out, in order, marked as coarse, where it is spoken")
  func german() throws {
    let place = try Workspace()
    let run = try align(Self.german, "de", with: Self.german, in: place)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let timed = try words(in: place)
    #expect(timed.language == "de")
    let written = Self.german.split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(timed.words.map(\.text) == written)
    #expect(zip(timed.words, timed.words.dropFirst()).allSatisfy { $0.startTime <= $1.startTime })
    #expect(timed.words.allSatisfy { $0.startTime <= $0.endTime })
    for word in timed.words {
      let isSpoken = word.text != "—" && word.text != "😀"
      #expect(word.flags?.contains(isSpoken ? "coarse" : "interpolated") == true, "\(word)")
    }
    // The speech begins after a second, and the last sentence after the pause before it.
    #expect(abs(timed.words[0].startTime - 1) < 0.15)
    let last = try #require(timed.words.firstIndex { $0.text == "Ein" })
    #expect(timed.words[last].startTime - timed.words[last - 1].endTime > 0.2)
  }

  @Test("the text of something else is refused")
  func wrong() throws {
    let run = try align(Self.german, "de", with: Self.french, in: try Workspace())
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("the transcript does not belong to the recording"))
  }

  @Test("a German text that is taken for English is refused with the line that says German")
  func assumedEnglish() throws {
    let place = try Workspace()
    let sound = try speech(Self.german, in: place)
    let text = try place.folder.write(Self.german, to: "talk.txt")
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound, text])
    #expect(run.exitCode == 1, "\(run.errorOutput)")
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("the transcript does not belong to the recording"))
    #expect(complaint.next.contains("the text looks like de"), "\(complaint)")
    let line = try #require(complaint.next.split(separator: ": ", maxSplits: 1).last)
    #expect(line.hasPrefix("spool run ") && line.contains("--set language=de"), "\(line)")
    // The line does what it says.
    let program = try SpoolProgram.program.path
    let typed = try #require(Program(named: "bash")).run(
      ["-c", program + line.dropFirst("spool".count)], environment: place.environment,
      folder: place.folder.path)
    #expect(typed.exitCode == 0, "\(typed.errorOutput)")
    #expect(try words(in: place).language == "de")
  }

  @Test("where no variable sets the language, the advice names the stage")
  func stageOfItsOwn() throws {
    let place = try Workspace()
    let sound = try speech(Self.german, in: place)
    let text = try place.folder.write(Self.german, to: "talk.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: plain
      inputs: { recording: sound, text: transcript }
      stages:
        - decode: { from: $recording }
        - align: { transcript: $text }
        - transcript: { formats: [json] }
      """)
    let run = try place.run(pipeline, [sound, text])
    #expect(run.exitCode == 1)
    #expect(run.complaint?.next.contains("to the stage language: de") == true, "\(run.errorOutput)")
  }

  @Test("a refusal says which share was needed, and why it is not the one that the pipeline says")
  func neededShare() throws {
    let place = try Workspace()
    let sound = try speech(Self.german, in: place)
    let text = try place.folder.write(Self.german, to: "talk.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: plain
      inputs: { recording: sound, text: transcript }
      stages:
        - decode: { from: $recording }
        - align: { transcript: $text, least: 30 % }
        - transcript: { formats: [json] }
      """)
    let run = try place.run(pipeline, [sound, text])
    #expect(run.exitCode == 1)
    let needed = "60 % must be of a text that looks like another language, where 30 % do for others"
    #expect(run.complaint?.why.contains(needed) == true, "\(run.errorOutput)")
  }

  @Test("a language that nobody speaks is refused before anything is done, with what to look at")
  func unknown() throws {
    let run = try align(Self.german, "tlh-x", with: Self.german, in: try Workspace())
    #expect(run.exitCode == 2)
    #expect(run.errorOutput.contains("tlh-x"), "\(run.errorOutput)")
    #expect(run.errorOutput.contains("espeak-ng --voices"), "\(run.errorOutput)")
  }

  @Test("it can be killed anywhere")
  func crashtest() throws {
    let place = try Workspace()
    let sound = try speech(Self.german, in: place)
    let text = try place.folder.write(Self.german, to: "talk.txt")
    let run = try place.spool([
      "pipeline", "crashtest", try pipeline(in: place, language: "de"), sound, text, "--kills", "2",
      "--seed",
      "5",
    ])
    #expect(run.exitCode == 0, "\(run.errorOutput)\(run.text)")
  }

  private func align(
    _ said: String, _ language: String, with text: String, in place: Workspace
  ) throws -> SpoolRun {
    let sound = try speech(said, in: place)
    let path = try place.folder.write(text, to: "talk.txt")
    return try place.run(try pipeline(in: place, language: language), [sound, path])
  }

  private func pipeline(in place: Workspace, language: String) throws -> String {
    try place.pipeline(
      """
      pipeline: foreign
      inputs: { recording: sound, text: transcript }
      stages:
        - decode: { from: $recording }
        - align: { transcript: $text, language: \(language) }
        - transcript: { formats: [json] }
      """)
  }

  /// A woman who speaks more slowly than the voice that the text is compared with, after a second.
  private func speech(_ text: String, in place: Workspace) throws -> String {
    let dry = place.file("dry.wav")
    let sound = place.file("talk.wav")
    let spoken = text.replacingOccurrences(of: "😀 ", with: "")
    let espeak = try #require(Program(named: "espeak-ng"))
    #expect(try espeak.run(["-v", "de+f2", "-s", "140", "-w", dry, spoken]).exitCode == 0)
    let sox = try #require(Program(named: "sox"))
    #expect(try sox.run([dry, sound, "pad", "1", "1"]).exitCode == 0)
    return sound
  }

  private func words(in place: Workspace) throws -> ExportedWords {
    try ExportedWords(at: place.out + "/talk.json")
  }
}
