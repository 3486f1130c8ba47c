import Audio
import Foundation
import Media
import Platform
import TestSupport
import Testing

@Suite("A bad recording", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct BadInputTests {
  let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// The error of decoding the whole recording.
  func error(_ path: String, keepsDamaged: Bool = false) -> SpoolError? {
    do throws(SpoolError) {
      _ = try Decoding(of: path, options: DecoderOptions(keepsDamaged: keepsDamaged))
      return nil
    } catch {
      return error
    }
  }

  @Test("that is not there, empty, a folder or a pipe is called that")
  func notAFile() throws {
    #expect(error(scratch.file("none"))?.reason == "there is no such file")
    #expect(error(try scratch.write("", to: "empty.m4a"))?.reason == "it is empty")
    #expect(error(scratch.path)?.reason == "it is a folder")
    let pipe = scratch.file("pipe.m4a")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    #expect(error(pipe)?.reason == "it is a pipe or a device, not a file")
    #expect(error(pipe)?.cause == .input)
  }

  @Test("that may not be read is called that", .enabled(if: getuid() != 0, "root reads everything"))
  func unreadable() throws {
    let path = try scratch.write("secret", to: "a.wav")
    #expect(unsafe chmod(path, 0) == 0)
    #expect(error(path)?.reason == "permission denied")
    #expect(error(path)?.cause == .environment)
  }

  @Test("that is text is no recording", arguments: ["a.m4a", "a.wav", "a.mp3", "a"])
  func text(name: String) throws {
    let text = String(repeating: "Dear diary, today nothing was recorded.\n", count: 200)
    let found = error(try scratch.write(text, to: name))
    #expect(found?.reason?.hasPrefix("it is not a recording") == true)
  }

  @Test(
    "whose header is lost is not taken for a format without any", arguments: ["a.wav", "a.raw"])
  func headless(name: String) throws {
    // Equal channels look like the frames of an old game's format.
    let path = scratch.file(name)
    let sine = "aevalsrc=exprs='0.4*sin(880*t)|0.4*sin(880*t)':s=44100:d=3"
    try FFmpeg.run(["-f", "lavfi", "-i", sine, "-f", "s16le", path])
    let refusal = try #require(error(path))
    #expect(refusal.cause == .input, "\(refusal)")
  }

  @Test("that names other files is refused")
  func playlist() throws {
    let other = scratch.file("other.wav")
    try FFmpeg.run(FFmpeg.sound(seconds: 1) + [other])
    let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(other)\n#EXT-X-ENDLIST\n"
    let found = error(try scratch.write(list, to: "a.m3u8"))
    #expect(
      found?.reason?.hasPrefix("it is not a recording") == true || found?.cause == .environment,
      "\(String(describing: found))")
  }

  @Test("whose index was never written is cut off")
  func noIndex() throws {
    let whole = scratch.file("whole.m4a")
    try FFmpeg.run(FFmpeg.sound(seconds: 2) + ["-c:a", "aac", whole])
    let half = scratch.file("half.m4a")
    try Data(contentsOf: URL(fileURLWithPath: whole)).prefix(9000)
      .write(to: URL(fileURLWithPath: half))
    let found = error(half)
    #expect(found?.reason?.contains("cut off") == true)
    #expect(found?.reason?.contains("moov") == true)
  }

  @Test("that ends in its head is cut off, and no sign of a failing disk")
  func headOnly() throws {
    let whole = scratch.file("whole.flac")
    try FFmpeg.run(FFmpeg.sound(seconds: 1) + [whole])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    let path = scratch.file("head.flac")
    for count in [13, 20, 36, 42] {
      try bytes.prefix(count).write(to: URL(fileURLWithPath: path))
      let found = try #require(error(path))
      #expect(found.reason == "the file is cut off: its head is cut off", "\(count) bytes")
      #expect(found.cause == .input)
    }
  }

  @Test("that holds nothing but a tag is called that")
  func tagOnly() throws {
    let tags = [
      Data("ID3".utf8) + Data([4, 0, 0, 0, 0, 0, 100]) + Data(count: 100),
      Data("TAG".utf8) + Data(count: 125),
    ]
    let path = scratch.file("tag.mp3")
    for tag in tags {
      try tag.write(to: URL(fileURLWithPath: path))
      #expect(error(path)?.reason == "the file is cut off: there is a tag only")
    }
  }

  @Test("that ends before its sound is cut off")
  func indexOnly() throws {
    let whole = scratch.file("whole.m4a")
    try FFmpeg.run(
      FFmpeg.sound(seconds: 1) + ["-c:a", "aac", "-movflags", "+faststart", whole])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    let place = try #require(bytes.range(of: Data("mdat".utf8))).lowerBound - 4
    let path = scratch.file("index.m4a")
    try bytes.prefix(place).write(to: URL(fileURLWithPath: path))
    let found = try #require(error(path))
    #expect(found.reason == "the file is cut off: the part with its sound is missing")
    #expect(found.advice == "copy it again from where it came from")
  }

  @Test("of a codec that the libraries do not know, or not in full, is called that")
  func codecs() throws {
    let (wave, movie) = (scratch.file("a.wav"), scratch.file("a.m4a"))
    try FFmpeg.run(FFmpeg.sound(seconds: 1) + [wave])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: wave))
    bytes.replaceSubrange(20..<22, with: [0x99, 0x99])
    try bytes.write(to: URL(fileURLWithPath: wave))
    #expect(error(wave)?.reason?.hasSuffix("know the codec of its sound") == true)

    try FFmpeg.run(FFmpeg.sound(seconds: 1) + ["-c:a", "aac", movie])
    bytes = try Data(contentsOf: URL(fileURLWithPath: movie))
    // The object type stands in the first five bits of the configuration: 22 is BSAC.
    let description = try #require(bytes.range(of: Data("esds".utf8))).upperBound
    let mark = Data([5, 0x80, 0x80, 0x80])
    let place = try #require(bytes.range(of: mark, in: description..<bytes.count)).upperBound + 1
    bytes[place] = 22 << 3 | bytes[place] & 7
    try bytes.write(to: URL(fileURLWithPath: movie))
    let reason = try #require(error(movie)?.reason)
    #expect(reason.contains("aac") && reason.contains("does not support"), "\(reason)")
  }

  @Test("with pictures alone has no sound")
  func silentFilm() throws {
    let film = scratch.file("film.mp4")
    try FFmpeg.run(["-f", "lavfi", "-i", "testsrc=d=1", film])
    let reason = "it holds pictures but no sound"
    #expect(error(film)?.reason == reason)
    #expect(
      #expect(throws: SpoolError.self) { try MediaProbe.describe(SourceFile(film)) }?.reason
        == reason)
  }

  @Test("without a single frame has no length")
  func zeroLength() throws {
    let path = scratch.file("zero.wav")
    try FFmpeg.run(["-f", "lavfi", "-i", "anullsrc", "-frames:a", "0", "-t", "0", path])
    #expect(error(path)?.reason == "its sound has no length")
  }

  @Test(
    "that ends early is truncated, and kept as far as it goes if asked to",
    arguments: [
      "a.wav", "pcm_s24le.wav", "pcm_f32le.wav", "pcm_f64le.wav", "pcm_mulaw.wav",
      "adpcm_ima_wav.wav", "pcm_s24le.w64",
      "pcm_s24be.caf", "pcm_s24be.au", "a.flac", "a.m4a", "a.aiff", "a.wv", "a.tta",
    ])
  func truncated(name: String) throws {
    let whole = scratch.file(name)
    let codec = name.prefix { $0 != "." }
    let coding = codec == "a" ? ["-movflags", "+faststart"] : ["-c:a", String(codec)]
    try FFmpeg.run(FFmpeg.sound(seconds: 4) + coding + [whole])
    let original = try Decoding(of: whole)
    let length = original.frameCount
    let data = try Data(contentsOf: URL(fileURLWithPath: whole))
    let half = scratch.file("half-" + name)
    // Inside a sample, where there are samples.
    try data.prefix(data.count / 2 | 1).write(to: URL(fileURLWithPath: half))
    let found = try #require(error(half))
    #expect(found.advice?.contains("damaged: keep") == true)
    let kept = try Decoding(of: half, options: DecoderOptions(keepsDamaged: true))
    #expect(kept.damages.contains { $0.kind == .truncated })
    // A packet of WavPack is half a second long, and one of TTA a whole one.
    #expect((45_000...110_000).contains(kept.frameCount))
    // Nothing is made up behind the last sample that is there.
    if !name.hasSuffix("m4a") {
      let isPrefix = original.samples.starts(with: kept.samples)
      #expect(isPrefix)
      #expect(kept.damages.allSatisfy { ($0.lost?.value ?? 0) == 0 })
    }
    let declared = try #require(kept.declaredLength).frames(at: kept.format.sampleRate)
    // The padding of a codec may count.
    #expect(abs(declared.count - length) <= 4096)
    #expect(try Decoding(of: whole).declaredLength == nil)
  }

  @Test("of DSD that ends early tells how much is missing")
  func truncatedDSD() throws {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    // Two channels in blocks of 4096 bytes, for a second.
    let (rate, blocks) = (2_822_400, 2 * (2_822_400 / 8 / 4096 + 1))
    let data = (0..<blocks * 4096).map { UInt8(truncatingIfNeeded: $0 &* 151 ^ $0 >> 7) }
    let format =
      Array("fmt ".utf8) + little(52, 8) + [1, 0, 2, 2].flatMap { little($0, 4) }
      + [rate, 1].flatMap { little($0, 4) } + little(rate, 8) + [4096, 0].flatMap { little($0, 4) }
    let sound = Array("data".utf8) + little(12 + data.count, 8) + data
    let bytes =
      Array("DSD ".utf8) + little(28, 8) + little(28 + format.count + sound.count, 8)
      + little(0, 8) + format + sound
    let path = scratch.file("tape.dsf")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let whole = try Decoding(of: path)
    #expect(whole.declaredLength == nil)
    try Data(bytes.prefix(bytes.count / 3)).write(to: URL(fileURLWithPath: path))
    let kept = try Decoding(of: path, options: DecoderOptions(keepsDamaged: true))
    #expect(kept.damages.map(\.kind) == [.truncated])
    let declared = try #require(kept.declaredLength).frames(at: kept.format.sampleRate)
    #expect(abs(declared.count - whole.frameCount) <= 4096)
  }

  @Test("with a few bytes behind its last whole sample is not damaged", arguments: [1, 2, 5])
  func oddLength(count: Int) throws {
    let path = scratch.file("odd.wav")
    try FFmpeg.run(FFmpeg.sound(seconds: 1) + ["-bitexact", "-c:a", "pcm_s24le", path])
    let whole = try Decoding(of: path)
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let start = try #require(data.range(of: Data("data".utf8))).upperBound
    data.append(contentsOf: (1...count).map { UInt8($0 | 0x80) })
    for (offset, value) in [(4, data.count - 8), (start, data.count - start - 4)] {
      for byte in 0..<4 { data[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    }
    try data.write(to: URL(fileURLWithPath: path))
    let odd = try Decoding(of: path)
    #expect(odd.samples == whole.samples)
    #expect(odd.damages.isEmpty)
    #expect(odd.declaredLength == nil)
  }

  @Test(
    "with a damaged middle is reported with its place, and keeps its length if kept",
    arguments: [
      "a.flac", "a.m4a", "a.opus", "a.ogg", "flac.ogg", "a.mp3", "a.mp2", "a.wv",
    ])
  func damaged(name: String) throws {
    let path = scratch.file(name)
    try FFmpeg.run(FFmpeg.sound(seconds: 6) + ["-movflags", "+faststart", path])
    let whole = try Decoding(of: path)
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let middle = data.count / 2
    for index in middle..<middle + 2000 { data[index] = UInt8(truncatingIfNeeded: index &* 151) }
    try data.write(to: URL(fileURLWithPath: path))
    let found = try #require(error(path))
    let kept = try Decoding(of: path, options: DecoderOptions(keepsDamaged: true))
    let place = try #require(kept.damages.first)
    #expect(found.reason == "\(place)")
    // A page of Ogg is a second long, and is lost as a whole.
    #expect((1.9...3.5).contains(place.position.value))
    #expect(abs((place.byteOffset ?? 0) - middle) < 20_000)
    // How much an MP3 encoder added at the end goes by the number of frames, and stays.
    let added = name == "a.mp3" ? 0...1152 : 0...0
    #expect(added.contains(kept.frameCount - whole.frameCount))
    try #require(kept.frameCount >= whole.frameCount)
    // What follows the damage has not moved; AAC's substituted noise is another one.
    let tail = whole.samples.count - 96000..<whole.samples.count
    #expect(signalToNoise(whole.samples, kept.samples, in: tail) > 20)
  }
}
