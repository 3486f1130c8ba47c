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
}
