import Foundation
import TestSupport
import Testing

/// Many tracks to one, as a user mixes them.
@Suite(
  "Tracks are mixed",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct MixdownTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func record(_ name: String, rate: Int = 44100, channels: Int = 2) throws -> String {
    let path = place.file(name)
    try Reference.record(path, seconds: 2, rate: rate, channels: channels)
    return path
  }

  @Test("by a session file that names them, with its mix called after it, and once only")
  func session() throws {
    let pipeline = PackageFiles.pipeline("session-mix.yaml")
    let session = PackageFiles.sample("session/session.yaml")
    let run = try place.run(pipeline, [session])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["session.mix.levels.json", "session.mix.m4a", "session.mix.wav"])
    let facts = try SoundFacts(of: place.out + "/session.mix.wav")
    #expect(facts.sampleRate == 44_100 && facts.channels == 2)
    let loudness = try Reference.loudness(of: place.out + "/session.mix.wav")
    #expect(abs(loudness.integrated + 16) < 0.3 && loudness.truePeak < -0.9)
    #expect(try place.run(pipeline, [session]).made == [])
  }

  @Test("anew where a track or the session has changed, and only then")
  func changes() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: mix
      inputs: { session: file, tracks: sound+ }
      stages:
        - mixdown: { from: $tracks, session: $session }
        - export: wav
      """)
    _ = try record("a.wav")
    _ = try record("b.wav", rate: 48000, channels: 1)
    let path = try place.folder.write(
      #"{"channels": [{"file": "a.wav"}, {"file": "b.wav", "isMuted": true}]}"#, to: "song.json")
    #expect(try place.run(pipeline, [path]).made == ["mixdown", "export"])
    let first = try place.export("song.wav")
    #expect(try place.run(pipeline, [path]).made == [])
    _ = try place.folder.write(
      #"{"channels": [{"file": "a.wav"}, {"file": "b.wav", "isMuted": false}]}"#, to: "song.json")
    #expect(try place.run(pipeline, [path]).made.contains("mixdown"))
    #expect(try place.export("song.wav") != first)
    try FileManager.default.copyItem(atPath: place.file("a.wav"), toPath: place.file("c.wav"))
    _ = try record("b.wav", rate: 32000, channels: 1)
    #expect(try place.run(pipeline, [path]).made.contains("mixdown"))
    // Files that are named come before those of the session.
    let named = try place.run(
      pipeline, [path, "tracks=" + place.file("c.wav"), "tracks=" + place.file("b.wav")])
    #expect(named.made == [], "\(named.errorOutput)")
  }

  @Test("as a session says that tells how the mixer stands and nothing else, in the tracks' order")
  func bareSession() throws {
    let tracks = [try record("a.wav"), try record("b.wav", channels: 1)]
    let path = try place.folder.write(
      """
      {"channels": [
        {"volume": 0.5, "pan": 0, "isMuted": false, "isSoloed": false},
        {"volume": 1, "pan": -1, "isMuted": true, "isSoloed": false}], "masterVolume": 0.5}
      """, to: "song.json")
    let pipeline = try place.pipeline(
      """
      pipeline: mix
      inputs: { session: file, tracks: sound+ }
      stages: [{ mixdown: { from: $tracks, session: $session } }, { export: { formats: wav, wav: { bits: float } } }]
      """)
    let run = try place.run(pipeline, [path] + tracks)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let (mix, base) = (
      try Reference.floats(of: place.out + "/song.wav"), try Reference.floats(of: tracks[0])
    )
    #expect(mix.count == base.count)
    #expect(zip(mix, base).allSatisfy { abs($0 - $1 / 4) < 1e-6 })

    // Nobody says what is to be mixed.
    let alone = try place.run(pipeline, [path])
    #expect(alone.exitCode == 2)
    #expect(alone.errorOutput.contains("the session names no files"), "\(alone.errorOutput)")
    #expect(alone.errorOutput.contains("song.json TRACK"), "\(alone.errorOutput)")
    let few = try place.run(pipeline, [path, tracks[0]], ["--out", place.file("few")])
    #expect(few.exitCode == 1)
    #expect(few.complaint?.why == "1 track came in, and there are settings for 2")
    // A file that was forgotten is told at its channel.
    let forgotten = try place.folder.write(
      "channels:\n  - file: a.wav\n  - volume: 0.5\n", to: "forgotten.yaml")
    let partial = try place.run(pipeline, [forgotten])
    #expect(partial.exitCode == 2)
    #expect(partial.errorOutput.contains("forgotten.yaml:3:5: error: the channel has neither"))
  }

  @Test("into stems side by side, which are files after a split, and add up to the mix")
  func stems() throws {
    let tracks = [
      try record("voice.wav", channels: 1), try record("music.wav"),
      try record("muted.wav"), try record("late.wav", rate: 32_000),
    ]
    func pipeline(_ mix: String, _ rest: String, _ name: String) throws -> String {
      try place.pipeline(
        """
        pipeline: stems
        inputs: { tracks: sound+ }
        stages:
          - mixdown:
              from: $tracks
              tracks:
                - { name: voice, pan: -0.4 }
                - { name: music, volume: 1.5 }
                - { mute: true }
                - { offset: 0.5 s, volume: 1.4 }
              duck: { track: music, by: voice }
              headroom: reduce
              \(mix)
          - \(rest)
        """, named: name)
    }
    let export = "export: { formats: wav, wav: { bits: float }, name: mix }"
    let mixed = try place.run(try pipeline("", export, "mix.yaml"), tracks)
    #expect(mixed.exitCode == 0, "\(mixed.errorOutput)")
    let split = "split: { by: channel, width: 2, wav: { bits: float }, name: \"stem-{piece}\" }"
    let stemmed = try pipeline("stems: true", split, "stems.yaml")
    let run = try place.run(stemmed, tracks)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["mix.wav", "stem-01.wav", "stem-02.wav", "stem-03.wav"])
    let mix = try Reference.floats(of: place.out + "/mix.wav")
    let stems = try (1...3).map { try Reference.floats(of: place.out + "/stem-0\($0).wav") }
    #expect(mix.count == 2 * 44_100 * 5 / 2)
    #expect(stems.allSatisfy { $0.count == mix.count && $0.contains { abs($0) > 0.1 } })
    // All three are rounded once more than their sum.
    let isSum = mix.indices.allSatisfy { frame in
      abs(stems.reduce(0) { $0 + $1[frame] } - mix[frame]) < 3e-7
    }
    #expect(isSum)
    #expect(stems[2].prefix(44_100).allSatisfy { $0 == 0 })
    // One alone is what it is among the others, to its own end.
    let single = try pipeline(
      "stem: 2", export.replacing("name: mix", with: "name: alone"), "one.yaml")
    #expect(try place.run(single, tracks).exitCode == 0)
    let alone = try Reference.floats(of: place.out + "/alone.wav")
    #expect(alone == Array(stems[1].prefix(alone.count)))
    #expect(stems[1].dropFirst(alone.count).allSatisfy { $0 == 0 })

    let killed = try place.spool(
      ["pipeline", "crashtest", stemmed] + tracks + ["--kills", "6", "--seed", "3", "--json"])
    #expect(killed.exitCode == 0, "\(killed.text) \(killed.errorOutput)")
  }

  @Test("but not into more stems than a sound has channels, nor into files of uneven width")
  func tooManyStems() throws {
    let track = try record("a.wav")
    let pipeline = try place.pipeline(
      """
      pipeline: many
      inputs: { tracks: sound+ }
      stages:
        - mixdown: { from: $tracks, stems: true }
        - split: { by: channel, width: 3 }
      """)
    let many = try place.run(pipeline, Array(repeating: track, count: 33))
    #expect(many.exitCode == 1)
    #expect(many.complaint?.what.contains("too many stems") == true, "\(many.errorOutput)")
    #expect(many.complaint?.why == "they take 66 channels, and 64 are the most")
    let uneven = try place.run(pipeline, [track, track])
    #expect(uneven.exitCode == 1)
    #expect(
      uneven.complaint?.why == "the sound has 4, which is no multiple of 3",
      "\(uneven.errorOutput)")
    #expect(place.exports == [])
    let both = try place.pipeline(
      """
      pipeline: both
      inputs: { tracks: sound+ }
      stages: [{ mixdown: { from: $tracks, stems: true, stem: 1 } }, { export: wav }]
      """, named: "both.yaml")
    #expect(try place.run(both, [track]).exitCode == 2)
  }

  @Test("and what is wrong with a session is shown at its place")
  func mistakes() throws {
    let pipeline = PackageFiles.pipeline("session-mix.yaml")
    let path = try place.folder.write(
      """
      channels:
        - file: nowhere.wav
        - { file: other.wav, volume: 2, isMute: true }
      """, to: "song.yaml")
    let run = try place.run(pipeline, [path])
    #expect(run.exitCode == 2)
    for words in [
      "song.yaml:2:11", "nowhere.wav cannot be read: No such file", "song.yaml:3:32",
      "volume is \"2\"", "song.yaml:3:35", "did you mean \"isMuted\"", "4 problems",
    ] {
      #expect(run.errorOutput.contains(words), "\(words) is not in \(run.errorOutput)")
    }
    let none = try place.run(pipeline, [place.file("absent.yaml")])
    #expect(none.exitCode == 2)
    #expect(none.complaint?.what == "cannot read \(place.file("absent.yaml"))")
  }

  @Test("one clear error where nothing can be heard")
  func allMuted() throws {
    let track = try record("a.wav")
    let path = try place.folder.write(
      "channels: [{ file: \(track), isMuted: true }]", to: "song.yaml")
    let pipeline = try place.pipeline(
      """
      pipeline: mix
      inputs: { session: file, tracks: sound+ }
      stages:
        - mixdown: { from: $tracks, session: $session }
        - export: wav
      """)
    let run = try place.run(pipeline, [path])
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("no track of the mix can be heard"))
    #expect(complaint.why == "it is muted")
    #expect(place.exports == [])
  }

  @Test("after steps of their own, together with files as they came in")
  func chains() throws {
    let base = try record("base.wav")
    let layers = [try record("one.flac", rate: 48000), try record("two.wav", channels: 1)]
    let text = """
      pipeline: mix
      inputs: { base: sound, layers: sound+ }
      stages:
        - decode: { from: $base }
        - eq: { bands: [{ type: highpass, frequency: 200 Hz }] }
          id: treated
        - mixdown: { from: [treated, $layers], tracks: [{ volume: 0.5 }, { pan: -0.5 }] }
        - export: wav
      """
    let pipeline = try place.pipeline(text)
    let run = try place.run(pipeline, [base] + layers)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.made.contains("treated") && run.made.contains("mixdown"))
    let name = try #require(place.exports.first)
    #expect(try SoundFacts(of: place.out + "/" + name).sampleRate == 44_100)

    let other = try place.pipeline(
      text.replacing("{ from: [", with: "{ sample-rate: 48 kHz, from: ["), named: "other.yaml")
    let refused = try place.run(other, [base] + layers)
    #expect(refused.exitCode == 1)
    let complaint = try #require(refused.complaint, "\(refused.errorOutput)")
    #expect(complaint.what.contains("track 1 is 44.1 kHz stereo, and the mix has 48 kHz"))
    #expect(complaint.next.contains("resample"))
  }

  @Test("through any number of kills to the same bytes")
  func kills() throws {
    let run = try place.spool([
      "pipeline", "crashtest", PackageFiles.pipeline("session-mix.yaml"),
      PackageFiles.sample("session/session.yaml"), "--kills", "8", "--seed", "7", "--json",
    ])
    #expect(run.exitCode == 0, "\(run.text) \(run.errorOutput)")
  }
}
