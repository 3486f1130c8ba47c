import Foundation
import TestSupport
import Testing

@Suite(
  "The pipelines that come with Spool do what they say",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct PipelineRunTests {
  /// What other meters may differ by, in LU and dB.
  private static let tolerance = 0.1

  @Test("a voice note becomes WAV, M4A and ALAC", arguments: ["note-1.m4a", "note-2.m4a"])
  func voiceNote(sample: String) throws {
    let place = try Workspace()
    let source = try SoundFacts(of: PackageFiles.sample(sample))
    let run = try place.run(
      PackageFiles.pipeline("voice-note.yaml"), [PackageFiles.sample(sample)])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.errorOutput == "")
    #expect(run.strayLines == [])
    #expect(run.record?.state == "done")
    let stem = String(sample.dropLast(4))
    let names = ["\(stem).alac.m4a", "\(stem).m4a", "\(stem).wav"]
    #expect(place.exports == names)
    #expect(run.files.map(\.path).sorted() == names.map { place.out + "/" + $0 })

    let wav = try SoundFacts(of: place.out + "/\(stem).wav")
    #expect(wav.codec == "pcm_s24le")
    #expect(wav.frames == source.frames)
    let alac = try SoundFacts(of: place.out + "/\(stem).alac.m4a")
    #expect(alac.codec == "alac")
    #expect(alac.bits == 24)
    #expect(alac.frames == source.frames)
    let m4a = try SoundFacts(of: place.out + "/\(stem).m4a")
    #expect(m4a.codec == "aac")
    // AAC has no samples beyond its frames of 1024; what ffmpeg cuts off is not more than one.
    #expect(abs(m4a.frames - source.frames) <= 1024)
    for facts in [wav, alac, m4a] {
      #expect(facts.sampleRate == source.sampleRate)
      #expect(facts.channels == source.channels)
    }
    try expectLevels(of: place.out + "/\(stem).wav", loudness: -16, ceiling: -1)
    #expect(
      try Reference.samples(of: place.out + "/\(stem).wav", as: "s24le")
        == Reference.samples(of: place.out + "/\(stem).alac.m4a", as: "s24le"))
    #expect(abs(try Reference.loudness(of: place.out + "/\(stem).m4a").integrated + 16) < 0.3)
  }

  @Test("an interview becomes a mastered programme, with tags, cover and figures")
  func podcast() throws {
    let place = try Workspace()
    let take = PackageFiles.sample("take.flac")
    let source = try SoundFacts(of: take)
    let run = try place.run(PackageFiles.pipeline("podcast.yaml"), [take])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let names = ["flac", "m4a", "mp3"].map { "take.podcast." + $0 }
    #expect(place.exports == (names + ["take.podcast.after.json"]).sorted())

    let flac = try SoundFacts(of: place.out + "/take.podcast.flac")
    #expect(flac.codec == "flac")
    #expect(flac.bits == 24)
    #expect(flac.sampleRate == 48000)
    let seconds = Double(source.frames) / Double(source.sampleRate)
    #expect(abs(Double(flac.frames) - seconds * 48000) <= 1)
    let m4a = try SoundFacts(of: place.out + "/take.podcast.m4a")
    #expect(abs(m4a.frames - flac.frames) <= 1024)
    let mp3 = try SoundFacts(of: place.out + "/take.podcast.mp3")
    #expect(mp3.codec == "mp3")
    #expect(mp3.sampleRate == 48000)
    #expect(mp3.channels == 2)
    for facts in [flac, m4a, mp3] {
      #expect(facts.hasPicture)
      for tag in ["title", "artist", "album", "date"] {
        #expect(facts.tags[tag] == source.tags[tag], "\(facts.codec): \(tag)")
      }
    }
    try expectLevels(of: place.out + "/take.podcast.flac", loudness: -16, ceiling: -1)
    // A lossy file keeps the ceiling as it decodes, if that costs some loudness.
    for name in ["mp3", "m4a"] {
      let found = try Reference.loudness(of: place.out + "/take.podcast." + name)
      #expect(found.truePeak < -1 + Self.tolerance, "\(name)")
      #expect(found.integrated > -16.6 && found.integrated < -15.7, "\(name)")
    }
    let figures = try JSONDecoder().decode(
      Figures.self, from: place.export("take.podcast.after.json"))
    let measured = try Reference.loudness(of: place.out + "/take.podcast.flac")
    #expect(abs(figures.integratedLoudness - measured.integrated) < Self.tolerance)
    #expect(abs(figures.truePeak - measured.truePeak) < Self.tolerance)
  }

  @Test("the pipelines that come with Spool leave each other's exports alone in one folder")
  func together() throws {
    let place = try Workspace()
    let tone = place.file("tone.wav")
    try Reference.record(tone, seconds: 3)
    var count = 0
    for name in ["voice-note", "podcast", "interview", "archive", "field-recording"] {
      let run = try place.run(PackageFiles.pipeline(name + ".yaml"), [tone])
      #expect(run.exitCode == 0, "\(name): \(run.errorOutput)")
      #expect(place.exports.count >= count + 2, "\(name): \(place.exports)")
      count = place.exports.count
    }
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
  }

  @Test(
    "flac itself finds the FLAC exports whole",
    .enabled(if: Program(named: "flac") != nil, "the flac program is not installed"))
  func flacTest() throws {
    let place = try Workspace()
    try Reference.record(place.file("tone.wav"), seconds: 3)
    for pipeline in ["podcast.yaml", "archive.yaml"] {
      let run = try place.run(PackageFiles.pipeline(pipeline), [place.file("tone.wav")])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
    }
    for name in ["tone.podcast.flac", "tone.archive.flac"] {
      try Reference.output("flac", ["--test", "--silent", place.out + "/" + name])
    }
  }

  @Test(
    "an archive copy has the very samples of the recording",
    arguments: [("pcm_s16le", "wav", 44100), ("pcm_s24le", "wav", 96000), ("flac", "flac", 48000)])
  func archive(codec: String, container: String, rate: Int) throws {
    let place = try Workspace()
    let tape = place.file("tape." + container)
    try Reference.record(tape, seconds: 3, rate: rate, coding: ["-c:a", codec])
    let run = try place.run(PackageFiles.pipeline("archive.yaml"), [tape])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      place.exports == [
        "receipts", "tape.archive-levels.json", "tape.archive.flac", "tape.archive.wav",
        "tape.listening.m4a",
      ])
    #expect(
      Workspace.names(in: place.out + "/receipts") == [
        "spool.pub", "tape.receipt.json", "tape.sha256", "tape.verify.sh",
      ])
    // As 32 bits, so that no conversion can hide a difference.
    let samples = try Reference.samples(of: tape, as: "s32le")
    #expect(try Reference.samples(of: place.out + "/tape.archive.flac", as: "s32le") == samples)
    #expect(try Reference.samples(of: place.out + "/tape.archive.wav", as: "s32le") == samples)
    let listening = try Reference.loudness(of: place.out + "/tape.listening.m4a")
    #expect(abs(listening.integrated + 20) < 0.3)
  }

  @Test(
    "real speech comes out at the loudness that was asked for",
    .enabled(if: PackageFiles.sharedData("speech/jfk") != nil, "the shared data is not here"))
  func realSpeech() throws {
    let folder = try #require(PackageFiles.sharedData("speech/jfk"))
    let recording = folder + "/jfk.wav"
    let place = try Workspace()
    let run = try place.run(PackageFiles.pipeline("voice-note.yaml"), [recording])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    try expectLevels(of: place.out + "/jfk.wav", loudness: -16, ceiling: -1)
    #expect(
      try SoundFacts(of: place.out + "/jfk.wav").frames == SoundFacts(of: recording).frames)
  }

  private func expectLevels(of path: String, loudness: Double, ceiling: Double) throws {
    let levels = try Reference.loudness(of: path)
    #expect(abs(levels.integrated - loudness) <= Self.tolerance, "\(levels.integrated) LUFS")
    #expect(levels.truePeak <= ceiling + Self.tolerance, "\(levels.truePeak) dBTP")
  }

  private struct Figures: Decodable {
    let integratedLoudness: Double
    let truePeak: Double
  }
}
