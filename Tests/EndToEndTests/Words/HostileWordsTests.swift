import Foundation
import TestSupport
import Testing

/// Texts and recordings that nobody should give, through the program itself.
@Suite("Odd texts and recordings give a clear result or a clear refusal") struct HostileWordsTests {
  private static let said = """
    Please call me back on Monday morning, because the meeting with the client was moved to the \
    second floor. The quick brown fox jumps over the lazy dog.
    """
  private static let other = """
    When forty winters shall besiege thy brow and dig deep trenches in thy beauty's field, thy \
    youth's proud livery so gazed on now will be a tattered weed of small worth held.
    """
  private static let endless = String(repeating: "abcdefghij", count: 40)

  /// What comes of it.
  enum Outcome: Sendable {
    /// All words have times, and no more than so many are interpolated.
    case words(atMost: Int)
    /// It is refused, and this is said.
    case refused(String)
    /// All words have times between these seconds.
    case wordsWithin(ClosedRange<Double>)
  }

  /// A text beside speech of ``said``, or beside another sound that ffmpeg makes.
  struct Trial: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    var speech: String?
    /// A filter of ffmpeg's for the speech.
    var filter = "anull"
    /// A source of ffmpeg's in place of speech.
    var source: String?
    let outcome: Outcome

    var testDescription: String { name }
  }

  private static let foreign = Outcome.refused("the transcript does not belong to the recording")
  private static let wordless = Outcome.refused("the transcript has no words")

  static let trials: [Trial] = [
    Trial(name: "empty", text: "", outcome: wordless),
    Trial(name: "white space", text: " \n\t\n ", outcome: wordless),
    Trial(name: "emoji alone", text: "😀 👩‍👩‍👧‍👦 🏴‍☠️", outcome: wordless),
    Trial(name: "of another recording", text: other, outcome: foreign),
    Trial(
      name: "ten times too long",
      text: Array(repeating: other, count: 9).joined(separator: "\n\n") + "\n\n" + said,
      outcome: .refused("the transcript is too long for the recording")),
    Trial(
      name: "ten times too short", text: "The quick brown fox jumps over the lazy dog.",
      speech: other + " " + said + " " + other, outcome: .words(atMost: 0)),
    Trial(name: "one word", text: "Monday", outcome: .words(atMost: 0)),
    Trial(
      name: "all digits", text: "1 2 3 4 5 6 7 8 9 10 11 12 2025 3.14",
      speech: "1 2 3 4 5 6 7 8 9 10 11 12 2025 3.14", outcome: .words(atMost: 1)),
    Trial(
      name: "emoji among words", text: "Please 📞 " + said.dropFirst(7) + " 😀",
      outcome: .words(atMost: 2)),
    Trial(name: "right to left", text: "שלום עולם מה שלומך היום مرحبا بالعالم", outcome: foreign),
    Trial(
      name: "right to left among words", text: said + " \u{202E}שלום\u{202C}",
      outcome: .words(atMost: 1)),
    Trial(name: "a word of 400 letters", text: said + " " + endless, outcome: .words(atMost: 1)),
    Trial(name: "nothing but a word of 400 letters", text: endless, outcome: foreign),
    Trial(name: "8 kHz", text: said, filter: "aresample=8000", outcome: .words(atMost: 0)),
    Trial(
      name: "telephone", text: said, filter: "highpass=f=300,lowpass=f=3400,aresample=8000",
      outcome: .words(atMost: 0)),
    Trial(
      name: "three words in ten minutes", text: "call me back", speech: "call me back",
      filter: "adelay=300000,apad=pad_dur=300",
      outcome: .wordsWithin(299.5...302)),
    Trial(
      name: "five minutes of silence", text: said, source: "anullsrc=r=16000:cl=mono:d=300",
      outcome: foreign),
    Trial(
      name: "music", text: said,
      source: "aevalsrc='0.2*sin(2*PI*220*t)+0.2*sin(2*PI*277*t)*lt(mod(t,1),0.5)"
        + "+0.2*sin(2*PI*330*t)*gt(mod(t,2),1)':d=20:s=22050",
      outcome: foreign),
    Trial(name: "a moment", text: said, source: "anullsrc=r=48000:d=0.01", outcome: foreign),
  ]

  @Test(arguments: trials)
  func align(trial: Trial) throws {
    let place = try Workspace()
    let sound = try sound(of: trial, in: place)
    let text = try place.folder.write(trial.text, to: "talk.txt")
    let begin = ContinuousClock.now
    let run = try place.spool(
      ["run", PackageFiles.pipeline("words.yaml"), sound, text, "--out", place.out])
    #expect(begin.duration(to: .now) < .seconds(240))
    switch trial.outcome {
    case .refused(let reason): expectRefusal(run, reason, place)
    case .wordsWithin(let range):
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let words = try words(in: place)
      #expect(
        words.allSatisfy { range.contains($0.startTime) && range.contains($0.endTime) },
        "\(words)")
    case .words(let limit):
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let words = try words(in: place)
      #expect(
        words.map(\.text) == trial.text.split(whereSeparator: \.isWhitespace).map(String.init))
      #expect(words.allSatisfy { $0.startTime <= $0.endTime })
      #expect(zip(words, words.dropFirst()).allSatisfy { $0.startTime <= $1.startTime })
      let made = words.filter { $0.flags?.contains("interpolated") ?? false }
      #expect(made.count <= limit, "\(made)")
      // No word is longer than anybody speaks it without saying so.
      for word in words where word.endTime - word.startTime > longest(word.text) {
        #expect(word.flags?.contains("overlong") ?? false, "\(word)")
      }
    }
  }

  /// How long a word may be without a flag, in seconds: digits stand for words.
  private func longest(_ text: String) -> Double {
    max(1, text.reduce(0) { $0 + ($1.isNumber || $1.isSymbol || $1 == "%" ? 0.75 : 0.35) })
  }

  private func expectRefusal(_ run: Program.Result, _ reason: String, _ place: Workspace) {
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains(reason), "\(run.errorOutput)")
    #expect(Workspace.names(in: place.out).isEmpty)
  }

  private func words(in place: Workspace) throws -> [ExportedWords.Word] {
    try ExportedWords(at: place.out + "/talk.json").words
  }

  @Test("where nobody speaks, recognition finds nothing", arguments: ["silence", "tones"])
  func recognize(kind: String) throws {
    let place = try Workspace()
    let source =
      kind == "silence"
      ? "anullsrc=r=16000:cl=mono:d=300" : "aevalsrc='0.3*sin(2*PI*220*t)':d=20:s=22050"
    let sound = place.file("talk.wav")
    try Reference.ffmpeg(["-f", "lavfi", "-i", source, sound])
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try words(in: place).isEmpty)
  }

  private func sound(of trial: Trial, in place: Workspace) throws -> String {
    let sound = place.file("talk.wav")
    if let source = trial.source {
      try Reference.ffmpeg(["-f", "lavfi", "-i", source, sound])
      return sound
    }
    let raw = place.file("raw.wav")
    let program = try #require(Program(named: "espeak-ng"))
    let spoken = try program.run(["-v", "en-us+m3", "-w", raw, trial.speech ?? Self.said])
    #expect(spoken.exitCode == 0)
    try Reference.ffmpeg(["-i", raw, "-af", trial.filter, sound])
    return sound
  }
}
