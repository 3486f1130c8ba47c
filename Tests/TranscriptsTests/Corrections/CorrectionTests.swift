import Platform
import TestSupport
import Testing
@testable import Transcripts

@Suite("Corrections lie over a transcript") struct CorrectionTests {
  /// A word a second, each half a second long.
  private func timed(_ text: String, confidence: Double? = 0.9) -> Transcript {
    let words = text.split(separator: " ").enumerated().map { index, word in
      TimedWord(
        String(word), start: Double(index), end: Double(index) + 0.5, confidence: confidence)
    }
    return Transcript(language: "en", segments: [Segment(words: words)])
  }

  private func correction(_ transcript: Transcript, _ edited: String) -> Correction {
    Correction(
      author: "amy", time: "2026-11-24T12:00:00Z",
      changes: Correction.changes(
        from: transcript, to: edited.split(separator: " ").map(String.init)))
  }

  @Test("a replaced word takes over the time; the others keep theirs")
  func replaced() {
    let before = timed("we can wreck a nice beach today")
    let overlay = correction(before, "we can recognise speech today")
    #expect(overlay.changes.count == 1)
    let after = CorrectedTranscript(before, with: [overlay])
    #expect(after.missed.isEmpty)
    let words = after.transcript.words
    #expect(words.map(\.text) == ["we", "can", "recognise", "speech", "today"])
    #expect(after.transcript.text == "we can recognise speech today")
    #expect(words[1] == before.words[1] && words[4] == before.words[6])
    #expect(words[2].start == 2 && words[3].end == 5.5 && words[2].end == words[3].start)
    #expect(words[2].flags == .interpolated && words[2].confidence == nil)
  }

  @Test("inserted words lie between their neighbours, and deleted ones leave no gap in the text")
  func insertedAndDeleted() {
    let before = timed("one two four five")
    let more = CorrectedTranscript(
      before, with: [correction(before, "zero one two three four five")])
    #expect(more.transcript.text == "zero one two three four five")
    #expect(more.transcript.words[3].start == 1.5 && more.transcript.words[3].end == 2)
    let less = CorrectedTranscript(before, with: [correction(before, "two five")])
    #expect(less.transcript.text == "two five")
    #expect(less.transcript.words.map(\.start) == [1, 3])
  }

  @Test(
    "a word that is inserted at a pause shares the time of the word that it belongs to",
    arguments: [
      ("Do it for them all. He was not there.", 4..<5, 3.0...3.5),
      ("Do it for them. And yet he was not there.", 4..<7, 30...30.5),
      ("Do it for them so He was not there.", 4..<5, 3...3.5),
      ("Do it for him so. He was not there.", 3..<5, 3...3.5),
      ("Do it for them. Yes. He was not there.", 4..<5, 3...3.5),
      ("Do it for them. And nobody here was not there.", 4..<7, 30...30.5),
    ])
  func pause(edited: String, places: Range<Int>, time: ClosedRange<Double>) {
    var before = timed("Do it for them. He was not there.")
    before.words = before.words.enumerated().map { index, word in
      var word = word
      if index > 3 { (word.start, word.end) = (Double(index) + 26, Double(index) + 26.5) }
      return word
    }
    let after = CorrectedTranscript(before, with: [correction(before, edited)]).transcript
    #expect(after.text == edited)
    for word in after.words[places] {
      #expect(word.start.map(time.contains) == true && word.end.map(time.contains) == true)
    }
  }

  @Test("case and punctuation are corrected word by word, and keep their times")
  func spelled() {
    let before = timed("hello world how are you")
    let after = CorrectedTranscript(
      before, with: [correction(before, "Hello, world! How are you?")])
    #expect(after.transcript.text == "Hello, world! How are you?")
    #expect(after.transcript.words.map(\.start) == [0, 1, 2, 3, 4])
    #expect(after.transcript.words.allSatisfy { $0.flags.isEmpty })
  }

  @Test(
    "an edit of the words that a cut has left changes these alone",
    arguments: [
      ("c d g h", "a b c d e f g h"), ("x d g h", "a b x d e f g h"),
      ("c g h", "a b c e f g h"), ("c x y h", "a b c x e f y h"), ("c x h", "a b c x e f h"),
      ("c d x g h", "a b c d x e f g h"), ("x c d g h", "a b x c d e f g h"),
      ("c D x g h", "a b c D x e f g h"), ("x C d g h", "a b x C d e f g h"),
      ("c d g h x", "a b c d e f g h x"), ("h", "a b e f h"),
    ])
  func cut(edited: String, whole: String) {
    let before = timed("a b c d e f g h")
    let changes = Correction.changes(
      from: before, shown: [2, 3, 6, 7], to: edited.split(separator: " ").map(String.init))
    let overlay = Correction(author: "amy", time: "2026-11-24T12:00:00Z", changes: changes)
    let after = CorrectedTranscript(before, with: [overlay])
    #expect(after.missed.isEmpty)
    #expect(after.transcript.text == whole, "\(changes)")
  }

