import Foundation
import TestSupport
import Testing

/// Real runs are quoted from, and the programs that everybody has check the quotes.
@Suite(
  "A part of an export is proven without the rest", .serialized,
  .enabled(
    if: SoundFacts.areAvailable && Program(named: "python3") != nil,
    "ffmpeg, ffprobe or python3 is not installed"))
struct ProveTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func run(
    seconds: Double = 12.3, export: String = "export: [wav, m4a, alac, flac]"
  ) throws {
    let pipeline = try place.pipeline(
      """
      pipeline: proven
      inputs: { note: sound }
      stages:
        - decode
        - normalize: { peak: -3 dB }
        - \(export)
        - proof
      """, named: "proven.yaml")
    let note = place.file("note.wav")
    try Reference.record(note, seconds: seconds)
    let run = try place.run(pipeline, [note])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
  }

  private func prove(
    _ name: String, _ options: [String], to folder: String = "quote"
  ) throws -> Program.Result {
    try place.spool(
      ["proof", "quote", "\(place.out)/\(name)", "--out", place.file(folder)] + options)
  }

  private func verify(_ folder: String = "quote") throws -> Program.Result {
    try place.spool(["verify", place.file(folder)])
  }

  private func script(_ folder: String = "quote") throws -> Program.Result {
    try #require(Program(named: "python3")).run([place.file(folder) + "/verify.py"], folder: "/")
  }

  private static let times = ["--from", "4.2", "--to", "00:00:07.5"]

  /// What a stranger may write who has read what a quote is, and nothing else.
  private static let stranger = """
    import base64, hashlib, json, subprocess, sys, wave
    folder, key = sys.argv[1:]
    h = lambda data: hashlib.sha256(data).digest()
    envelope = json.load(open(folder + "/receipt.json"))
    payload = base64.b64decode(envelope["payload"])
    open(folder + "/../signed", "wb").write(
        b"DSSEv1 28 application/vnd.in-toto+json %d " % len(payload) + payload)
    open(folder + "/../sig", "wb").write(base64.b64decode(envelope["signatures"][0]["sig"]))
    subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in",
        folder + "/../signed", "-sigfile", folder + "/../sig"], check=True, stdout=subprocess.PIPE)
    quote = json.load(open(folder + "/quote.json"))
    subjects = {s["name"]: s for s in json.loads(payload)["subject"]}
    signed = subjects[quote["export"]]["annotations"]["samples"]
    clip = wave.open(folder + "/clip.wav")
    assert (clip.getnchannels(), clip.getframerate()) == (signed["channels"], signed["rate"])
    assert clip.getsampwidth() * 8 == int(signed["format"][1:3])
    first = quote["blocks"]["first"]
    known = {}
    while block := clip.readframes(signed["rate"]):
        known[first + len(known)] = h(b"\\0" + block)
    assert len(known) == quote["blocks"]["count"]
    # Every part of the tree by its first leaf and its size, from the whole down to the leaves.
    def parts(start, size):
        yield start, size
        if size > 1 and any(start <= leaf < start + size for leaf in known):
            left = 1
            while left * 2 < size: left *= 2
            yield from parts(start, left)
            yield from parts(start + left, size - left)
    order = list(parts(0, signed["blocks"]))
    hashes = {(leaf, 1): value for leaf, value in known.items()}
    siblings = [bytes.fromhex(text) for text in quote["siblings"]]
    for start, size in order:
        if not any(start <= leaf < start + size for leaf in known):
            hashes[start, size] = siblings.pop(0)
    for start, size in reversed(order):
        if (start, size) not in hashes:
            left = max(s for p, s in hashes if p == start and s < size)
            hashes[start, size] = h(b"\\1" + hashes[start, left] + hashes[start + left, size - left])
    assert not siblings and hashes[0, signed["blocks"]].hex() == signed["root"], "another root"
    print(first, len(known))
    """

  @Test(
    "by spool, by the script in the bundle, and by a stranger's few lines of Python",
    arguments: ["note.wav", "note.alac.m4a", "note.flac"])
  func proven(name: String) throws {
    try run()
    let made = try prove(name, Self.times)
    #expect(made.exitCode == 0, "\(made.errorOutput)")
    #expect(made.text.hasSuffix("written to \(place.file("quote"))/\n"), "\(made.text)")
    #expect(made.text.contains("00:00:04.200 to 00:00:07.500"))
    #expect(!made.text.contains("made again"), "the hashes are in the store")
    #expect(
      Workspace.names(in: place.file("quote"))
        == ["clip.wav", "quote.json", "receipt.json", "spool.pub", "verify.py"])
    let verified = try verify()
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    #expect(verified.text.contains("00:00:04.000 to 00:00:08.000, 4 blocks"))
    let script = try script()
    #expect(script.exitCode == 0, "\(script.text)\(script.errorOutput)")
    let stranger = try #require(Program(named: "python3")).run(
      ["-c", Self.stranger, place.file("quote"), place.out + "/spool.pub"])
    #expect(stranger.text == "4 4\n", "\(stranger.errorOutput)")
    // The clip is what ffmpeg decodes of the export, from the fifth second to the eighth.
    let whole = try Reference.samples(of: "\(place.out)/\(name)", as: "s24le")
    let clip = try Reference.samples(of: place.file("quote/clip.wav"), as: "s24le")
    let second = clip.count / 4
    #expect(clip == whole[4 * second..<8 * second])
  }

  @Test("the same bundle comes from the export alone, when the store has forgotten the hashes")
  func remade() throws {
    try run()
    for name in ["note.wav", "note.alac.m4a", "note.flac"] {
      #expect(try prove(name, Self.times, to: "kept-\(name)").exitCode == 0)
      let made = try prove(
        name, Self.times + ["--store", place.file("none")], to: "made-\(name)")
      #expect(made.exitCode == 0, "\(made.errorOutput)")
      #expect(made.text.contains("made again from the export"))
      for file in Workspace.names(in: place.file("kept-\(name)")) {
        #expect(
          try Data(contentsOf: URL(fileURLWithPath: place.file("kept-\(name)/\(file)")))
            == Data(contentsOf: URL(fileURLWithPath: place.file("made-\(name)/\(file)"))))
      }
    }
    #expect(!FileManager.default.fileExists(atPath: place.file("none")))
    #expect(try place.spool(["verify", place.folder.path]).text.contains("6 quotes: all proven"))
  }

  @Test("an export that was changed is not quoted from, and the second is named")
  func changed() throws {
    try run()
    let path = place.out + "/note.wav"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // In the sixth second of what has more than twelve.
    bytes[bytes.count * 11 / 24] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    let changed = try prove("note.wav", Self.times)
    #expect(changed.exitCode == 4)
    #expect(changed.errorOutput.contains("second 6 of it is not as it was signed"))
    #expect(!FileManager.default.fileExists(atPath: place.file("quote")))
    // Other seconds of it are what they were.
    #expect(try prove("note.wav", ["--from", "1", "--to", "2"]).exitCode == 0)
    #expect(try script().exitCode == 0)
    let remade = try prove("note.wav", Self.times + ["--store", place.file("none")], to: "other")
    #expect(remade.exitCode == 4)
    #expect(remade.errorOutput.contains("its samples are not those that were signed"))
    try Data(bytes.prefix(bytes.count / 2)).write(to: URL(fileURLWithPath: path))
    #expect(try prove("note.wav", Self.times, to: "other").exitCode == 4)
  }

  @Test("a bundle that was tampered with fails with exit code 4, by spool and by the script")
  func tampered() throws {
    try run(export: "export: wav")
    #expect(try prove("note.receipt.json", Self.times).exitCode == 0)
    let path = place.file("quote/clip.wav")
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var flipped = whole
    flipped[1000] ^= 1
    for clip in [flipped, whole.dropLast(300), whole + whole.suffix(300)] {
      try clip.write(to: URL(fileURLWithPath: path))
      let verified = try verify()
      #expect(verified.exitCode == 4)
      #expect(verified.text.contains("clip.wav"))
      let script = try script()
      #expect(script.exitCode == 4)
      #expect(script.text.contains("BROKEN   clip.wav"))
    }
    try whole.write(to: URL(fileURLWithPath: path))
    let stranger = try place.spool(
      ["verify", place.file("quote")], environment: ["SPOOL_KEYS": place.file("stranger")])
    #expect(stranger.exitCode == 4)
    #expect(stranger.text.contains("was not signed by a key that is trusted here"))
    #expect(stranger.text.contains("UNTRUSTED") && stranger.errorOutput.contains("--key FILE"))
    let named = try place.spool(
      ["verify", place.file("quote"), "--key", place.out + "/spool.pub", "--json"],
      environment: ["SPOOL_KEYS": place.file("stranger")])
    #expect(named.exitCode == 0)
    #expect(named.text.contains("\"verified\":true"))
  }

  @Test("words are found in a transcript, and refused where they are not said, or said twice")
  func words() throws {
    try run(export: "export: wav")
    let said = ["Call", "the", "garage.", "It", "is", "the", "garage"]
    let list = said.enumerated().map { index, word in
      "{\"text\":\"\(word)\",\"startTime\":\(index).1,\"endTime\":\(index).9,\"confidence\":1}"
    }
    let transcript = try place.folder.write(
      "{\"text\":\"…\",\"words\":[\(list.joined(separator: ","))]}", to: "words.json")
    func prove(_ phrase: String) throws -> Program.Result {
      try self.prove("note.wav", ["--words", phrase, "--transcript", transcript])
    }
    let absent = try prove("the car")
    #expect(absent.exitCode == 1)
    #expect(Complaint(absent.errorOutput)?.what.contains("is not said in words.json") == true)
    let twice = try prove("The Garage")
    #expect(twice.exitCode == 1)
    #expect(Complaint(twice.errorOutput)?.why.contains("00:00:01.100, 00:00:05.100") == true)
    let made = try prove("garage, it is")
    #expect(made.exitCode == 0, "\(made.errorOutput)")
    #expect(made.text.contains("garage. It is   (not proven)"))
    let text = try String(contentsOfFile: place.file("quote/words.json"), encoding: .utf8)
    #expect(text.contains("\"text\":\"garage.\"") && !text.contains("Call"))
    #expect(text.contains("No receipt vouches for the transcript."))
    #expect(try verify().text.contains("not proven: listen to the clip"))
    #expect(try script().text.contains("words.json is not proven by this"))
  }

  @Test("the transcript that the receipt vouches for is found by itself, unless it was changed")
  func vouchedWords() throws {
    try Reference.record(place.file("note.wav"), seconds: 4)
    let transcript = try place.folder.write(
      """
      WEBVTT

      00:00:00.500 --> 00:00:02.500
      <00:00:00.500>the <00:00:01.003>garage <00:00:01.600>is <00:00:02.000>closed
      """, to: "note.vtt")
    let pipeline = try place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, first: transcript, text: transcript }
      stages:
        - decode: { from: $note }
        - export: wav
        - transcript: { transcript: $first, formats: [json], name: a-first }
        - transcript: { transcript: $text, formats: [json, srt], name: note }
        - proof
      """, named: "words.yaml")
    let other = try place.folder.write(
      String(contentsOfFile: transcript, encoding: .utf8).replacing("garage", with: "door"),
      to: "first.vtt")
    let run = try place.run(pipeline, [place.file("note.wav"), other, transcript])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    // Of two transcripts, that one counts in which it is said.
    let made = try prove("note.wav", ["--words", "Garage is closed"])
    #expect(made.exitCode == 0, "\(made.errorOutput)")
    #expect(made.text.contains("00:00:01.003"))
    let words = try String(contentsOfFile: place.file("quote/words.json"), encoding: .utf8)
    #expect(words.contains("The receipt vouches for the transcript as note.json"))
    // The word before ends within the first frame.
    #expect(!words.contains("\"text\":\"the\"") && words.contains("\"text\":\"garage\""))
    #expect(try verify().exitCode == 0)
    for name in ["note.json", "note.srt", "a-first.json"] {
      try "changed".write(toFile: place.out + "/" + name, atomically: false, encoding: .utf8)
    }
    let changed = try prove("note.wav", ["--words", "garage is closed"])
    #expect(
      Complaint(changed.errorOutput)?.why == "the receipt vouches for no transcript with times")
  }

  @Test("what cannot be quoted is refused in three short parts")
  func refused() throws {
    try run(seconds: 3, export: "export: [m4a, flac]")
    let lossy = try prove("note.m4a", ["--from", "1", "--to", "2"])
    #expect(lossy.exitCode == 1)
    #expect(Complaint(lossy.errorOutput)?.next == "--export with one of: note.flac")
    let long = try prove("note.receipt.json", ["--from", "1", "--to", "5:00"])
    #expect(long.exitCode == 1)
    #expect(Complaint(long.errorOutput)?.why == "it is 00:00:03.000 long")
    #expect(try prove("note.flac", ["--from", "2", "--to", "1"]).exitCode == 2)
    #expect(try prove("note.flac", ["--from", "2"]).exitCode == 2)
    #expect(try prove("note.flac", ["--from", "x", "--to", "1"]).exitCode == 2)
    #expect(try prove("note.flac", ["--words", "x"]).exitCode == 1)
    #expect(try prove("none.wav", ["--from", "1", "--to", "2"]).exitCode == 2)
    // A folder with one receipt is as good as that.
    let folder = try prove("", ["--export", "note.flac", "--from", "1", "--to", "5:00"])
    #expect(Complaint(folder.errorOutput)?.why == "it is 00:00:03.000 long")
    let strange = try Data(contentsOf: URL(fileURLWithPath: place.out + "/note.flac"))
    try strange.write(to: URL(fileURLWithPath: place.out + "/strange.flac"))
    let unnamed = try prove("strange.flac", ["--from", "1", "--to", "2"])
    #expect(Complaint(unnamed.errorOutput)?.what.hasPrefix("no receipt names") == true)
    #expect(!FileManager.default.fileExists(atPath: place.file("quote")))
  }

  @Test("a run that was killed on its way states the same root as one that was not")
  func killed() throws {
    // Long enough for a page of leaves, and for kills within it.
    let pipeline = try place.pipeline(
      """
      pipeline: proven
      inputs: { note: sound }
      stages:
        - decode
        - export: { formats: [wav, flac], flac: { bits: 16 } }
        - proof
      """, named: "long.yaml")
    let note = place.file("long.wav")
    try Reference.record(note, seconds: 700)
    func roots(_ run: SpoolRun) throws -> [String] {
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let made = try place.spool([
        "proof", "quote", place.out + "/long.receipt.json", "--from", "650", "--to",
        "651", "--json", "--out", place.file("q-\(UUID().uuidString)"),
      ])
      let other = try place.spool([
        "proof", "quote", place.out + "/long.flac", "--from", "650", "--to", "651",
        "--json", "--out", place.file("q-\(UUID().uuidString)"),
      ])
      return try [made, other].map { result in
        struct Line: Decodable {
          struct Quote: Decodable { let root: String }
          let quote: Quote
        }
        return try JSONDecoder().decode(Line.self, from: result.output).quote.root
      }
    }
    let expected = try roots(place.run(pipeline, [note]))
    #expect(Set(expected).count == 2)
    var kills = 0
    for attempt in 1...3 {
      try FileManager.default.removeItem(atPath: place.out)
      try FileManager.default.removeItem(atPath: place.store)
      var number = 60 * attempt
      while true {
        let result = try place.spool(
          ["run", pipeline, note, "--out", place.out],
          environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
        guard result.exitCode == 128 + SIGKILL else { break }
        kills += 1
        number += 25
      }
      #expect(try roots(place.run(pipeline, [note])) == expected)
    }
    #expect(kills > 5)
  }
}
