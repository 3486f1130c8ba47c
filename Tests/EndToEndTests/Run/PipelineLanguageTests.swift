import TestSupport
import Testing

@Suite(
  "Pipelines mean what they say",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct PipelineLanguageTests {
  @Test("--set overrides a variable, and re-runs only what uses it")
  func set() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 3)
    let pipeline = try place.pipeline(
      """
      pipeline: set
      inputs: { note: sound }
      vars: { loudness: -16 LUFS }
      stages:
        - decode
        - normalize: { loudness: $loudness }
        - export: [wav]
      """)
    try #require(try place.run(pipeline, [place.file("note.wav")]).exitCode == 0)
    #expect(abs(try Reference.loudness(of: place.out + "/note.wav").integrated + 16) < 0.1)
    let run = try place.run(pipeline, [place.file("note.wav")], ["--set", "loudness=-23 LUFS"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.reused == ["decode"])
    #expect(abs(try Reference.loudness(of: place.out + "/note.wav").integrated + 23) < 0.1)
  }

  @Test("--set takes a text with every character")
  func typedText() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 0.2)
    let pipeline = try place.pipeline(
      "pipeline: named\ninputs: { note: sound }\nvars: { episode: usual }\n"
        + "stages: [decode, { export: { formats: flac, name: $episode } }]\n")
    let run = try place.run(pipeline, [place.file("note.wav")], ["--set", "episode=Talk #12"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["Talk #12.flac"])
  }

  @Test("--set refuses what the pipeline does not know, and what does not fit")
  func wrongSet() throws {
    let place = try Workspace()
    let note = PackageFiles.sample("note-1.m4a")
    let voiceNote = PackageFiles.pipeline("voice-note.yaml")
    for (override, word) in [("loudnes=-16 LUFS", "loudness"), ("loudness=3 kHz", "LUFS")] {
      let run = try place.run(voiceNote, [note], ["--set", override])
      #expect(run.exitCode == 2, "\(override)")
      #expect(run.errorOutput.contains(word), "\(run.errorOutput)")
      #expect(run.events.map(\.event) == ["error"])
    }
    #expect(place.exports == [])
  }

  @Test("a step whose condition does not hold lets the sound pass by")
  func condition() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 1, coding: ["-c:a", "pcm_s24le"])
    let pipeline = try place.pipeline(
      """
      pipeline: condition
      inputs: { note: sound }
      vars: { louder: true }
      stages:
        - decode
        - gain: 6 dB
          when: $louder
        - export: [wav]
      """)
    let note = place.file("note.wav")
    let with = try place.run(pipeline, [note])
    #expect(with.exitCode == 0, "\(with.errorOutput)")
    #expect(with.made.contains("gain"))
    let samples = try Reference.samples(of: note, as: "s24le")
    #expect(try Reference.samples(of: place.out + "/note.wav", as: "s24le") != samples)
    let without = try place.run(pipeline, [note], ["--set", "louder=false"])
    #expect(without.exitCode == 0, "\(without.errorOutput)")
    #expect(without.skipped == ["gain"])
    #expect(try Reference.samples(of: place.out + "/note.wav", as: "s24le") == samples)
  }

  @Test("branches part where `from` says")
  func branches() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 1, coding: ["-c:a", "pcm_s24le"])
    let pipeline = try place.pipeline(
      """
      pipeline: branches
      inputs: { note: sound }
      stages:
        - decode: {}
          id: original
        - gain: { gain: -6.0206 dB }
          id: half
        - export: { from: half, formats: [wav], wav: { bits: float }, name: "{stem}.half" }
          id: soft
        - export: { from: original, formats: [wav], name: "{stem}.whole" }
      """)
    let run = try place.run(pipeline, [place.file("note.wav")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["note.half.wav", "note.whole.wav"])
    let whole = try Reference.floats(of: place.out + "/note.whole.wav")
    #expect(try whole == Reference.floats(of: place.file("note.wav")))
    let half = try Reference.floats(of: place.out + "/note.half.wav")
    try #require(half.count == whole.count)
    #expect(zip(half, whole).allSatisfy { abs($0 - $1 / 2) < 1e-5 })
  }

  @Test("several inputs are bound in order or by name, and an optional one may be missing")
  func inputs() throws {
    let place = try Workspace()
    try Reference.record(place.file("voice.wav"), seconds: 1, channels: 1)
    try Reference.record(place.file("room.wav"), seconds: 2, channels: 1)
    let pipeline = try place.pipeline(
      """
      pipeline: inputs
      inputs: { voice: sound, room: sound, remark: transcript? }
      stages:
        - decode: { from: $voice }
          id: near
        - decode: { from: $room }
          id: far
        - export: { from: near, formats: [wav], name: near }
        - export: { from: far, formats: [wav], name: far }
      """)
    let bindings = [
      [place.file("voice.wav"), place.file("room.wav")],
      ["room=" + place.file("room.wav"), place.file("voice.wav")],
    ]
    for inputs in bindings {
      let run = try place.run(pipeline, inputs)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      #expect(try SoundFacts(of: place.out + "/near.wav").frames == 44100)
      #expect(try SoundFacts(of: place.out + "/far.wav").frames == 88200)
    }
    let alone = try place.run(pipeline, [place.file("voice.wav")])
    #expect(alone.exitCode == 2)
    #expect(alone.errorOutput.contains("room"), "\(alone.errorOutput)")
    let many = try place.run(pipeline, Array(repeating: place.file("voice.wav"), count: 4))
    #expect(many.exitCode == 2)
  }

  @Test("keep and --checkpoint every leave sound in the store, from which later work begins")
  func keptSound() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 1)
    func text(_ keep: String, gain: String = "-3 dB") -> String {
      """
      pipeline: keep
      inputs: { note: sound }
      stages:
        - decode
        - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
      \(keep)
        - gain: \(gain)
        - export: [wav]
      """
    }
    func kept(_ run: SpoolRun) -> [String] {
      (run.record?.steps ?? []).filter { $0.outputs["sound"]?.artifact != nil }.map(\.id)
    }
    let plain = try place.pipeline(text(""))
    let run = try place.run(plain, [place.file("note.wav")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(kept(run) == [])
    let expected = try place.export("note.wav")

    let other = try Workspace()
    let keeping = try other.pipeline(text("    keep: true"))
    let first = try other.run(keeping, [place.file("note.wav")])
    #expect(first.exitCode == 0, "\(first.errorOutput)")
    #expect(kept(first) == ["eq"])
    #expect(try other.export("note.wav") == expected)
    let changed = try other.run(
      try other.pipeline(text("    keep: true", gain: "-4 dB")), [place.file("note.wav")])
    #expect(changed.made.sorted() == ["export", "gain"])
    #expect(changed.events.first { $0.event == "pass" }?.replayed?.contains("decode") == false)

    let third = try Workspace()
    let every = try third.run(
      try third.pipeline(text("")), [place.file("note.wav")], ["--checkpoint", "every"])
    #expect(every.exitCode == 0, "\(every.errorOutput)")
    #expect(kept(every).sorted() == ["decode", "eq", "gain"])
    #expect(try third.export("note.wav") == expected)
  }
}