  @Test("a correction finds its place by the time of the recording, where the words have others")
  func origin() {
    let before = timed("one two three one two three")
    let early = Correction(
      author: "amy", time: "2026-11-24T12:00:00Z",
      changes: Correction.changes(
        from: before, to: "one two three one too three".split(separator: " ").map(String.init),
        origin: { $0 + 10 }))
    #expect(early.changes.first?.start == 14)
    let cut = timed("three one two three")
    let after = CorrectedTranscript(cut, with: [early], origin: { $0 + 12 })
    #expect(after.transcript.text == "three one too three")
  }

  @Test("another word of a written text stays, and that of a recogniser is corrected")
  func laterText() throws {
    let before = timed("the cat sat on the mad and then the dog ran")
    let overlay = correction(before, "the cat sat on the mat and then the dog ran")
    let other = timed("the cat sat on the rug and then the dog ran")
    let written = CorrectedTranscript(other, with: [overlay], isWritten: true)
    #expect(written.transcript.text == other.text)
    let missed = try #require(written.missed.first)
    #expect(missed.now == ["rug"] && missed.change.inserted == ["mat"])
    #expect(CorrectedTranscript(other, with: [overlay]).transcript.text.contains("mat"))
    for text in ["the cat sat on the mat and then the dog ran", before.text] {
      let same = CorrectedTranscript(timed(text), with: [overlay], isWritten: true)
      #expect(same.missed.isEmpty && same.transcript.text.contains("mat"))
    }
  }

  @Test("a change that was taken back is no correction of another text, and neither is its end")
  func withdrawn() {
    let heard = timed("homeless to be is to the oldest those at last")
    let ben = correction(heard, "homeless to be is to be ill disposed at last")
    let between = CorrectedTranscript(heard, with: [ben]).transcript
    let anna = correction(between, "unless to be is to the oldest those at last")
    #expect(anna.changes.count { $0.takesBack(ben.changes[0]) } == 1)
    let both = CorrectedTranscript(heard, with: [ben, anna])
    #expect(both.transcript.text == "unless to be is to the oldest those at last")
    #expect(both.missed.isEmpty)
    let written = timed("unless to be is to be ill disposed at last")
    for isWritten in [false, true] {
      let after = CorrectedTranscript(written, with: [ben, anna], isWritten: isWritten)
      #expect(after.transcript.text == written.text)
    }
    // The same words elsewhere are another place.
    let twice = timed("a b c d e f a b c")
    let first = correction(twice, "X b c d e f a b c")
    let second = correction(
      CorrectedTranscript(twice, with: [first]).transcript, "X b c d e f X b c")
    let third = correction(
      CorrectedTranscript(twice, with: [first, second]).transcript, "X b c d e f a b c")
    let left = [first, second, third].withoutWithdrawn.map(\.changes)
    #expect(left == [first.changes, [], []])
  }

  @Test("without a difference there is no change")
  func same() {
    let before = timed("one two three")
    #expect(correction(before, "one two three").changes.isEmpty)
    #expect(Correction.changes(from: Transcript(), to: []).isEmpty)
  }

