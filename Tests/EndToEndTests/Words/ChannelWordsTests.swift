import Foundation
import TestSupport
import Testing

@Suite("Speakers on two sides, and times that are given") struct ChannelWordsTests {
  private static let said = """
    The quick brown fox jumps over the lazy dog near the river bank. Printing is the only sense with \
    which we are at present concerned. Please call me back on Monday morning, because the meeting was \
    moved.
    """

  @Test("channels: separate names who speaks on which side")
  func sides() throws {
    let place = try Workspace()
    let first = try say(
      "I would like to order two cups of coffee and a piece of apple pie", place, "a")
    let second = try say(
      "Scientists have discovered that the water of the ocean is rising", place, "b")
    let both = place.file("both.wav")
    // The second one begins when the first one has ended.
    try Reference.ffmpeg([
      "-i", first, "-i", second, "-filter_complex",
      "[0]apad=pad_dur=6[l];[1]adelay=6000[r];[l][r]join=inputs=2:channel_layout=stereo", both,
    ])
    let pipeline = try place.pipeline(
      """
      pipeline: sides
      inputs: { note: sound }
      stages:
        - decode
        - recognize: { channels: separate }
        - transcript: [json]
      """)
    let run = try place.run(pipeline, [both])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let found = try timed(place.out + "/both.json")
    let segments = found.segments ?? []
    #expect(Set(segments.map(\.speaker)) == ["left", "right"])
    for segment in segments {
      #expect(segment.speaker == (segment.startTime < 5.9 ? "left" : "right"), "\(segment)")
    }
    #expect(zip(found.words, found.words.dropFirst()).allSatisfy { $0.startTime <= $1.startTime })
  }

