import Audio
import Foundation
import TestSupport
import Testing

@Suite(
  "Stages that change the time, the rate and the channels",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ShapingTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  /// Runs stages on a recording, with an export as floats, and gives the run and what came out.
  private func run(
    _ stages: String, on recording: String, as name: String = "shape"
  ) throws -> (SpoolRun, TestSound?) {
    let pipeline = try place.pipeline(
      """
      pipeline: \(name)
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
      \(stages)
        - export: { formats: [wav], wav: { bits: float }, dither: none, name: \(name) }
      """, named: name + ".yaml")
    let run = try place.run(pipeline, [recording])
    guard run.exitCode == 0 else { return (run, nil) }
    return (run, try sound(place.out + "/\(name).wav"))
  }

  private func sound(_ path: String) throws -> TestSound {
    let facts = try SoundFacts(of: path)
    return TestSound(
      rawFloats: try Reference.samples(of: path, as: "f32le"),
      sampleRate: Hertz(Double(facts.sampleRate)), channelCount: facts.channels)
  }

  private func recording(
    _ seconds: Double, rate: Int = 48_000, channels: Int = 2
  ) throws -> String {
    let path = place.file("note.wav")
    try Reference.record(
      path, seconds: seconds, rate: rate, channels: channels, coding: ["-c:a", "pcm_f32le"])
    return path
  }

  @Test("trimmed pieces, put together again, are the recording")
  func trimmedPieces() throws {
    let note = try recording(4)
    let whole = try sound(note)
    let parts = [
      ("- trim: { end: 1.25 s }", 0..<60_000),
      ("- trim: { start: 1250 ms, duration: 0.75 s }", 60_000..<96_000),
      ("- trim: { start: 2 s, end: -500 ms }", 96_000..<168_000),
      ("- trim: { start: 3.5 s, end: 1 min }", 168_000..<192_000),
    ]
    for (index, part) in parts.enumerated() {
      let (run, sound) = try run("  " + part.0, on: note, as: "part\(index)")
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      #expect(sound?.firstDifference(from: whole[part.1]) == nil, "\(part.0)")
    }
  }

  @Test("a cut is ffmpeg's trims and crossfade, and its map says where the rest went")
  func cut() throws {
    let note = try recording(4)
    let (run, result) = try run(
      """
        - cut:
            remove: [{ from: 2.5 s, to: 3 s }, { from: 1 s, to: 2.6 s }]
            crossfade: 100 ms
            curve: linear
      """, on: note)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let graph =
      "[0]atrim=end=1[a];[0]atrim=start=3,asetpts=N[b];[a][b]acrossfade=ns=4800:c1=tri:c2=tri"
    let expected = TestSound(
      rawFloats: try Reference.ffmpeg(["-i", note, "-filter_complex", graph, "-f", "f32le", "-"]),
      sampleRate: Hertz(48_000), channelCount: 2)
    #expect(try #require(result).greatestDifference(from: expected) < 3e-4)
    let map = try map(of: "cut", run)
    #expect(map.before == 4 && map.after == 1.9)
    #expect(map.pieces.map(\.from) == [0, 3] && map.pieces.map(\.to) == [1, 4])
    #expect(map.pieces.map(\.at) == [0, 0.9] && map.pieces.map(\.until) == [1, 1.9])
  }

  @Test("pauses become short, and everything else is moved as the map says")
  func silence() throws {
    let note = place.file("note.wav")
    let voice = "if(between(mod(t,2),0.2,0.9),0.3*sin(2*PI*300*t),0.0005*sin(2*PI*50*t))"
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "aevalsrc='\(voice)':s=48000:d=6", "-c:a", "pcm_f32le", note,
    ])
    let (run, result) = try run(
      "  - silence: { threshold: -50 dB, minimum: 0.5 s, maximum: 400 ms }", on: note)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let (old, new) = (try sound(note), try #require(result))
    let map = try map(of: "silence", run)
    #expect(map.silences?.count == 3)
    #expect(map.pieces.count == 4)
    #expect(abs(map.after - new.frameCount.duration(at: Hertz(48_000)).value) < 1e-9)
    #expect(abs(map.after - (0.2 + 3 * 0.7 + 3 * 0.4)) < 0.01)
    for piece in map.pieces {
      let from = Int((piece.from * 48_000).rounded())
      let at = Int((piece.at * 48_000).rounded())
      // Behind the crossfade.
      let (skip, count) = (480, Int(((piece.to - piece.from) * 48_000).rounded()) - 480)
      #expect(
        new[at + skip..<at + count].firstDifference(from: old[from + skip..<from + count]) == nil)
    }
  }

  @Test("a pause can become shorter than the padding: it is all padding then, or nothing")
  func shortPauses() throws {
    let note = place.file("note.wav")
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "aevalsrc='0.3*sin(2*PI*300*t)*between(mod(t,2),0.5,1)':s=48000:d=4",
      "-c:a", "pcm_f32le", note,
    ])
    for (maximum, length) in [("50 ms", 1.15), ("0 s", 1)] {
      let (run, result) = try run("  - silence: \(maximum)", on: note)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let seconds = try #require(result).frameCount.duration(at: Hertz(48_000)).value
      // The tone's own zeros at either end count with the pause.
      #expect(abs(seconds - length) < 0.001, "\(maximum): \(seconds)")
    }
  }

  @Test("a cut beyond an end that nobody knew beforehand is told, and takes nothing")
  func cutBeyondTheEnd() throws {
    let note = try recording(2)
    let stages = """
        - silence: { maximum: 0.1 s }
        - cut: [{ from: 0.5 s, to: 1 s }, { from: 3 s, to: 4 s }, { from: 2 s }]
      """
    let (run, result) = try run(stages, on: note)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      run.warnings == [
        "nothing was taken out at 2 s: the sound ends at 2 s"
      ])
    #expect(result?.frameCount.count == 72_000 - 480)
  }

  @Test("rate, channels and tempo follow each other, into every format")
  func formats() throws {
    let note = try recording(3, rate: 44_100)
    let pipeline = try place.pipeline(
      """
      pipeline: formats
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - channels: { pick: [2, 1] }
        - resample: 48 kHz
        - speed: 1.5
        - export: { formats: [wav, m4a, alac, flac] }
          id: fast
        - mono: { pan-law: -3 dB }
          from: speed
        - resample: { rate: 16 kHz, quality: best }
        - export: { formats: [wav, flac], name: small }
          id: small
      """)
    let run = try place.run(pipeline, [note])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    for name in ["note.wav", "note.alac.m4a", "note.flac", "note.m4a"] {
      let facts = try SoundFacts(of: place.out + "/" + name)
      #expect(facts.sampleRate == 48_000 && facts.channels == 2)
      #expect(abs(facts.frames - 96_000) <= (name == "note.m4a" ? 1024 : 0), "\(name)")
    }
    for name in ["small.wav", "small.flac"] {
      let facts = try SoundFacts(of: place.out + "/" + name)
      #expect(facts.sampleRate == 16_000 && facts.channels == 1 && facts.frames == 32_000)
    }
  }

  @Test("a fade ends with the sound, also behind a stage that has to hear it all")
  func fade() throws {
    let note = try recording(2)
    let (run, result) = try run(
      """
        - normalize: { peak: -3 dB }
        - fade: { in: 250 ms, out: 1 s, curve: exponential }
      """, on: note)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let faded = try #require(result)
    #expect(faded.frameCount.count == 96_000)
    #expect(faded.channels.allSatisfy { $0[0] == 0 && $0[95_999] == 0 })
    // Halfway through, 50 dB are gone.
    let (full, half) = (faded[24_000..<36_000], faded[71_800..<72_200])
    #expect(half.peak.value < full.peak.value - 40)
    #expect(half.peak.value > full.peak.value - 70)
  }

  @Test(
    "what makes no sense is one clear error, before anything is written",
    arguments: [
      ("- trim: { start: 5 s }", 1, "it ends before 5 s"),
      ("- trim: { start: 1 s, end: -2 s }", 1, "2 s less"),
      ("- trim: { start: 1 s, end: 500 ms }", 2, "keep nothing"),
      ("- trim: { start: -1 s }", 2, "out of range"),
      ("- trim: { end: 1 s, duration: 1 s }", 2, "not both"),
      ("- cut: { remove: [{ from: 4 s }] }", 1, "beyond the end"),
      ("- cut: { remove: [{ from: 1 s, to: 0.5 s }] }", 2, "begins at 1 s"),
      ("- cut: { remove: [{ from: 0 s, to: 20 s }] }", 1, "everything"),
      (
        "- cut: { remove: [{ from: 1 s, to: 1.5 s }, { from: 1.6 s, to: 2 s }], crossfade: 60 ms }",
        2, "shorter crossfade"
      ),
      ("- cut: { remove: [{ from: 50 ms, to: 1 s }], crossfade: 60 ms }", 2, "shorter crossfade"),
      ("- cut: { remove: [{ from: 1 s, to: 2.99 s }], crossfade: 60 ms }", 1, "shorter crossfade"),
      ("- cut: {}", 2, "needs remove"),
      ("- silence: { maximum: 50 ms, padding: 60 ms }", 2, "no longer than the maximum"),
      ("- channels: { pick: 3 }", 1, "there are 2 channels"),
      ("- channels: { matrix: [[1, 0], [1]] }", 2, "equally long"),
      ("- channels: { matrix: [[1]] }", 1, "2 gains in every row"),
      ("- channels: {}", 2, "pick or matrix"),
      ("- resample: 4 kHz", 2, "out of range"),
      ("- resample: 44100.5 Hz", 2, "whole number"),
      ("- speed: 0.1", 2, "out of range"),
      ("- fade: { in: -1 s }", 2, "out of range"),
      ("- fade: { curve: straight }", 2, "linear"),
    ])
  func nonsense(stage: String, code: Int32, words: String) throws {
    let (run, _) = try run("  " + stage, on: try recording(3))
    #expect(run.exitCode == code, "\(run.errorOutput)")
    #expect(run.errorOutput.contains(words), "\(run.errorOutput)")
    if code == 1 {
      let complaint = try #require(run.complaint, "\(run.errorOutput)")
      #expect(complaint.what.contains("note.wav") && !complaint.next.isEmpty, "\(complaint)")
      // The stage is named, and once only.
      let kind = stage.dropFirst(2).prefix { $0 != ":" }
      #expect(complaint.what.hasPrefix(kind), "\(complaint)")
      #expect(!complaint.what.hasPrefix("\(kind): \(kind)"), "\(complaint)")
    }
    #expect(place.exports == [])
  }

  @Test("what leaves nothing of a recording says so, where nobody could know before")
  func nothingLeft() throws {
    let note = place.file("note.wav")
    try Reference.ffmpeg(["-f", "lavfi", "-i", "anullsrc=d=2", note])
    let (run, _) = try run(
      "  - silence: { maximum: 0 s, padding: 0 s, crossfade: 0 s }", on: note)
    #expect(run.exitCode == 1)
    #expect(run.complaint?.what.contains("leaves nothing") == true, "\(run.errorOutput)")
    #expect(place.exports == [])
  }

  @Test("the interview pipeline tightens a conversation")
  func interview() throws {
    let note = place.file("talk.wav")
    let voice = "if(between(mod(t,4),0.5,2),0.2*sin(2*PI*200*t)*(0.6+0.4*sin(9*t)),0)"
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "aevalsrc='\(voice)|\(voice)':s=44100:d=16", note,
    ])
    let run = try place.run(
      PackageFiles.pipeline("interview.yaml"), [note], ["--set", "start=2 s"])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["talk.interview.flac", "talk.interview.m4a"])
    let facts = try SoundFacts(of: place.out + "/talk.interview.flac")
    #expect(facts.sampleRate == 48_000)
    // Four pauses of 2.5 s and two of 2 s at the ends, each 0.7 s now.
    let seconds = Double(facts.frames) / 48_000
    #expect(seconds > 6.5 && seconds < 8.5, "\(seconds)")
    let loudness = try Reference.loudness(of: place.out + "/talk.interview.flac").integrated
    #expect(abs(loudness + 16) < 0.2)
  }

  @Test("killed anywhere, the files are the same to the byte, and so are the maps")
  func kills() throws {
    let note = try recording(90)
    let pipeline = try place.pipeline(
      """
      pipeline: killed
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - cut: { remove: [{ from: 10 s, to: 20 s }, { from: 40 s, to: 41 s }] }
        - silence: { threshold: -20 dB, minimum: 20 ms, maximum: 10 ms, padding: 5 ms }
        - resample: { rate: 44.1 kHz, quality: best }
        - speed: 1.3
        - fade: { in: 1 s, out: 10 s }
        - export: { formats: [wav, flac] }
      """)
    let test = try place.spool(
      ["pipeline", "crashtest", pipeline, note, "--kills", "8", "--seed", "20261121", "--json"])
    #expect(test.exitCode == 0, "\(test.errorOutput)")
    let last = try #require(test.text.split(separator: "\n").last)
    let result = try JSONDecoder().decode(CrashTest.self, from: Data(last.utf8)).result
    #expect(result.kills == 8)
    #expect(result.outputs > 0 && result.identicalOutputs == result.outputs)
  }

  private struct CrashTest: Decodable {
    struct Result: Decodable {
      let kills: Int
      let outputs: Int
      let identicalOutputs: Int
    }
    let result: Result
  }

  private func map(of step: String, _ run: SpoolRun) throws -> Map {
    let text = try #require(run.findings[step])
    return try JSONDecoder().decode(Map.self, from: Data(text.utf8))
  }

  private struct Map: Decodable {
    struct Piece: Decodable {
      let from: Double
      let to: Double
      let at: Double
      let until: Double
    }
    struct Silence: Decodable {
      let from: Double
      let to: Double
    }
    let before: Double
    let after: Double
    let pieces: [Piece]
    let silences: [Silence]?
  }
}