  @Test(
    "words at the border of two turns go where the text has them",
    arguments: [
      ["Amy: one two more / Bob: three four": "one two more|three four"],
      ["Amy: one two / Bob: more three four": "one two|more three four"],
      ["Amy: one two and / Bob: more three four": "one two and|more three four"],
      ["Amy: one two / Amy: more / Bob: three four": "one two more|three four"],
      ["Amy: one two / more / Bob: three four": "one two more|three four"],
      ["Amy: one two / Bob: more / Bob: three four": "one two|more three four"],
      ["Amy: one too / Bob: free four": "one too|free four"],
      ["Amy: one too many / Bob: free four": "one too many|free four"],
      ["Amy: one too / Bob: so free four": "one too|so free four"],
      ["one two more / three four": "one two more|three four"],
      ["one two / more three four": "one two|more three four"],
      ["Amy: one two / Bob: three four more": "one two|three four more"],
      ["Amy: more one two / Bob: three four": "more one two|three four"],
    ])
  func borders(example: [String: String]) throws {
    let (edited, wanted) = try #require(example.first)
    func transcript(_ text: String) -> Transcript {
      Transcript(
        segments: text.split(separator: " / ").map { turn in
          let parts = turn.split(separator: ": ")
          return Segment(
            text: String(parts[parts.count - 1]),
            speaker: parts.count > 1 ? String(parts[0]) : nil)
        })
    }
    let before = transcript("Amy: one two / Bob: three four")
    // Speakers may be those of segments or of words.
    var together = Transcript(segments: [Segment(text: "one two three four")])
    for (word, name) in zip(0..<4, ["Amy", "Amy", "Bob", "Bob"]) {
      together.segments[0].words[word].speaker = name
    }
    let text = transcript(edited)
    for before in [before, together] {
      let overlay = Correction(
        author: "amy", time: "",
        changes: Correction.changes(
          from: before, to: text.words.map(\.text), starts: text.turnStarts))
      let after = CorrectedTranscript(before, with: [overlay])
      let turns = after.transcript.inTurns.segments
      #expect(
        turns.map { $0.words.map(\.text).joined(separator: " ") }.joined(separator: "|") == wanted)
      #expect(turns.map(\.speaker) == ["Amy", "Bob"] && after.missed.isEmpty)
    }
  }

  @Test("paragraphs and their speakers stay, and one whose words all go is gone")
  func paragraphs() {
    let before = Transcript(segments: [
      Segment(text: "Good  morning.", speaker: "Amy"), Segment(text: "Hm."),
      Segment(text: "Good night.", speaker: "Bob"),
    ])
    let after = CorrectedTranscript(
      before, with: [correction(before, "Good evening. Good day night.")]
    )
    .transcript
    #expect(after.segments.map(\.text) == ["Good  evening.", "Good day night."])
    #expect(after.segments.map(\.speaker) == ["Amy", "Bob"])
  }

  @Test("a later correction lies on the earlier, and undo leaves the earlier")
  func stacked() {
    let before = timed("a b c d e f")
    let first = correction(before, "a b X d e f")
    let corrected = CorrectedTranscript(before, with: [first]).transcript
    let second = correction(corrected, "a b X d Y Z f")
    let both = CorrectedTranscript(before, with: [first, second])
    #expect(both.transcript.text == "a b X d Y Z f" && both.missed.isEmpty)
    #expect(CorrectedTranscript(before, with: [first]).transcript == corrected)
  }

  @Test("on another transcript corrections are kept whose place is there, and others are listed")
  func rebased() {
    let before = timed("the cat sat on the mad and then the dog ran of to the sea")
    let overlay = correction(before, "the cat sat on the mat and then the dog ran off to the sea")
    // Another recogniser heard a word more, the first place otherwise, and the last not at all.
    let other = timed("so the cat sat on the map and then the dog swam")
    let result = CorrectedTranscript(other, with: [overlay])
    #expect(result.transcript.text == "so the cat sat on the mat and then the dog swam")
    #expect(result.missed.map(\.change.inserted) == [["off"]])
  }

  @Test("where the other transcript has what is right already, nothing is missed")
  func alreadyRight() {
    let before = timed("on the mad and then")
    let overlay = correction(before, "on the mat and then")
    let right = timed("on the mat and then")
    let result = CorrectedTranscript(right, with: [overlay])
    #expect(result.transcript.text == right.text && result.missed.isEmpty)
  }

  @Test(
    "case and punctuation stay corrected where words were added before", arguments: [true, false])
  func spelling(isWritten: Bool) {
    let before = timed("and so my fellow americans ask not what")
    let overlay = correction(before, "and so my fellow Americans, ask not what")
    for text in ["and so now my fellow americans ask not what", "so my fellow americans ask not"] {
      let result = CorrectedTranscript(timed(text), with: [overlay], isWritten: isWritten)
      let wanted = text.replacing("americans", with: "Americans,")
      #expect(result.transcript.text == wanted && result.missed.isEmpty)
    }
    // The text has it already, or says it in a third way.
    let right = timed("and so now my fellow Americans, ask not what")
    let same = CorrectedTranscript(right, with: [overlay], isWritten: isWritten)
    #expect(same.transcript.text == right.text && same.missed.isEmpty)
    let other = timed("and so now my fellow AMERICANS ask not what")
    let third = CorrectedTranscript(other, with: [overlay], isWritten: isWritten)
    #expect(third.missed.count == (isWritten ? 1 : 0))
  }

  @Test("a word that is said elsewhere too is corrected at its own time")
  func ownTime() {
    let before = timed("red blue red blue red blue red blue red blue")
    var overlay = correction(before, "red blue red blue red green red blue red blue")
    overlay.changes[0].index = 1
    let result = CorrectedTranscript(before, with: [overlay])
    #expect(result.transcript.text == "red blue red blue red green red blue red blue")
  }

  @Test("any edit of any transcript gives its words, and survives JSON", arguments: 0..<200)
  func property(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var shape = RandomTranscript()
    shape.times = .some
    shape.hasConfidence = true
    shape.segmentCount = 0...4
    let before = shape.transcript(&random)
    var edited = before.words.map(\.text)
    for _ in 0..<Int.random(in: 0...8, using: &random) {
      let place = Int.random(in: 0...edited.count, using: &random)
      switch Int.random(in: 0...2, using: &random) {
      case 0: edited.insert("new\(place)", at: place)
      case 1 where place < edited.count: edited.remove(at: place)
      case 2 where place < edited.count:
        edited[place] = shape.words.randomElement(using: &random) ?? "x"
      default: break
      }
    }
    let made = Correction(
      author: "amy", time: "", changes: Correction.changes(from: before, to: edited))
    let kept = try Correction(jsonText: JSONText.of(made))
    let result = CorrectedTranscript(before, with: [kept])
    #expect(result.missed.isEmpty)
    #expect(result.transcript.words.map(\.text) == edited)
    let untouched = Set(before.words)
    // At a pause, the word beside an inserted one shares its time with it.
    let changed = kept.changes.reduce(0) { $0 + $1.inserted.count + ($1.removed.isEmpty ? 1 : 0) }
    #expect(result.transcript.words.count { !untouched.contains($0) } <= changed)
  }

  @Test("texts without anything in common are unlike")
  func likeness() {
    let before = timed("the quick brown fox jumps over the lazy dog and runs")
    #expect(Correction.likeness(of: ["lorem", "ipsum"], to: before) == 0)
    let other = "in the house a dog and his man sat down with the cat".split(separator: " ")
    #expect(Correction.likeness(of: other.map(String.init), to: before) < 0.3)
    let half = "The quick, brown ox jumped over the lazy dock and runs".split(separator: " ")
    #expect(Correction.likeness(of: half.map(String.init), to: before) > 0.7)
  }

  @Test("long texts are compared in reasonable time")
  func long() {
    let words = (0..<20_000).map { "w\($0 % 1_500)" }
    let before = timed(words.joined(separator: " "))
    var edited = words
    for index in stride(from: 7, to: edited.count, by: 90) { edited[index] = "new" }
    let changes = Correction.changes(from: before, to: edited)
    let overlay = Correction(author: "", time: "", changes: changes)
    let after = CorrectedTranscript(before, with: [overlay]).transcript
    #expect(after.words.map(\.text) == edited)
  }
}

