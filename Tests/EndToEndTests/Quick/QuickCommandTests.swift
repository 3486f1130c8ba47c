import Foundation
import TestSupport
import Testing

@Suite(
  "A quick command does with one line what a pipeline does",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct QuickCommandTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  @discardableResult
  private func record(
    _ name: String, seconds: Double = 3, rate: Int = 44100, channels: Int = 2,
    coding: [String] = ["-metadata", "title=Song"]
  ) throws -> String {
    try Reference.record(
      place.file(name), seconds: seconds, rate: rate, channels: channels, coding: coding)
    return place.file(name)
  }

  /// What is in the user's folder, hidden files too.
  private var names: [String] { Workspace.names(in: place.folder.path) }

  @Test("normalize reaches the loudness, carries the tags, and leaves nothing but the file")
  func normalize() throws {
    try record("in.wav")
    let before = try Reference.loudness(of: place.file("in.wav")).integrated
    let result = try place.spool(["normalize", "in.wav", "-t", "-16", "-o", "out.mp3"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(result.text.hasPrefix("in.wav → out.mp3   \(rounded(before)) → -1"))
    #expect(result.text.contains(" LUFS   true peak"))
    #expect(names == ["in.wav", "out.mp3"])
    let after = try Reference.loudness(of: place.file("out.mp3"))
    #expect(abs(after.integrated + 16) < 0.1)
    let facts = try SoundFacts(of: place.file("out.mp3"))
    #expect(facts.codec == "mp3" && facts.tags["title"] == "Song")
  }

  @Test("a file keeps the ceiling that was asked for, and a warning says what that costs")
  func ceiling() throws {
    try record("in.wav", seconds: 4)
    func warnings(_ options: [String]) throws -> String {
      let result = try place.spool(
        ["normalize", "in.wav", "-t", "-10", "-b", "24k", "-o", "low.m4a", "--replace"] + options)
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      return result.errorOutput
    }
    let asked = try warnings(["--true-peak", "-3"])
    let peak = try Reference.loudness(of: place.file("low.m4a")).truePeak
    #expect(peak < -2.9)
    let line = #/was limited to -[0-9.]+ dBTP to decode below -3 dBTP, which comes first/#
    #expect(asked.contains(line), "\(asked)")
    #expect(try warnings([]).contains("dBTP, above") == false)
  }

  @Test("the levels that are printed are those of the file as it decodes")
  func writtenLevels() throws {
    // A loud band of noise: few bits change its peaks.
    try record("in.wav", seconds: 4)
    let result = try place.spool(
      ["normalize", "in.wav", "-t", "-8", "-b", "24k", "-o", "low.m4a", "--json"])
    try #require(result.exitCode == 0, "\(result.errorOutput)")
    struct Line: Decodable {
      struct Levels: Decodable { let integratedLoudness, truePeak: Double? }
      let before, after: Levels?
      let warnings: [String]?
    }
    let line = try JSONDecoder().decode(Line.self, from: Data(result.text.utf8))
    let file = try Reference.loudness(of: place.file("low.m4a"))
    #expect(abs((line.after?.integratedLoudness ?? 0) - file.integrated) < 0.11)
    #expect(abs((line.after?.truePeak ?? -99) - file.truePeak) < 0.3)
    let source = try Reference.loudness(of: place.file("in.wav"))
    #expect(abs((line.before?.integratedLoudness ?? 0) - source.integrated) < 0.11)
    if file.truePeak > 0.3 {
      #expect(line.warnings?.contains { $0.contains("the aac file decodes at") } == true)
    }
  }

  @Test("trim counts from the end of the decoded sound, whatever the header says")
  func trimmedFromEnd() throws {
    for (name, coding) in [
      ("a.mp3", ["-c:a", "libmp3lame", "-write_xing", "0"]), ("b.m4a", ["-c:a", "aac"]),
      ("c.opus", ["-c:a", "libopus"]), ("d.wav", []),
    ] {
      try record(name, seconds: 15, rate: 48_000, coding: coding)
      let result = try place.spool(
        ["trim", name, "--from", "-10", "-o", "\(name).wav", "--sample-rate", "48000"])
      try #require(result.exitCode == 0, "\(result.errorOutput)")
      #expect(try SoundFacts(of: place.file("\(name).wav")).frames == 480_000, "\(name)")
    }
  }

  private func rounded(_ value: Double) -> String { String(format: "%.1f", value) }

  @Test("normalize brings mono to the loudness that both speakers have, with --dual-mono")
  func dualMono() throws {
    try Reference.record(place.file("mono.wav"), seconds: 4, channels: 1)
    for target in ["-23", "-8"] {
      let result = try place.spool(
        ["normalize", "mono.wav", "-t", target, "--dual-mono", "--replace", "-o", "out.wav"])
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      #expect(result.text.contains("→ \(target).0 LUFS"))
      let reached = try Reference.loudness(of: place.file("out.wav"), isDualMono: true).integrated
      #expect(abs(reached - (Double(target) ?? 0)) < 0.1)
    }
    try record("stereo.wav")
    let with = try place.spool(["normalize", "stereo.wav", "--dual-mono", "-o", "with.wav"])
    let without = try place.spool(["normalize", "stereo.wav", "-o", "without.wav"])
    #expect(with.exitCode == 0 && without.exitCode == 0)
    let files = try ["with.wav", "without.wav"].map { try Reference.floats(of: place.file($0)) }
    #expect(files[0] == files[1])
    let peak = try place.spool(
      ["normalize", "mono.wav", "--peak", "-1", "--dual-mono", "-o", "peak.wav"])
    #expect(peak.exitCode == 2 && peak.errorOutput.contains("--dual-mono"))
  }

  @Test("normalize keeps true peaks below the ceiling, or reaches a peak")
  func peaks() throws {
    try record("in.wav")
    let loud = try place.spool(
      ["normalize", "in.wav", "-t=-6", "--true-peak", "-3", "-o", "loud.wav"])
    #expect(loud.exitCode == 0, "\(loud.errorOutput)")
    #expect(try Reference.loudness(of: place.file("loud.wav")).truePeak < -2.9)
    let peak = try place.spool(["normalize", "in.wav", "--peak", "-6", "-o", "peak.wav"])
    #expect(peak.exitCode == 0, "\(peak.errorOutput)")
    let highest = try #require(try Reference.floats(of: place.file("peak.wav")).map(abs).max())
    #expect(abs(20 * log10(highest) + 6) < 0.01)
  }

  @Test("several recordings go to a folder, each in its own format; one that fails stops no other")
  func several() throws {
    try record("a.wav")
    try record("b.m4a", coding: ["-c:a", "aac"])
    try record("c.aiff", coding: [])
    for name in ["broken.wav", "x.wav", "y.wav"] { try place.folder.write("no sound", to: name) }
    let result = try place.spool(
      ["normalize", "a.wav", "broken.wav", "b.m4a", "c.aiff", "-t", "-20", "-o", "out/"])
    #expect(result.exitCode == 3)
    #expect(result.text.hasSuffix(" 1 failed\n") && result.text.contains("3 of 4 files done"))
    #expect(result.errorOutput.contains(place.file("broken.wav")), "\(result.errorOutput)")
    #expect(place.exports == ["a.wav", "b.m4a", "c.wav"])
    for name in place.exports {
      #expect(abs(try Reference.loudness(of: place.out + "/" + name).integrated + 20) < 0.1)
    }
    let all = try place.spool(["normalize", "x.wav", "y.wav", "-o", "out/"])
    #expect(all.exitCode == 1)
  }

  @Test("an album gets one gain, and its recordings keep their loudness among each other")
  func album() throws {
    try record("a.wav", coding: ["-c:a", "pcm_f32le"])
    try Reference.ffmpeg([
      "-i", place.file("a.wav"), "-af", "volume=-9dB:precision=double", "-c:a", "pcm_f32le",
      place.file("b.wav"),
    ])
    let words = ["a.wav", "b.wav", "-t", "-20", "--bits", "float", "-o", "out/"]
    let result = try place.spool(["normalize", "--album"] + words)
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let loudness = try ["a.wav", "b.wav"].map {
      try Reference.loudness(of: place.out + "/" + $0).integrated
    }
    #expect(abs(loudness[0] - loudness[1] - 9) < 0.05, "\(loudness)")
    let whole = try Reference.albumLoudness(of: ["a.wav", "b.wav"].map { place.out + "/" + $0 })
    #expect(abs(whole + 20) < 0.1)
    #expect(names == ["a.wav", "b.wav", "out"])
    let show = try place.spool(["normalize", "--album", "--show"] + words)
    #expect(show.text.contains("album: true"), "\(show.text)")
    let peak = try place.spool(
      ["normalize", "--album", "--peak", "-1"] + words.filter { $0 != "-t" && $0 != "-20" })
    #expect(peak.exitCode == 2 && peak.errorOutput.contains("--album shares a gain by loudness"))
  }

  @Test("in a mix with --duck, the others step back while the voice is heard, whichever it is")
  func duck() throws {
    try record("music.wav", seconds: 6)
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "sine=frequency=300:duration=2",
      place.file("voice.wav"),
    ])
    func music(_ words: [String]) throws -> [Float] {
      let line = ["mix"] + words + ["--bits", "float", "--replace", "-o", "mix.wav"]
      let result = try place.spool(line)
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      return try Reference.floats(of: place.file("mix.wav"))
    }
    func level(_ samples: ArraySlice<Float>) -> Double {
      20 * log10(Double(samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)).squareRoot())
    }
    let plain = try music(["voice.wav", "music.wav"])
    let first = try music(["voice.wav", "music.wav", "--duck"])
    #expect(
      try music(["music.wav", "voice.wav", "--duck", "--voice", "voice.wav"]).count == first.count)
    // A second of the music alone, long after the voice, is the same; beneath the voice it is not.
    let (rate, end) = (44100 * 2, plain.count)
    #expect(abs(level(plain[(end - rate)...]) - level(first[(end - rate)...])) < 0.1)
    #expect(plain[rate..<rate * 2] != first[rate..<rate * 2])
    let show = try place.spool(["mix", "voice.wav", "music.wav", "--duck", "--show", "-o", "a.wav"])
    #expect(show.text.contains("tracks: [{ role: voice }, { role: music }]"), "\(show.text)")
    let hosts = ["--voice", "voice.wav", "--voice", "mix.wav"]
    let two = try place.spool(
      ["mix", "voice.wav", "mix.wav", "music.wav", "--duck", "--show", "-o", "a.wav"] + hosts)
    #expect(
      two.text.contains("tracks: [{ role: voice }, { role: voice }, { role: music }]"),
      "\(two.text)")
    let none = try place.spool(
      ["mix", "voice.wav", "mix.wav", "--duck", "-o", "a.wav"] + hosts)
    #expect(none.exitCode == 2 && none.errorOutput.contains("every recording is a --voice"))
    let other = try place.spool([
      "mix", "a.wav", "b.wav", "--duck", "--voice", "c.wav", "-o", "d.wav",
    ])
    #expect(other.exitCode == 2 && other.errorOutput.contains("is none of the recordings"))
  }

  @Test("convert keeps the samples and their depth, and takes the sound of a video")
  func convert() throws {
    try record("in.wav")
    let result = try place.spool(["convert", "in.wav", "-o", "out.flac"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let facts = try SoundFacts(of: place.file("out.flac"))
    #expect(facts.codec == "flac" && facts.bits == 16 && facts.tags["title"] == "Song")
    #expect(
      try Reference.samples(of: place.file("out.flac"), as: "s16le")
        == Reference.samples(of: place.file("in.wav"), as: "s16le"))
    let deep = try place.spool(["convert", "in.wav", "--bits", "24", "-o", "deep.flac"])
    #expect(deep.exitCode == 0, "\(deep.errorOutput)")
    #expect(try SoundFacts(of: place.file("deep.flac")).bits == 24)

    try Reference.ffmpeg(
      ["-f", "lavfi", "-i", "testsrc=d=3", "-i", place.file("in.wav"), "-c:v", "mpeg4"]
        + ["-c:a", "aac", place.file("talk.mp4")])
    let words = ["convert", "talk.mp4", "-f", "mp3,flac", "-b", "192k", "--sample-rate", "48k"]
    let both = try place.spool(words + ["-o", "out/"])
    #expect(both.exitCode == 0, "\(both.errorOutput)")
    #expect(place.exports == ["talk.flac", "talk.mp3"])
    let sound = try SoundFacts(of: place.out + "/talk.mp3")
    #expect(sound.sampleRate == 48_000 && !sound.hasPicture)
  }

  @Test("a recording of six channels becomes a stereo MP3, and a FLAC file of six channels")
  func surround() throws {
    try record("six.wav", channels: 6)
    for (name, channels) in [("six.mp3", 2), ("six.flac", 6)] {
      let result = try place.spool(["convert", "six.wav", "-o", name])
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      #expect(try SoundFacts(of: place.file(name)).channels == channels)
    }
    let both = try place.spool(["convert", "six.wav", "-f", "flac,mp3", "-o", "both/"])
    #expect(
      both.errorOutput.contains(
        "6 are mixed to two, also for flac; a command without mp3 keeps all"), "\(both.errorOutput)"
    )
  }

  @Test("trim keeps exactly the frames between two times, also counted from the end")
  func trim() throws {
    let path = try record("in.wav", seconds: 10)
    let all = try Reference.samples(of: path, as: "s16le")
    let cases: [([String], Range<Int>)] = [
      (["--from", "0:02", "--to", "0:04.5"], 88_200..<198_450),
      (["--from", "8"], 352_800..<441_000), (["--to", "-7"], 0..<132_300),
      (["--from", "-3", "--to=-1"], 308_700..<396_900),
    ]
    for (index, (times, frames)) in cases.enumerated() {
      let name = "part-\(index).wav"
      let result = try place.spool(["trim", "in.wav"] + times + ["-o", name])
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      let part = try Reference.samples(of: place.file(name), as: "s16le")
      #expect(part == all.subdata(in: frames.lowerBound * 4..<frames.upperBound * 4), "\(times)")
    }
  }

  @Test("trim keeps the same stretch of each of several recordings, counted from its own end")
  func trimSeveral() throws {
    for (name, seconds) in [("a.wav", 3.0), ("b.wav", 5.0)] {
      _ = try record(name, seconds: seconds)
    }
    let result = try place.spool(
      ["trim", "a.wav", "b.wav", "--from", "1", "--to", "-1", "-o", "parts/"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    for (name, frames) in [("a.wav", 44_100), ("b.wav", 132_300)] {
      let whole = try Reference.samples(of: place.file(name), as: "s16le")
      let part = try Reference.samples(of: place.file("parts/" + name), as: "s16le")
      #expect(part == whole.subdata(in: 44_100 * 4..<(44_100 + frames) * 4), "\(name)")
    }
    // One that is too short refuses all of them, before the work.
    let refused = try place.spool(["trim", "b.wav", "a.wav", "--from", "4", "-o", "late/"])
    #expect(refused.exitCode == 2 && refused.errorOutput.contains("end of a.wav"))
    #expect(!FileManager.default.fileExists(atPath: place.file("late/b.wav")))
  }

  @Test("of a cut-off recording, times from the end count from where its sound ends")
  func trimCutOff() throws {
    let whole = try Data(contentsOf: URL(fileURLWithPath: record("whole.wav", seconds: 10)))
    try whole.prefix(44 + 44_100 * 4 * 3).write(to: URL(fileURLWithPath: place.file("in.wav")))
    let result = try place.spool(
      ["trim", "in.wav", "--keep-damaged", "--from", "-1", "-o", "end.wav"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let part = try Reference.samples(of: place.file("end.wav"), as: "s16le")
    #expect(abs(part.count - 44_100 * 4) < 400, "\(part.count)")
  }

  @Test("mix adds recordings of different lengths with their gains, and brings them to a loudness")
  func mix() throws {
    let (a, b) = (try record("a.wav", seconds: 2), try record("b.wav", seconds: 3))
    let words = ["mix", "a.wav", "b.wav:-6dB", "--bits", "float", "-o", "mix.wav"]
    let result = try place.spool(words)
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let (first, second) = (try Reference.floats(of: a), try Reference.floats(of: b))
    let mix = try Reference.floats(of: place.file("mix.wav"))
    #expect(mix.count == second.count)
    let gain = Float(pow(10, -6.0 / 20))
    let worst = mix.indices.map { index in
      abs(mix[index] - gain * second[index] - (index < first.count ? first[index] : 0))
    }.max()
    #expect(try #require(worst) < 1e-5)
    // The same gains by option.
    let options = ["--gain", "0", "--gain", "-6 dB", "--bits", "float", "-o", "same.wav"]
    #expect(try place.spool(["mix", "a.wav", "b.wav"] + options).exitCode == 0)
    #expect(try Reference.floats(of: place.file("same.wav")) == mix)

    try record("mono.flac", seconds: 2, rate: 48000, channels: 1)
    let show = try place.spool(["mix", "b.wav", "mono.flac:3", "-t", "-14", "-o", "show.m4a"])
    #expect(show.exitCode == 0, "\(show.errorOutput)")
    #expect(abs(try Reference.loudness(of: place.file("show.m4a")).integrated + 14) < 0.2)
    #expect(try place.spool(["mix", "mono.flac", "mono.flac", "-o", "two.wav"]).exitCode == 0)
    #expect(try SoundFacts(of: place.file("two.wav")).channels == 1)
    // Twice the same is 6 dB more, and turned down below full scale.
    #expect(try Reference.loudness(of: place.file("two.wav")).truePeak < -0.9)
  }

  @Test(
    "--show prints the pipeline, with which spool run writes the same bytes",
    arguments: [
      ["normalize", "in.m4a", "-t", "-18", "-o", "out.mp3"],
      ["normalize", "in.m4a", "--peak", "-3", "-o", "out.wav"],
      ["convert", "in.m4a", "--bits", "16", "-o", "it's: \"new\" # é.wav"],
      ["clean", "in.m4a", "-t", "-19", "-o", "out.m4a"],
      ["trim", "in.m4a", "--from", "1", "--to", "-1", "-o", "out.flac"],
      ["mix", "in.m4a", "other.wav:-3dB", "-o", "out.wav"],
    ])
  func show(words: [String]) throws {
    try record("in.m4a", coding: ["-c:a", "aac", "-metadata", "title=Song"])
    try record("other.wav", rate: 48000)
    let output = try #require(words.last)
    let quick = try place.spool(words)
    #expect(quick.exitCode == 0, "\(quick.errorOutput)")
    let shown = try place.spool(words + ["--show"])
    #expect(shown.exitCode == 0, "\(shown.errorOutput)")
    let pipeline = try place.pipeline(shown.text)
    let inputs = words[0] == "mix" ? ["in.m4a", "other.wav"] : ["in.m4a"]
    let run = try place.run(pipeline, inputs)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == [output])
    #expect(try place.export(output) == Data(contentsOf: URL(filePath: place.file(output))))
  }

  @Test("--title, --artist, --tag and --cover state tags, of a mix too")
  func tags() throws {
    try record("a.wav")
    try record("b.wav")
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "color=red:s=64x48", "-frames:v", "1", place.file("cover.png"),
    ])
    let options = [
      "--title", "It's \"new\" $x", "--tag", "album=On = the Road", "--cover", "cover.png",
    ]
    let mixed = try place.spool(["mix", "a.wav", "b.wav", "-o", "mix.mp3"] + options)
    #expect(mixed.exitCode == 0, "\(mixed.errorOutput)")
    let facts = try SoundFacts(of: place.file("mix.mp3"))
    #expect(facts.hasPicture && facts.tags["title"] == "It's \"new\" $x")
    #expect(facts.tags["album"] == "On = the Road")
    let converted = try place.spool(["convert", "a.wav", "-o", "a.m4a", "--artist", "We"])
    #expect(converted.exitCode == 0, "\(converted.errorOutput)")
    let tags = try SoundFacts(of: place.file("a.m4a")).tags
    #expect(tags["artist"] == "We" && tags["title"] == "Song")
  }

  @Test(
    "and what is no tag and no cover is refused with what is",
    arguments: [
      (["--tag", "titel=x"], "--tag titel=x names no tag", "--tag title=TEXT"),
      (["--tag", "title"], "--tag title names no tag", "--tag title=TEXT"),
      (["--tag", "date=14.3.26"], "\"14.3.26\" is no date", "2026-03-14"),
      (["--title", "x", "--tag", "title=y"], "the second title", "once"),
      (["--cover", "none.png"], "cannot read the cover", "check the path"),
      (["--cover", "a.wav"], "neither JPEG nor PNG", "JPEG or PNG"),
    ])
  func wrongTags(options: [String], flaw: String, advice: String) throws {
    try record("a.wav")
    let result = try place.spool(["convert", "a.wav", "-o", "a.mp3"] + options)
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains(flaw), "\(result.errorOutput)")
    #expect(result.errorOutput.contains(advice), "\(result.errorOutput)")
    #expect(names == ["a.wav"])
  }

  @Test("a list of formats may have spaces")
  func spacedFormats() throws {
    try record("a.wav")
    let result = try place.spool(["convert", "a.wav", "--format", "mp3, flac", "-o", "out/"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(Workspace.names(in: place.file("out")) == ["a.flac", "a.mp3"])
  }

  @Test("one line brings stereo to -16 LUFS and mono to -19 LUFS")
  func stereoAndMono() throws {
    try record("stereo.wav")
    try record("mono.wav", channels: 1)
    let result = try place.spool([
      "normalize", "stereo.wav", "mono.wav", "-t", "-16", "--dual-mono", "--format", "flac", "-o",
      "out/",
    ])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let stereo = try Reference.loudness(of: place.file("out/stereo.flac")).integrated
    let mono = try Reference.loudness(of: place.file("out/mono.flac")).integrated
    #expect(abs(stereo + 16) < 0.1 && abs(mono + 19) < 0.1, "\(stereo) \(mono)")
  }

  @Test("--show needs no output", arguments: ["normalize", "convert", "clean", "mix"])
  func showAlone(command: String) throws {
    try record("in.wav")
    try record("other.wav", rate: 48000)
    let inputs = command == "mix" ? ["in.wav", "other.wav"] : ["in.wav"]
    let shown = try place.spool([command] + inputs + ["--show"])
    #expect(shown.exitCode == 0, "\(shown.errorOutput)")
    let run = try place.run(try place.pipeline(shown.text), inputs)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == [command == "mix" ? "mix.wav" : "in.wav"])
    // Without it, the output is asked for.
    #expect(try place.spool([command] + inputs).exitCode == 2)
  }
}
