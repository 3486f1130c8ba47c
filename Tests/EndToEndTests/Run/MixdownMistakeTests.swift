import Foundation
import TestSupport
import Testing

/// What users get wrong about a mix: one clear error before anything is written, or the result that
/// the documentation promises.
@Suite(
  "Mistakes about a mix",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct MixdownMistakeTests {
  private let place: Workspace
  private let tracks: [String]

  init() throws {
    place = try Workspace()
    tracks = ["one.wav", "two.wav"].map(place.file)
    try Reference.record(tracks[0], seconds: 2)
    try Reference.record(tracks[1], seconds: 1, channels: 1)
  }

  private func run(_ settings: String) throws -> SpoolRun {
    let pipeline = try place.pipeline(
      """
      pipeline: mix
      inputs: { tracks: sound+ }
      stages:
        - mixdown: { from: $tracks, \(settings) }
        - export: { formats: [wav], name: mix }
      """)
    return try place.run(pipeline, tracks)
  }

  @Test(
    "are shown at their place in the pipeline",
    arguments: [
      ("tracks: [{ volume: -1 }]", "volume of tracks of mixdown is out of range at -1"),
      ("tracks: [{ volume: 1.6 }]", "0 … 1.5"),
      ("tracks: [{ pan: 2 }]", "-1 … 1"),
      ("tracks: [{}, { offset: soon }]", "22050 samples"),
      ("tracks: [{}, { offset: 25 h }]", "24 h"),
      ("tracks: [{}, { offset: 1e300 s }]", "24 h"),
      ("tracks: [{}, { offset: -9e18 samples }]", "24 h"),
      ("channels: 3", "1 … 2"),
      ("sample-rate: 1 Hz", "4000 Hz"),
      ("duck: { track: 1 }", "by"),
      ("duck: { track: 1, by: 2, hold: -1 s }", "out of range"),
      ("match: -16 LUFS", "there is no voice to match"),
    ])
  func inPipeline(settings: String, words: String) throws {
    let run = try run(settings)
    #expect(run.exitCode == 2, "\(run.errorOutput)")
    #expect(run.errorOutput.contains(words), "\(run.errorOutput)")
    #expect(run.errorOutput.contains("pipeline.yaml:4:"), "\(run.errorOutput)")
    #expect(place.exports == [])
  }

  @Test(
    "name the recording that cannot be read, once, and no other one",
    arguments: ["mixdown", "concat", "sync"])
  func unreadable(kind: String) throws {
    let third = try place.folder.write("no sound at all", to: "three.wav")
    let pipeline = try place.pipeline(
      """
      pipeline: several
      inputs: { tracks: sound+ }
      stages:
        - \(kind): { from: $tracks }
        - export: { formats: [wav], name: mix }
      """)
    let run = try place.run(pipeline, tracks + [third])
    #expect(run.exitCode == 1, "\(run.errorOutput)")
    let what = try #require(run.complaint?.what, "\(run.errorOutput)")
    #expect(what.ranges(of: "three.wav").count == 1, "\(what)")
    #expect(!what.contains("one.wav") && !what.contains("two.wav"), "\(what)")
  }

  @Test(
    "are told by the tracks that they are about",
    arguments: [
      ("tracks: [{}, {}, {}]", "do not match their settings"),
      ("tracks: [{ mute: true }, { mute: true }]", "no track of the mix can be heard"),
      ("tracks: [{ mute: true, solo: true }, {}]", "no track of the mix can be heard"),
      ("tracks: [{ mute: true }, {}], stem: 1", "there is no stem 1"),
      ("stem: 3", "there is no stem 3"),
      ("duck: { track: 1, by: 1 }", "track \"1\" cannot be turned down"),
      ("tracks: [{ offset: timestamp }]", "track 1 has no time stamp"),
      ("tracks: [{ offset: -2 s }, { offset: -100000 samples }]", "nothing is left"),
      ("tracks: [{ offset: -24 h }, { mute: true }]", "nothing is left"),
    ])
  func inTracks(settings: String, words: String) throws {
    let run = try run(settings)
    #expect(run.exitCode == 1, "\(run.errorOutput)")
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains(words), "\(complaint)")
    #expect(complaint.what.contains("mixdown"), "\(complaint)")
    #expect(!complaint.why.isEmpty && !complaint.next.isEmpty, "\(complaint)")
    #expect(place.exports == [])
  }

  @Test("a track may begin long after all others have ended: it is silent between")
  func lateTrack() throws {
    let run = try run("tracks: [{}, { offset: 30 s, pan: 1 }]")
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try SoundFacts(of: place.out + "/mix.wav").frames == 31 * 44_100)
    let samples = try Reference.floats(of: place.out + "/mix.wav")
    let gap = samples[2 * 2 * 44_100..<2 * 30 * 44_100]
    #expect(gap.allSatisfy { $0 == 0 })
    #expect(samples[(2 * 30 * 44_100)...].contains { abs($0) > 0.01 })
  }

  @Test("an offset of hours is followed, with a warning of the silence before the track")
  func farTrack() throws {
    let run = try run("tracks: [{}, { offset: 62.5 s }], sample-rate: 8 kHz")
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings == ["track 2 begins after 60.5 s of silence: check its offset"])
    #expect(try SoundFacts(of: place.out + "/mix.wav").frames == 8000 * 127 / 2)
  }

  @Test("why nothing can be heard is told as it is")
  func unheard() throws {
    let muted = try run("tracks: [{ mute: true }, { mute: true }]")
    #expect(muted.complaint?.why == "all 2 are muted")
    let soloed = try run("tracks: [{ mute: true, solo: true }, {}]")
    #expect(
      soloed.complaint?.why
        == "every track that is soloed is muted too, and no other is heard beside them")
  }

  @Test("a track that ends before the mix begins is left out, with a warning")
  func earlyTrack() throws {
    let run = try run("tracks: [{}, { offset: -3 s }]")
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings == ["track 2 ends before the mix begins"])
    #expect(try SoundFacts(of: place.out + "/mix.wav").frames == 2 * 44_100)
  }

  @Test("a file among the tracks that holds no sound is named, and so is one that is not there")
  func noSound() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: mix
      inputs: { tracks: sound+ }
      stages:
        - mixdown: { from: $tracks }
        - export: { formats: [wav], name: mix }
      """)
    let text = try place.folder.write("no sound at all\n", to: "notes.wav")
    let run = try place.run(pipeline, [tracks[0], text])
    #expect(run.exitCode == 1, "\(run.errorOutput)")
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("notes.wav") && !complaint.next.isEmpty, "\(complaint)")
    let absent = try place.run(pipeline, [tracks[0], place.file("absent.wav")])
    #expect(absent.exitCode != 0)
    #expect(absent.errorOutput.contains("absent.wav"), "\(absent.errorOutput)")
    #expect(place.exports == [])
  }

  @Test("silence cannot be normalized: it stays as it is, with a warning")
  func normalizedSilence() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: silence
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - normalize: -16 LUFS
        - export: { formats: [wav, m4a], name: silence }
      """)
    try Reference.ffmpeg(["-f", "lavfi", "-i", "anullsrc=d=2", place.file("silence.wav")])
    let run = try place.run(pipeline, [place.file("silence.wav")])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings.contains { $0.contains("the recording is silent") }, "\(run.warnings)")
    #expect(try Reference.floats(of: place.out + "/silence.wav").allSatisfy { $0 == 0 })
    #expect(place.exports == ["silence.m4a", "silence.wav"])
  }

  @Test("samples that are no numbers become silence in every format, and do no harm to the rest")
  func damagedSamples() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: damaged
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - export: { formats: [wav, m4a, alac, flac], name: damaged }
      """)
    // A second of a tone with a tenth of a second of NaN, ∞ and 10³⁰ in it.
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "aevalsrc='0.3*sin(2*PI*440*t)':s=44100:d=1", "-c:a", "pcm_f32le",
      "-bitexact", place.file("tone.wav"),
    ])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: place.file("tone.wav")))
    let odd: [Float] = [.nan, .infinity, 1e30, -.infinity, -1e30]
    let start = bytes.count - 4 * 22_050
    for index in 0..<4410 {
      let bits = odd[index % odd.count].bitPattern
      for byte in 0..<4 {
        bytes[start + 4 * index + byte] = UInt8(truncatingIfNeeded: bits >> (8 * UInt32(byte)))
      }
    }
    try bytes.write(to: URL(fileURLWithPath: place.file("damaged-in.wav")))
    let run = try place.run(pipeline, [place.file("damaged-in.wav")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let tone = try Reference.floats(of: place.file("tone.wav"))
    for name in place.exports {
      let samples = try Reference.floats(of: place.out + "/" + name)
      // libavcodec fills the last packet of AAC up.
      #expect(name.hasSuffix(".m4a") ? samples.count >= 44_100 : samples.count == 44_100, "\(name)")
      #expect(samples[23_500..<25_000].allSatisfy { abs($0) < 0.01 }, "\(name)")
      for index in stride(from: 30_000, to: 44_000, by: 7) {
        #expect(abs(samples[index] - tone[index]) < 0.01, "\(name)")
      }
    }
    #expect(place.exports.count == 4)
  }

  @Test("are told with the pipeline's other mistakes where a duck names no track")
  func inDucks() throws {
    let run = try run("duck: { track: music, by: voice }")
    #expect(
      run.exitCode == 2 && !run.events.contains { $0.event == "started" }, "\(run.errorOutput)")
    #expect(run.errorOutput.contains("there is no track \"music\""), "\(run.errorOutput)")
  }
}