@Suite("Words as a text for an editor") struct WordsTextTests {
  @Test("remarks and marks are not words; what is unsure is marked")
  func roundTrip() {
    let transcript = Transcript(segments: [
      Segment(
        words: [
          TimedWord("#1", start: 1, end: 2, confidence: 0.9),
          TimedWord("beach,", start: 2, end: 3, confidence: 0.31),
        ], speaker: "Amy")
    ])
    let text = WordsText.text(of: transcript, name: "a\nb.wav") { "\($0)" }
    #expect(text.contains("\n# 1.0  Amy\n #1 beach,{31%}\n"))
    #expect(WordsText.transcript(of: text).words.map(\.text) == ["#1", "beach,"])
    let typed = WordsText.transcript(of: "# x\nspeech{31%}, {a}\nb{c}\n \nd\n# y\ne")
    #expect(typed.segments.map(\.text) == ["speech, {a} b{c}", "d", "e"])
  }

  @Test("any words come back", arguments: 0..<50)
  func property(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var shape = RandomTranscript()
    shape.words = RandomTranscript.oddWords
    shape.hasConfidence = true
    let transcript = shape.transcript(&random)
    let text = WordsText.text(of: transcript, name: "a") { "\($0)" }
    #expect(WordsText.transcript(of: text).words.map(\.text) == transcript.words.map(\.text))
  }
}
