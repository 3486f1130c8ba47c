import Foundation
import TestSupport
import Testing

@Suite(
  "A quick command replaces nothing unasked, and leaves nothing behind",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct QuickSafetyTests {
  private let place: Workspace

  init() throws {
    place = try Workspace()
    try Reference.record(place.file("in.wav"), seconds: 2)
  }

  private var names: [String] { Workspace.names(in: place.folder.path) }

  @Test(
    "a full disk ends it, once, whatever files are left",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func fullDisk() throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let names = try (1...4).map { number in
      let name = "part-\(number).flac"
      try Reference.record(place.file(name), seconds: 60)
      return name
    }
    let run = try place.spool(
      ["convert"] + names + ["-f", "wav", "-o", disk.path + "/out/"],
      environment: ["TMPDIR": disk.path])
    #expect(run.exitCode == 1, "\(run.text)\(run.errorOutput)")
    let errors = run.errorOutput.split(separator: "\n").filter { $0.contains("error:") }
    #expect(errors.count == 1, "\(run.errorOutput)")
    #expect(run.errorOutput.contains("stopped: the disk is full; 3 files were not begun"))
  }

  @Test("a file that is there is replaced with --replace only, and a recording never")
  func replacing() throws {
    _ = try place.folder.write("precious", to: "out.flac")
    let words = ["convert", "in.wav", "-o", "out.flac"]
    let refused = try place.spool(words)
    #expect(refused.exitCode == 1)
    let complaint = try #require(Complaint(refused.errorOutput))
    #expect(complaint.what == "out.flac is there already" && complaint.next.contains("--replace"))
    #expect(try String(contentsOfFile: place.file("out.flac"), encoding: .utf8) == "precious")
    #expect(try place.spool(words + ["--dry-run"]).exitCode == 1)
    #expect(try place.spool(words + ["--replace"]).exitCode == 0)
    #expect(try SoundFacts(of: place.file("out.flac")).codec == "flac")

    let before = try Data(contentsOf: URL(filePath: place.file("in.wav")))
    try FileManager.default.linkItem(atPath: place.file("in.wav"), toPath: place.file("same.wav"))
    for out in ["in.wav", "same.wav", "./"] {
      let result = try place.spool(["normalize", "in.wav", "-o", out, "--replace"])
      #expect(result.exitCode == 2)
      #expect(result.errorOutput.contains("would take the place of the recording in.wav"))
    }
    // Another recording of the same command is one too.
    try Reference.record(place.file("b.flac"), seconds: 1)
    try FileManager.default.copyItem(atPath: place.file("in.wav"), toPath: place.file("b.wav"))
    let other = try place.spool([
      "convert", "b.wav", "b.flac", "-f", "flac", "-o", ".", "--replace",
    ])
    #expect(other.exitCode == 2, "\(other.errorOutput)")
    let twice = try place.spool(["convert", "b.wav", "b.flac", "-f", "mp3", "-o", "out/"])
    #expect(twice.exitCode == 2)
    #expect(twice.errorOutput.contains("b.wav and b.flac would both become b.mp3"))
    #expect(try Data(contentsOf: URL(filePath: place.file("in.wav"))) == before)
  }

  @Test("a recording that a run took in is never replaced, though the run is in another store")
  func knownRecording() throws {
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, { export: [flac] }]\n")
    let taken = place.file("taken.wav")
    try Reference.record(taken, seconds: 1)
    #expect(try place.run(pipeline, [taken]).exitCode == 0)
    let before = try Data(contentsOf: URL(filePath: taken))
    for dry in [[], ["--dry-run"]] {
      let refused = try place.spool(["convert", "in.wav", "-o", "taken.wav", "--replace"] + dry)
      #expect(refused.exitCode == 1)
      #expect(Complaint(refused.errorOutput)?.why.contains("a run took in") == true)
    }
    #expect(try Data(contentsOf: URL(filePath: taken)) == before)
    // What the run wrote is no recording.
    let export = try place.spool(["convert", "in.wav", "-o", "out/taken.flac", "--replace"])
    #expect(export.exitCode == 0, "\(export.errorOutput)")
  }

  @Test(
    "mistakes are told in terms of its own options, and nothing is written",
    arguments: [
      (["normalize", "in.wav", "-t", "-3", "-o", "a.wav"], "--loudness -3 is out of range"),
      (["normalize", "in.wav", "-t", "16", "-o", "a.wav"], "did you mean --loudness -16?"),
      (["normalize", "in.wav", "--target-level", "-16"], "did you mean '--loudness'?"),
      (["convert", "in.wav", "--audio-codec", "flac"], "did you mean '--format'?"),
      (["convert", "--input", "in.wav"], "'--input'; RECORDING stands without an option"),
      (["normalize", "", "-o", "a.wav"], "RECORDING is empty"),
      (["normalize", "in.wav", "-o", ""], "--out is empty"),
      (["normalize", "in.wav", "-t", "loud", "-o", "a.wav"], "--loudness loud is no number"),
      (["normalize", "in.wav", "--true-peak", "1 Hz", "-o", "a.wav"], "has the unit \"Hz\""),
      (["normalize", "in.wav", "--peak=-1", "-t", "-9", "-o", "a.wav"], "in place of a loudness"),
      (["normalize", "in.wav"], "the output has no name"),
      (["normalize", ".", "-o", "a.wav"], "it is a folder"),
      (["normalize", "in.wav", "-o", "a.wav", "--store", "x"], "--store is for work that is kept"),
      (["convert", "in.wav", "-f", "mp4", "-o", "out/"], "--format mp4 is none that Spool writes"),
      (["convert", "in.wav", "-f", "aac", "-o", "out/"], "help:  --format m4a\n"),
      (["convert", "in.wav", "-o", "a.aac"], "help:  --out a.m4a, or "),
      (["convert", "-", "-o", "a.wav"], "- is no file"),
      (["convert", "in.wav", "-b", "192k", "-o", "a.flac"], "--bit-rate 192k is for m4a"),
      (["convert", "in.wav", "-b", "999k", "-o", "a.mp3"], "--bit-rate 999k is out of range"),
      (["convert", "in.wav", "--bits", "16", "-o", "a.mp3"], "--bits is for wav, alac and flac"),
      (["convert", "in.wav", "--bits", "float", "-o", "a.flac"], "--bits float is for wav"),
      (
        ["convert", "in.wav", "--sample-rate", "44100.5", "-o", "a.wav"], "a whole number of hertz"
      ),
      (["trim", "in.wav", "-o", "a.wav"], "nothing is to be trimmed"),
      (
        ["trim", "in.wav", "--from", "9", "-o", "a.wav"], "--from 9 is not before the end of in.wav"
      ),
      (["trim", "in.wav", "--to", "1:00", "-o", "a.wav"], "--to 1:00 is beyond the end of in.wav"),
      (["trim", "in.wav", "--from", "-9", "-o", "a.wav"], "--from -9 is before the beginning"),
      (["trim", "in.wav", "--from", "1", "--to", "0.5", "-o", "a.wav"], "--to 0.5 is not after"),
      (["mix", "in.wav", "-o", "a.wav"], "mix needs at least 2 recordings, and 1 is given"),
      (["mix", "in.wav", "in.wav:-3dB", "--gain", "1", "--gain", "2", "-o", "a.wav"], "two gains"),
      (["mix", "in.wav:99dB", "in.wav", "-o", "a.wav"], "in.wav:99dB is out of range"),
    ])
  func mistakes(words: [String], what: String) throws {
    let result = try place.spool(words)
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains(what), "\(result.errorOutput)")
    #expect(!result.errorOutput.contains(".yaml") && !result.errorOutput.contains(":1:"))
    #expect(names == ["in.wav"])
  }

  @Test("--dry-run writes nothing, --quiet says nothing, and --json says it all in one line")
  func voices() throws {
    let dry = try place.spool(["normalize", "in.wav", "-f", "mp3,wav", "-n", "-o", "new/"])
    #expect(dry.exitCode == 0 && dry.text == "in.wav → new/in.mp3, new/in.wav\n")
    #expect(names == ["in.wav"])
    let quiet = try place.spool(["normalize", "in.wav", "-q", "-o", "a.wav"])
    #expect(quiet.exitCode == 0 && quiet.text.isEmpty && quiet.errorOutput.isEmpty)
    let json = try place.spool(["normalize", "in.wav", "-t", "-20", "--json", "-o", "b.wav"])
    let line = try #require(
      try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
    #expect(line["outcome"] as? String == "done" && line["outputs"] as? [String] == ["b.wav"])
    let after = try #require(line["after"] as? [String: Any])
    #expect(abs((after["integratedLoudness"] as? Double ?? 0) + 20) < 0.01)
    try place.folder.write("no sound", to: "broken.wav")
    let failed = try place.spool(["normalize", "broken.wav", "--json", "-o", "c.wav"])
    #expect(failed.exitCode == 1 && failed.text.contains("\"outcome\":\"failed\""))
  }

  @Test("a damaged recording fails, and what can be decoded of it is taken with --keep-damaged")
  func damaged() throws {
    try Reference.ffmpeg(["-i", place.file("in.wav"), place.file("whole.mp3")])
    var bytes = try Data(contentsOf: URL(filePath: place.file("whole.mp3")))
    let middle = bytes.count / 2
    bytes.replaceSubrange(middle..<middle + 900, with: Data(repeating: 0x55, count: 900))
    try bytes.write(to: URL(filePath: place.file("cut.mp3")))
    let refused = try place.spool(["convert", "cut.mp3", "-o", "cut.wav"])
    #expect(refused.exitCode == 1)
    #expect(Complaint(refused.errorOutput)?.next.hasSuffix("with --keep-damaged") == true)
    let kept = try place.spool(["convert", "cut.mp3", "-o", "cut.wav", "--keep-damaged"])
    #expect(kept.exitCode == 0)
    #expect(kept.errorOutput.contains("warning: damaged at "), "\(kept.errorOutput)")
    #expect(names == ["cut.mp3", "cut.wav", "in.wav", "whole.mp3"])
  }

  @Test("--keep makes a run like any other, which the next one reuses")
  func keeping() throws {
    let words = ["normalize", "in.wav", "-o", "out.mp3", "--keep"]
    #expect(try place.spool(words).exitCode == 0)
    #expect(names == ["in.wav", "out.mp3", "store"])
    #expect(try place.spool(words).exitCode == 0)
    #expect(try place.spool(["runs"]).text.split(separator: "\n").count == 2)
    let why = try place.spool(["why", "last"])
    #expect(why.text.contains("reused") && !why.text.contains("made"), "\(why.text)")
  }

  @Test("with --keep, other work replaces no file unasked either, and a dry run says so")
  func keptReplacement() throws {
    func words(_ loudness: String) -> [String] {
      ["normalize", "in.wav", "-t", loudness, "-o", "out.mp3", "--keep"]
    }
    try #require(try place.spool(words("-20")).exitCode == 0)
    let before = try Data(contentsOf: URL(filePath: place.file("out.mp3")))
    for more in [[], ["-n"]] {
      let refused = try place.spool(words("-14") + more)
      #expect(refused.exitCode == 1)
      #expect(Complaint(refused.errorOutput)?.what == "out.mp3 is there already")
    }
    #expect(try Data(contentsOf: URL(filePath: place.file("out.mp3"))) == before)
    #expect(try place.spool(words("-20")).exitCode == 0, "the same work again")
    #expect(try place.spool(words("-14") + ["--replace"]).exitCode == 0)
    #expect(try Data(contentsOf: URL(filePath: place.file("out.mp3"))) != before)
  }

  @Test("what a format does not have is not changed in silence")
  func compromises() throws {
    let opus = try place.spool(["convert", "in.wav", "--sample-rate", "44100", "-o", "a.opus"])
    #expect(opus.errorOutput.contains("warning: an Opus file has 48 kHz"), "\(opus.errorOutput)")
    let mp3 = try place.spool(["convert", "in.wav", "-b", "130k", "-o", "a.mp3"])
    #expect(mp3.errorOutput.contains("warning: MP3 has no --bit-rate 130k"), "\(mp3.errorOutput)")
    for words in [["-b", "128k", "-o", "b.mp3"], ["--sample-rate", "48000", "-o", "b.opus"]] {
      #expect(try place.spool(["convert", "in.wav"] + words).errorOutput == "")
    }
  }

  @Test("of several sound streams, the way to another one is one that the command has")
  func streams() throws {
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "sine=440:d=1", "-f", "lavfi", "-i", "sine=880:d=1", "-map", "0", "-map",
      "1", "-c:a", "pcm_s16le", place.file("film.mkv"),
    ])
    let result = try place.spool(["convert", "film.mkv", "-o", "a.wav"])
    #expect(result.errorOutput.contains("stream 0 is taken of 2 sound streams; a pipeline with "))
    #expect(result.errorOutput.contains("--show prints"), "\(result.errorOutput)")
  }

  @Test("a signal leaves no trace", arguments: [SIGINT, SIGTERM, SIGHUP])
  func stopped(signal: Int32) throws {
    try recordLong()
    let run = try place.start(["clean", "long.wav", "-o", "out.wav"])
    #expect(try waitsForStore(run))
    run.send(signal)
    #expect(try run.end().run.exitCode == 128 + signal)
    #expect(names == ["in.wav", "long.wav"])
  }

  @Test("what a killed process leaves is removed by the next, but not what a living one uses")
  func killed() throws {
    try recordLong()
    let first = try place.start(["clean", "long.wav", "-o", "out.wav"])
    #expect(try waitsForStore(first))
    let store = try #require(names.first { $0.hasPrefix(".spool-quick-") })
    #expect(try place.spool(["convert", "in.wav", "-o", "a.wav"]).exitCode == 0)
    #expect(names.contains(store))
    first.send(SIGKILL)
    _ = try first.end()
    #expect(names.contains(store))
    // A link of that name leads elsewhere, and is left alone.
    try FileManager.default.createSymbolicLink(
      atPath: place.file(".spool-quick-link"), withDestinationPath: place.file("."))
    #expect(try place.spool(["convert", "in.wav", "-o", "b.wav"]).exitCode == 0)
    #expect(names == [".spool-quick-link", "a.wav", "b.wav", "in.wav", "long.wav"])
  }

  private func recordLong() throws {
    try Reference.ffmpeg(
      ["-f", "lavfi", "-i", "sine=220:r=48000:d=900", place.file("long.wav")])
  }

  /// Waits until the temporary store is there, or the process has ended.
  private func waitsForStore(_ run: RunningSpool) throws -> Bool {
    while run.isRunning {
      if names.contains(where: { $0.hasPrefix(".spool-quick-") }) { return true }
      usleep(2000)
    }
    return false
  }

  @Test(
    "the temporary store goes where it fits, and is told of where it fits nowhere",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func smallDisk() throws {
    let disk = try SmallDisk(byteCount: 2_600_000)
    try Reference.record(place.file("long.wav"), seconds: 20)
    let words = ["normalize", "long.wav", "-o", disk.path + "/out.mp3"]
    let temporary = place.file("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    let refused = try place.spool(words, environment: ["TMPDIR": disk.path])
    #expect(refused.exitCode == 1)
    let complaint = try #require(Complaint(refused.errorOutput), "\(refused.errorOutput)")
    #expect(complaint.what.contains("temporary store") && complaint.next.contains("TMPDIR"))
    let done = try place.spool(words, environment: ["TMPDIR": temporary])
    #expect(done.exitCode == 0, "\(done.errorOutput)")
    #expect(Workspace.names(in: disk.path) == ["out.mp3"])
    #expect(Workspace.names(in: temporary) == [])
  }

  @Test(
    "the temporary store goes elsewhere where the sound fits beside the output, and the store does not",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func scarceDisk() throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    try Reference.record(place.file("long.wav"), seconds: 24)
    let temporary = place.file("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    let out = disk.path + "/out.flac"
    // All sizes between one that is too small for the sound and one that is enough for everything.
    for megabytes in 19...23 {
      try disk.resize(toByteCount: megabytes << 20)
      let done = try place.spool(
        ["normalize", "long.wav", "-o", out], environment: ["TMPDIR": temporary])
      #expect(done.exitCode == 0, "\(megabytes) MB: \(done.errorOutput)")
      try FileManager.default.removeItem(atPath: out)
    }
  }
}