  @Test(
    "align finds each speaker on his side, also where both speak at once, by name or by channel",
    arguments: [true, false])
  func alignedSides(isNamed: Bool) throws {
    let place = try Workspace()
    let anna = "I would like to order two cups of coffee and a piece of apple pie."
    let ben = "Scientists have discovered that the water of the ocean is rising."
    let first = try say(anna, place, "a")
    let second = try say(ben, place, "b", voice: "en-us+f4")
    let both = place.file("both.wav")
    // He begins while she speaks, and a little of each is heard on the other side.
    try Reference.ffmpeg([
      "-i", first, "-i", second, "-filter_complex",
      "[0]apad=pad_dur=5[l];[1]adelay=2500[r];[l][r]join=inputs=2:channel_layout=stereo,pan=stereo|c0=c0+0.05*c1|c1=c1+0.05*c0",
      both,
    ])
    let text = try place.folder.write(
      isNamed ? "Ben: \(ben)\n\nAnna: \(anna)\n" : "\(anna) \(ben)", to: "both.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: sides
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - align: { transcript: $text, channels: separate }
        - transcript: [json]
      """)
    let run = try place.run(pipeline, [both, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let found = try timed(place.out + "/both.json")
    let segments = found.segments ?? []
    #expect(segments.map(\.speaker) == (isNamed ? ["Ben", "Anna"] : ["left", "right"]))
    #expect(
      found.words.map(\.text)
        == (isNamed ? "\(ben) \(anna)" : "\(anna) \(ben)").split(separator: " ").map(String.init))
    // By itself, each side is aligned in the clear.
    let alone = try place.pipeline(
      """
      pipeline: alone
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - align: { transcript: $text }
        - transcript: [json]
      """, named: "alone.yaml")
    for (sound, said, name, delay) in [(first, anna, "a", 0.0), (second, ben, "b", 2.5)] {
      let text = try place.folder.write(said, to: name + ".txt")
      #expect(try place.run(alone, [sound, text]).exitCode == 0)
      let clear = try timed(place.out + "/\(name).json").words
      let isSecond = (delay > 0) != isNamed
      let mixed = isSecond ? found.words.suffix(clear.count) : found.words.prefix(clear.count)
      let distances = zip(mixed, clear).map { abs($0.startTime - $1.startTime - delay) }
      #expect(distances.filter { $0 < 0.1 }.count >= clear.count - 1, "\(name): \(distances)")
    }
  }

  @Test(
    "words stay in their speaker's turn where each microphone hears the other speaker a little",
    arguments: [0.05, 0.25])
  func leakedSpeech(share: Double) throws {
    let place = try Workspace()
    let turns = [
      ("The boat was ready before dawn, and nobody had asked where it would go with them.", 0.0),
      ("And so, dear friends, the long road that the children took went over the mountain.", 6.0),
      ("He was not an old man.", 11.5),
    ]
    let sounds = try turns.enumerated().map { number, turn in
      try say(turn.0, place, "\(number)", voice: number == 1 ? "en-us+f4" : "en-us+m3")
    }
    let both = place.file("both.wav")
    try Reference.ffmpeg([
      "-i", sounds[0], "-i", sounds[1], "-i", sounds[2], "-filter_complex",
      "[0]apad=whole_dur=14[a];[2]adelay=11500[c];[a][c]amix=normalize=0[l];"
        + "[1]adelay=6000,apad=whole_dur=14[r];[l][r]join=inputs=2:channel_layout=stereo,"
        + "pan=stereo|c0=c0+\(share)*c1|c1=c1+\(share)*c0",
      both,
    ])
    let text = try place.folder.write(
      "Anna: \(turns[0].0)\n\nBen: \(turns[1].0)\n\nAnna: \(turns[2].0)\n", to: "both.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: leaked
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - align: { transcript: $text, channels: separate }
        - transcript: [json]
      """)
    let run = try place.run(pipeline, [both, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let found = try timed(place.out + "/both.json").words
    #expect(found.map(\.text).joined(separator: " ") == turns.map(\.0).joined(separator: " "))
    for (word, next) in zip(found, found.dropFirst()) {
      #expect(word.startTime <= next.startTime, "\(word) \(next)")
    }
    let starts = turns.map { turn in
      let count = turns.prefix { $0.1 < turn.1 }.reduce(0) { $0 + $1.0.split(separator: " ").count }
      return found[count].startTime - turn.1
    }
    #expect(starts.allSatisfy { (-0.05..<0.3).contains($0) }, "\(starts)")
  }

  @Test("given times give way to those that are heard, and stay where nothing is heard")
  func given() throws {
    let place = try Workspace()
    let sound = try say(Self.said, place, "call")
    let silent = place.file("long.wav")
    try Reference.ffmpeg(["-i", sound, "-af", "apad=pad_dur=6", silent])
    // The last word is not spoken; its time is kept. The others are half a second late.
    let words = Self.said.split(separator: " ").enumerated().map {
      "{\"text\": \"\($1)\", \"startTime\": \(Double($0) * 0.3 + 0.5), "
        + "\"endTime\": \(Double($0) * 0.3 + 0.7)}"
    }
    let text = try place.folder.write(
      "{\"text\": \"\(Self.said) Elizabeth\", \"words\": ["
        + words.joined(separator: ", ")
        + ", {\"text\": \"Elizabeth\", \"startTime\": 14.1, \"endTime\": 14.6}], \"isFinal\": true}",
      to: "given.json")
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [silent, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let found = try timed(place.out + "/long.json").words
    #expect(found.count == Self.said.split(separator: " ").count + 1)
    #expect(found.first.map { $0.startTime < 0.3 } ?? false, "\(found)")
    #expect(found.last?.startTime == 14.1 && found.last?.endTime == 14.6, "\(found)")
    #expect(found.last?.flags == ["uncertain"])
  }

  @Test("times that are wrong do no harm: the words are where they are without them")
  func wrongTimes() throws {
    let place = try Workspace()
    let sound = try say(Self.said, place, "call")
    // Two words that nobody says, for which only the given times could speak.
    let said = Self.said.replacingOccurrences(of: "near the", with: "xylophone quasar near the")
    let plain = try place.folder.write(said, to: "plain.txt")
    let words = said.split(separator: " ").enumerated().map {
      "{\"text\": \"\($1)\", \"startTime\": \(Double($0) * 0.1 + 40), "
        + "\"endTime\": \(Double($0) * 0.1 + 40.1)}"
    }
    // Two that would fit in by chance.
    let lying = words.map {
      $0.contains("xylophone")
        ? #"{"text": "xylophone", "startTime": 0.6, "endTime": 3.4}"# : $0
    }
    let given = try place.folder.write(
      "{\"text\": \"\(said)\", \"words\": [\(lying.joined(separator: ", "))]}", to: "given.json")
    var found: [[Double]] = []
    for text in [plain, given] {
      let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound, text], ["--replace"])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      found.append(
        try timed(place.out + "/call.json").words.flatMap { [$0.startTime, $0.endTime] })
    }
    #expect(found[0] == found[1])
  }

  private func timed(_ path: String) throws -> ExportedWords { try ExportedWords(at: path) }

  private func say(_ text: String, _ place: Workspace, _ name: String, voice: String = "en-us+m3")
    throws
    -> String
  {
    let sound = place.file(name + ".wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", voice, "-w", sound, text]).exitCode == 0)
    return sound
  }
}
