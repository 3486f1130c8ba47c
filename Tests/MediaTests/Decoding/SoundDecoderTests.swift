import Audio
import Foundation
import Media
import Platform
import TestSupport
import Testing

@Suite("A sound decoder", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct SoundDecoderTests {
  let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// A way to write a file with the ffmpeg program.
  struct Recipe: Sendable, CustomTestStringConvertible {
    let name: String
    let arguments: [String]
    var channels = 2
    var rate = 48000
    var testDescription: String { name + " " + arguments.joined(separator: " ") }
  }

  static let recipes = [
    Recipe(name: "a.wav", arguments: ["-c:a", "pcm_s16le"]),
    Recipe(name: "b.wav", arguments: ["-c:a", "pcm_s24le"], channels: 1, rate: 44100),
    Recipe(name: "c.wav", arguments: ["-c:a", "pcm_f32le"], channels: 8),
    Recipe(name: "d.wav", arguments: ["-c:a", "pcm_u8"], channels: 1, rate: 8000),
    Recipe(name: "e.wav", arguments: ["-c:a", "pcm_f64le"]),
    Recipe(name: "rf64.wav", arguments: ["-c:a", "pcm_s24le", "-rf64", "always"]),
    Recipe(name: "a.w64", arguments: ["-c:a", "pcm_s16le"]),
    Recipe(name: "a.aiff", arguments: ["-c:a", "pcm_s24be"]),
    Recipe(name: "a.caf", arguments: ["-c:a", "pcm_s16le"], rate: 192_000),
    Recipe(name: "a.flac", arguments: ["-c:a", "flac"]),
    Recipe(name: "b.flac", arguments: ["-c:a", "flac", "-sample_fmt", "s32"], channels: 6),
    Recipe(name: "alac.m4a", arguments: ["-c:a", "alac"]),
    Recipe(name: "alac24.m4a", arguments: ["-c:a", "alac", "-sample_fmt", "s32p"], rate: 96000),
    Recipe(name: "aac.m4a", arguments: ["-c:a", "aac", "-b:a", "96k"]),
    Recipe(name: "watch.m4a", arguments: ["-c:a", "aac", "-b:a", "32k"], channels: 1, rate: 22050),
    Recipe(name: "a.aac", arguments: ["-c:a", "aac", "-b:a", "96k"]),
    Recipe(name: "a.mp3", arguments: ["-c:a", "libmp3lame", "-b:a", "128k"], rate: 44100),
    Recipe(name: "noxing.mp3", arguments: ["-c:a", "libmp3lame", "-write_xing", "0"]),
    Recipe(name: "opus.ogg", arguments: ["-c:a", "libopus", "-b:a", "64k"]),
    Recipe(name: "a.opus", arguments: ["-c:a", "libopus", "-b:a", "32k"], channels: 1),
    Recipe(name: "vorbis.ogg", arguments: ["-c:a", "libvorbis"], rate: 44100),
    Recipe(name: "a.mka", arguments: ["-c:a", "wavpack"]),
  ]

  @Test("gives the same samples as the ffmpeg program", arguments: recipes)
  func equality(recipe: Recipe) throws {
    let path = scratch.file(recipe.name)
    try FFmpeg.run(
      FFmpeg.sound(channels: recipe.channels, rate: recipe.rate, seconds: 1.7)
        + recipe.arguments + [path])
    let decoding = try Decoding(of: path)
    var reference = try FFmpeg.decode(path)
    // ffmpeg gives what fills the last packet of AAC.
    if recipe.name.hasSuffix(".m4a"), recipe.arguments.contains("aac") {
      #expect(reference.count - decoding.samples.count < 1024 * recipe.channels)
      reference.removeLast(max(0, reference.count - decoding.samples.count))
    }
    #expect(decoding.format.channelCount == recipe.channels)
    #expect(decoding.format.sampleRate == Hertz(Double(recipe.rate)))
    #expect(decoding.samples.count == reference.count)
    #expect(try #require(largestDifference(decoding.samples, reference)) <= 1e-7)
    #expect(decoding.damages.isEmpty)
  }

  /// Times and packets of speech are less even than those of steady tones.
  static let speechRecipes = [
    ["-c:a", "libvorbis", "-q:a", "2", "a.ogg"], ["-c:a", "libvorbis", "-ar", "44100", "b.ogg"],
    ["-c:a", "libopus", "-b:a", "12k", "-application", "voip", "a.opus"],
    ["-c:a", "libopus", "-frame_duration", "2.5", "-vbr", "off", "b.opus"],
    ["-c:a", "flac", "flac.ogg"], ["-c:a", "libmp3lame", "-q:a", "5", "a.mp3"],
    ["-c:a", "mp2", "-ar", "24000", "a.mp2"],
  ]

  @Test(
    "finds nothing missing in speech, nor where two recordings follow each other in one file",
    .enabled(if: PackageFiles.sharedData("speech/jfk/jfk.wav") != nil, "the data is not here"),
    arguments: speechRecipes)
  func speech(recipe: [String]) throws {
    let speech = try #require(PackageFiles.sharedData("speech/jfk/jfk.wav"))
    let path = scratch.file(try #require(recipe.last))
    try FFmpeg.run(["-i", speech, "-metadata", "title=A speech"] + recipe.dropLast() + [path])
    let once = try Decoding(of: path)
    #expect(once.damages.isEmpty)
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    try (data + data).write(to: URL(fileURLWithPath: path))
    let twice = try Decoding(of: path, options: DecoderOptions(keepsDamaged: true))
    #expect(!twice.damages.contains { $0.kind == .gap })
    #expect(twice.frameCount >= 2 * once.frameCount)
  }

  @Test("cuts off what AAC adds, to the frame")
  func aacLength() throws {
    let path = scratch.file("a.m4a")
    try FFmpeg.run(FFmpeg.sound(seconds: 1) + ["-c:a", "aac", path])
    let decoder = try SoundDecoder(SourceFile(path))
    #expect(decoder.expectedFrames == Frames(48000))
  }

  @Test(
    "gives AAC as far as its edit list says, which counts in samples or in rougher units",
    arguments: [48_000: 0...0, 96_000: 0...0, 1000: 0...96, 600: 0...160, 44_100: 0...4])
  func editList(units: Int, added: ClosedRange<Int>) throws {
    for length in [47_321, 48_000, 48_127, 49_152, 500] {
      let path = scratch.file("a.m4a")
      try FFmpeg.run(
        FFmpeg.sound(seconds: 2) + ["-af", "atrim=end_sample=\(length)", "-c:a", "aac"]
          + ["-movie_timescale", "\(units)", path])
      let frames = try Decoding(of: path).frameCount
      #expect(added.contains(frames - length), "\(frames) of \(length)")
    }
  }

  @Test("gives the same sound however large the blocks are", arguments: [1, 777, 50_000])
  func blocks(size: Int) throws {
    let path = scratch.file("a.mp3")
    try FFmpeg.run(FFmpeg.sound(seconds: 0.5) + [path])
    #expect(try Decoding(of: path, blockSize: size).samples == Decoding(of: path).samples)
  }

  @Test("picks the sound among cover art and video")
  func pictures() throws {
    let cover = scratch.file("cover.png")
    try FFmpeg.run(["-f", "lavfi", "-i", "color=red:s=64x48", "-frames:v", "1", cover])
    let song = scratch.file("song.mp3")
    try FFmpeg.run(
      ["-i", cover] + FFmpeg.sound(seconds: 1)
        + ["-map", "0:v", "-map", "1:a", "-c:v", "copy", "-disposition:v", "attached_pic", song])
    let film = scratch.file("film.mp4")
    try FFmpeg.run(
      ["-f", "lavfi", "-i", "testsrc=d=1"] + FFmpeg.sound(seconds: 1) + ["-c:a", "aac", film])
    for path in [song, film] {
      // ffmpeg gives what fills the last packet of AAC.
      let samples = try Decoding(of: path).samples
      let reference = try FFmpeg.decode(path)
      #expect((0..<2048).contains(reference.count - samples.count))
      let difference = largestDifference(samples, Array(reference.prefix(samples.count)))
      #expect(try #require(difference) <= 1e-7)
    }
  }

  @Test("converts rate and channels as libswresample does", arguments: [(44100, 1), (16000, 2)])
  func conversion(rate: Int, channels: Int) throws {
    let path = scratch.file("a.wav")
    try FFmpeg.run(FFmpeg.sound(seconds: 2) + [path])
    let options = DecoderOptions(sampleRate: Hertz(Double(rate)), channelCount: channels)
    let decoding = try Decoding(of: path, options: options)
    let layout = channels == 1 ? "mono" : "stereo"
    let reference = try FFmpeg.decode(
      path, ["-af", "aresample=\(rate):ochl=\(layout):rematrix_maxval=1:osf=fltp"])
    #expect(decoding.format == AudioFormat(sampleRate: Hertz(Double(rate)), channelCount: channels))
    #expect(abs(decoding.frameCount - 2 * rate) <= 16)
    #expect(abs(decoding.samples.count - reference.count) <= 16 * channels)
    let shared = min(decoding.samples.count, reference.count) - 64
    #expect(
      try #require(
        largestDifference(Array(decoding.samples.prefix(shared)), Array(reference.prefix(shared))))
        < 1e-4)
  }

  @Test("mixes stereo to the mean of both, and puts mono into both")
  func mixing() throws {
    let path = scratch.file("a.wav")
    try FFmpeg.run([
      "-f", "lavfi", "-i", "aevalsrc='0.8|0.4':d=0.1", "-c:a", "pcm_f32le", path,
    ])
    let mono = try Decoding(of: path, options: DecoderOptions(channelCount: 1))
    #expect(mono.samples.allSatisfy { abs($0 - 0.6) < 1e-6 })
    let single = scratch.file("b.wav")
    try FFmpeg.run(["-f", "lavfi", "-i", "aevalsrc=0.5:d=0.1", "-c:a", "pcm_f32le", single])
    let stereo = try Decoding(of: single, options: DecoderOptions(channelCount: 2))
    #expect(stereo.samples.allSatisfy { abs($0 - 0.5) < 1e-6 })
  }
}
