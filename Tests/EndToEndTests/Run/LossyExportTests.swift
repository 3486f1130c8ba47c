import Foundation
import TestSupport
import Testing

@Suite(
  "A recording becomes MP3, Opus and Ogg Vorbis",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct LossyExportTests {
  @Test("with the loudness, the length, the tags and the picture of the others")
  func exported() throws {
    let place = try Workspace()
    let take = PackageFiles.sample("take.flac")
    let source = try SoundFacts(of: take)
    let pipeline = try place.pipeline(
      """
      pipeline: lossy
      inputs: { take: sound }
      stages:
        - decode
        - normalize: { loudness: -16 LUFS, true-peak: -2 dBTP }
        - export:
            formats: [wav, mp3, opus, ogg]
            mp3: { bit-rate: 192 kbit/s }
            opus: { bit-rate: 128 kbit/s }
            ogg: { quality: 6 }
      """)
    let run = try place.run(pipeline, [take])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["take.mp3", "take.ogg", "take.opus", "take.wav"])
    let reference = try Reference.loudness(of: place.out + "/take.wav")
    for (name, codec) in [("take.mp3", "mp3"), ("take.opus", "opus"), ("take.ogg", "vorbis")] {
      let path = place.out + "/" + name
      let facts = try SoundFacts(of: path)
      #expect(facts.codec == codec)
      #expect(facts.hasPicture, "\(name)")
      let seconds = Double(source.frames) / Double(source.sampleRate)
      #expect(abs(Double(facts.frames) - seconds * Double(facts.sampleRate)) <= 1, "\(name)")
      for tag in ["title", "artist", "album", "date"] {
        #expect(facts.tags[tag] == source.tags[tag], "\(name): \(tag)")
      }
      let found = try Reference.loudness(of: path)
      #expect(abs(found.integrated - reference.integrated) < 0.3, "\(name)")
      #expect(found.truePeak < -1, "\(name)")
    }
  }

  @Test("which are measured as they decode, and warned of where they clip")
  func measured() throws {
    let place = try Workspace()
    // A band of noise near full scale: what few bits leave out of it changes its peaks.
    try Reference.record(place.file("take.wav"), seconds: 3)
    let pipeline = try place.pipeline(
      """
      pipeline: measured
      inputs: { take: sound }
      stages:
        - decode
        - normalize: { loudness: -5 LUFS, true-peak: -0.1 dBTP }
        - export: { formats: [mp3, m4a, opus, ogg], m4a: { bit-rate: 64 kbit/s }, verify: false }
        - measure-exports:
            files: [export.mp3, export.m4a, export.opus, export.ogg]
            true-peak: -0.1 dBTP
      """)
    let run = try place.run(pipeline, [place.file("take.wav")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let findings = try #require(run.findings["measure-exports"])
    struct Report: Decodable {
      struct File: Decodable {
        let codec: String
        let levels: Levels
      }
      struct Levels: Decodable {
        let integratedLoudness: Double
        let truePeak: Double
      }
      let files: [File]
    }
    let files = try JSONDecoder().decode(Report.self, from: Data(findings.utf8)).files
    #expect(files.map(\.codec) == ["mp3", "aac", "opus", "vorbis"])
    for (file, name) in zip(files, ["mp3", "m4a", "opus", "ogg"]) {
      let reference = try Reference.loudness(of: place.out + "/take." + name)
      #expect(abs(file.levels.integratedLoudness - reference.integrated) < 0.15, "\(name)")
      #expect(abs(file.levels.truePeak - reference.truePeak) < 0.3, "\(name)")
    }
    let loud = files.filter { $0.levels.truePeak > -0.1 }
    #expect(!loud.isEmpty)
    #expect(run.warnings.count { $0.contains("file decodes at") } == loud.count)
    let text = try place.spool(["run", pipeline, place.file("take.wav"), "--out", place.out]).text
    #expect(text.contains("vorbis") && text.contains("true peak"))

    let absent = try place.pipeline(
      """
      pipeline: absent
      inputs: { take: sound }
      stages:
        - decode
        - export: { formats: mp3, name: absent }
        - measure-exports: { files: [export.mp3, export.ogg] }
      """)
    let refused = try place.run(absent, [place.file("take.wav")])
    #expect(refused.exitCode == 2)
    #expect(refused.errorOutput.contains("export has no output \"ogg\""), "\(refused.errorOutput)")
  }

  @Test("but not surround sound as MP3, before any work")
  func surround() throws {
    let place = try Workspace()
    try Reference.record(place.file("take.wav"), seconds: 1, channels: 6)
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { take: sound }\nstages:\n  - decode\n  - export: [mp3, opus]\n")
    let run = try place.run(pipeline, [place.file("take.wav")])
    #expect(run.exitCode == 1 && run.made == [])
    #expect(run.complaint?.what.contains("export cannot write MP3 of 6 channels") == true)
    #expect(run.complaint?.next.contains("decode: { channels: 2 }") == true)
  }
}
