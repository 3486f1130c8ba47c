import Foundation
import TestSupport
import Testing

/// A recording into pieces and pieces into one, as a user does it.
@Suite(
  "Recordings are split and joined",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct EditingTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func split(_ parameters: String, named name: String = "split.yaml") throws -> String {
    try place.pipeline(
      """
      pipeline: pieces
      inputs: { tape: sound }
      stages:
        - decode: { from: $tape }
        - split: \(parameters)
      """, named: name)
  }

  private func join(_ parameters: String = "from: $parts") throws -> String {
    try place.pipeline(
      """
      pipeline: whole
      inputs: { parts: sound+ }
      stages:
        - concat: { \(parameters) }
        - export: { formats: [wav], bext: false }
      """, named: "join.yaml")
  }

  private func record(_ name: String, seconds: Double = 4, channels: Int = 2) throws -> String {
    let path = place.file(name)
    try Reference.record(
      path, seconds: seconds, channels: channels, coding: ["-c:a", "pcm_s24le"])
    return path
  }

  @Test("into pieces that are the very recording when they are joined")
  func identity() throws {
    let tape = try record("tape.wav")
    let pipeline = try split("{ at: [0:01, 2.345678 s, 3.9 s] }")
    let run = try place.run(pipeline, [tape])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.made == ["decode", "split"])
    let names = ["tape-01.wav", "tape-02.wav", "tape-03.wav", "tape-04.wav"]
    #expect(place.exports == names)
    #expect(try place.run(pipeline, [tape]).made == [])

    let pieces = names.map { place.out + "/" + $0 }
    let joined = try place.run(try join(), pieces, ["--out", place.file("joined")])
    #expect(joined.exitCode == 0, "\(joined.errorOutput)")
    let whole = place.file("joined/tape-01.wav")
    #expect(
      try Reference.samples(of: whole, as: "s24le") == Reference.samples(of: tape, as: "s24le"))
    let plain = try place.pipeline(
      """
      pipeline: plain
      inputs: { tape: sound }
      stages: [{ decode: { from: $tape } }, { export: { formats: [wav], bext: false } }]
      """, named: "plain.yaml")
    #expect(try place.run(plain, [tape], ["--out", place.file("plain")]).exitCode == 0)
    #expect(
      FileManager.default.contentsEqual(atPath: whole, andPath: place.file("plain/tape.wav")))
  }

  @Test("by chapter, anew when the chapters change, and with an error where there are none")
  func markers() throws {
    let pipeline = try split("{ by: marker, recording: $tape, name: \"{piece} {stem}\" }")
    func write(_ second: Int) throws -> String {
      let list = try place.folder.write(
        """
        ;FFMETADATA1
        [CHAPTER]
        TIMEBASE=1/1000
        START=0
        END=\(second)
        title=../../Intro
        [CHAPTER]
        TIMEBASE=1/1000
        START=\(second)
        END=4000
        title=Song
        """, to: "chapters.txt")
      let path = place.file("tape.mka")
      try Reference.ffmpeg([
        "-i", place.file("source.wav"), "-i", list, "-map_metadata", "1", "-c:a", "copy", path,
      ])
      return path
    }
    _ = try record("source.wav")
    let run = try place.run(pipeline, [try write(1500)])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["01 tape.wav", "02 tape.wav"])
    #expect(try SoundFacts(of: place.out + "/01 tape.wav").frames == 66_150)
    // The sound is the same and known; the pieces are others.
    let other = try place.run(pipeline, [try write(1000)])
    #expect(other.made == ["decode", "split"], "\(other.errorOutput)")
    #expect(try SoundFacts(of: place.out + "/01 tape.wav").frames == 44_100)

    let bare = try place.run(pipeline, [place.file("source.wav")])
    #expect(bare.exitCode == 1)
    let complaint = try #require(bare.complaint, "\(bare.errorOutput)")
    #expect(complaint.what.contains("source.wav has no markers"))
    #expect(complaint.why == "it has neither chapters nor cue points")
    #expect(complaint.next.contains("at: [1:00, 2:30]"))
  }

  @Test("by channel, however many there are")
  func channels() throws {
    let tape = try record("poly.wav", seconds: 2, channels: 6)
    let run = try place.run(try split("channel"), [tape])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == (1...6).map { "poly-0\($0).wav" })
    let floats = try Reference.floats(of: tape)
    for channel in 0..<6 {
      let path = place.out + "/" + place.exports[channel]
      let own = stride(from: channel, to: floats.count, by: 6).map { floats[$0] }
      #expect(try Reference.floats(of: path) == own)
    }
  }

  @Test("at silence, with a note where there is none")
  func silence() throws {
    let tape = try record("tape.wav", seconds: 2)
    let run = try place.run(try split("silence"), [tape])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["tape-01.wav"])
    #expect(
      run.warnings == ["no pause of 1 s below -45 dB was found: the whole sound is one piece"])
  }

  @Test("unless times lie beyond the end: then plan says so too, and nothing is written")
  func beyondTheEnd() throws {
    let tape = try record("tape.wav", seconds: 2)
    let pipeline = try split("{ at: [1:00] }")
    let plan = try place.spool(["pipeline", "plan", pipeline, tape])
    let run = try place.run(pipeline, [tape])
    for (code, text) in [(plan.exitCode, plan.errorOutput), (run.exitCode, run.errorOutput)] {
      #expect(code == 1)
      let complaint = try #require(Complaint(text), "\(text)")
      #expect(complaint.what.contains("split cannot begin a piece at 60 s"))
      #expect(complaint.why == "the sound ends at 2 s")
    }
    #expect(place.exports == [])
  }

  @Test("with mistakes in the pipeline shown at their places")
  func mistakes() throws {
    let check = try place.spool(["pipeline", "check", try split("{ at: [2:30, 1:00, 1:75] }")])
    #expect(check.exitCode == 2)
    #expect(check.errorOutput.contains("split.yaml:5:31"), "\(check.errorOutput)")
    let order = try place.spool(["pipeline", "check", try split("{ at: [2:30, 1:00] }")])
    #expect(order.errorOutput.contains("do not ascend: 60 s follows 150 s"))
    let unknown = try place.spool(["pipeline", "check", try split("channels")])
    #expect(unknown.errorOutput.contains("did you mean \"channel\""), "\(unknown.errorOutput)")
    #expect(try place.spool(["pipeline", "check", try join()]).exitCode == 0)
  }

  @Test("and parts of other kinds are joined to one, as ffmpeg's crossfade does it")
  func crossfade() throws {
    let parts = [try record("a.wav", seconds: 2), try record("b.wav", seconds: 3)]
    let run = try place.run(try join("from: $parts, crossfade: 500 ms, curve: linear"), parts)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let expected = try Reference.ffmpeg(
      parts.flatMap { ["-i", $0] } + [
        "-filter_complex", "[0][1]acrossfade=ns=22050:c1=tri:c2=tri", "-f", "f32le", "-",
      ])
    let own = try Reference.samples(of: place.out + "/a.wav", as: "f32le")
    #expect(own.count == expected.count && own.count == 44_100 * 9 / 2 * 8)
    let difference = unsafe own.withUnsafeBytes { own in
      unsafe expected.withUnsafeBytes { expected in
        unsafe zip(own.bindMemory(to: Float.self), expected.bindMemory(to: Float.self))
          .reduce(0) { max($0, abs($1.0 - $1.1)) }
      }
    }
    #expect(difference < 1e-4)

    let short = try record("short.wav", seconds: 0.75)
    let refused = try place.run(
      try join("from: $parts, crossfade: 500 ms"), [parts[0], short, parts[1]],
      ["--out", place.file("short")])
    #expect(refused.exitCode == 1)
    let complaint = try #require(refused.complaint, "\(refused.errorOutput)")
    #expect(complaint.what.contains("part 2 (short.wav) is too short for crossfades of 0.5 s"))
    #expect(complaint.why == "it is 0.75 s long, and they take 1 s")
  }

  @Test("through any number of kills to the same bytes")
  func kills() throws {
    let tape = try record("tape.wav", seconds: 40)
    let pipeline = try place.pipeline(
      """
      pipeline: editing
      inputs: { tape: sound }
      stages:
        - concat: { from: [$tape, $tape, $tape], crossfade: 1 s }
        - split: { at: [10 s, 11 s, 1:00], formats: [wav, m4a] }
        - split: { by: channel, formats: flac, name: "{stem}-channel-{piece}" }
      """)
    let run = try place.spool([
      "pipeline", "crashtest", pipeline, tape, "--kills", "8", "--seed", "7", "--json",
    ])
    #expect(run.exitCode == 0, "\(run.text) \(run.errorOutput)")
  }
}
