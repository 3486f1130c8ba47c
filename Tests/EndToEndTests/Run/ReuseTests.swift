import Foundation
import TestSupport
import Testing

@Suite(
  "Spool never does the same work twice",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ReuseTests {
  private static let steps = ["decode", "eq", "gate", "compress", "master", "levels", "export"]

  private static func text(
    threshold: String = "-24 dB", name: String = "{stem}", tags: Bool = true
  ) -> String {
    """
    pipeline: reuse
    inputs: { note: sound }
    stages:
      - decode
      - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
      - gate: { threshold: -48 dB }
      - compress: { threshold: \(threshold), ratio: 3 }
      - normalize: { loudness: -18 LUFS }
        id: master
      - measure: { from: master }
        id: levels
      - export: { from: master, formats: [wav, m4a, alac, flac], name: "\(name)", tags: \(tags) }
    """
  }

  @Test("a second run reuses everything, and leaves the exports as they are")
  func secondRun() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 2)
    let pipeline = try place.pipeline(Self.text())
    let first = try place.run(pipeline, [place.file("note.wav")])
    try #require(first.exitCode == 0, "\(first.errorOutput)")
    #expect(first.made.sorted() == Self.steps.sorted())
    #expect(first.reused == [])
    #expect(first.files.allSatisfy { !$0.wasThere })

    let before = try Workspace.listing(of: place.out)
    let second = try place.run(pipeline, [place.file("note.wav")])
    #expect(second.exitCode == 0, "\(second.errorOutput)")
    #expect(second.made == [])
    #expect(second.reused.sorted() == Self.steps.sorted())
    #expect(second.files.count == 4)
    #expect(second.files.allSatisfy { $0.wasThere })
    #expect(try Workspace.listing(of: place.out) == before)
  }

  @Test("an export that was deleted comes back from the store")
  func deletedExport() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 1)
    let pipeline = try place.pipeline(Self.text())
    try #require(try place.run(pipeline, [place.file("note.wav")]).exitCode == 0)
    let wav = try place.export("note.wav")
    try FileManager.default.removeItem(atPath: place.out + "/note.wav")
    let again = try place.run(pipeline, [place.file("note.wav")])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(again.made == [])
    #expect(try place.export("note.wav") == wav)
  }

  @Test("another threshold re-runs the compressor and what comes after it")
  func changedParameter() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 2)
    let note = place.file("note.wav")
    try #require(try place.run(try place.pipeline(Self.text()), [note]).exitCode == 0)
    let run = try place.run(try place.pipeline(Self.text(threshold: "-30 dB")), [note])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.reused.sorted() == ["decode", "eq", "gate"])
    #expect(run.made.sorted() == ["compress", "export", "levels", "master"])
    // And what it gives is what a store that never saw the first run gives.
    let other = try Workspace()
    try #require(
      try other.run(try other.pipeline(Self.text(threshold: "-30 dB")), [note]).exitCode == 0)
    #expect(try place.allExports() == other.allExports())
  }

  @Test("a renamed or retagged recording is decoded at most, and its new title is on the exports")
  func retagged() throws {
    let place = try Workspace()
    let coding = ["-c:a", "aac", "-b:a", "96k"]
    try Reference.record(place.file("old.m4a"), seconds: 2, coding: coding)
    let pipeline = try place.pipeline(Self.text())
    try #require(try place.run(pipeline, [place.file("old.m4a")]).exitCode == 0)
    try Reference.ffmpeg(
      ["-i", place.file("old.m4a"), "-c", "copy", "-metadata", "title=New title"]
        + [place.file("new.m4a")])
    let run = try place.run(pipeline, [place.file("new.m4a")])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.made == ["decode"])
    for name in ["new.wav", "new.m4a", "new.alac.m4a", "new.flac"] {
      #expect(try SoundFacts(of: place.out + "/" + name).tags["title"] == "New title", "\(name)")
      #expect(
        try Reference.samples(of: place.out + "/" + name, as: "s24le")
          == Reference.samples(of: place.out + "/old" + name.dropFirst(3), as: "s24le"), "\(name)")
    }
  }

  @Test(
    "a recording in another container is decoded at most",
    arguments: [
      ("m4a", ["-c:a", "aac"], ["mov"]),
      ("wav", ["-c:a", "pcm_s16le"], ["w64", "aiff", "caf", "flac"]),
    ])
  func remuxed(original: String, coding: [String], containers: [String]) throws {
    let place = try Workspace()
    let recording = place.file("note." + original)
    try Reference.record(recording, seconds: 2, coding: coding)
    let pipeline = try place.pipeline(Self.text())
    let first = try place.run(pipeline, [recording])
    try #require(first.exitCode == 0, "\(first.errorOutput)")
    for container in containers {
      let other = place.file("other." + container)
      let codec = ["mov": "copy", "aiff": "pcm_s16be", "flac": "flac"][container] ?? "pcm_s16le"
      try Reference.ffmpeg(["-i", recording, "-c:a", codec, other])
      // The files are others: they tell how the recording was coded.
      let run = try place.run(pipeline, [other], ["--out", place.file(container)])
      #expect(run.exitCode == 0, "\(container): \(run.errorOutput)")
      #expect(run.made == ["decode"], "\(container)")
      #expect(
        run.step("decode")?.outputs["sound"]?.identity
          == first.step("decode")?.outputs["sound"]?.identity, "\(container)")
    }
  }

  @Test("another name, or no tags, re-runs nothing")
  func namesAndTags() throws {
    let place = try Workspace()
    let coding = ["-c:a", "flac", "-metadata", "title=Old"]
    try Reference.record(place.file("note.flac"), seconds: 1, coding: coding)
    let note = place.file("note.flac")
    try #require(try place.run(try place.pipeline(Self.text()), [note]).exitCode == 0)
    let named = try place.run(try place.pipeline(Self.text(name: "{stem} final")), [note])
    #expect(named.exitCode == 0, "\(named.errorOutput)")
    #expect(named.made == [])
    let plain = try place.run(
      try place.pipeline(Self.text(name: "{stem} plain", tags: false)), [note])
    #expect(plain.exitCode == 0, "\(plain.errorOutput)")
    #expect(plain.made == [])
    #expect(try SoundFacts(of: place.out + "/note final.flac").tags["title"] == "Old")
    #expect(try SoundFacts(of: place.out + "/note plain.flac").tags["title"] == nil)
  }

  @Test("a plan names a step that is streamed again, and does not call it reused as well")
  func plan() throws {
    let place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 1)
    let pipeline = try place.quickPipeline(formats: "wav")
    try #require(try place.run(pipeline, [place.file("note.wav")]).exitCode == 0)
    let other = try place.quickPipeline(formats: "wav, flac")
    let plan = try place.spool([
      "pipeline", "plan", other, place.file("note.wav"), "--out", place.out,
    ])
    let lines = plan.text.split(separator: "\n").map { line in
      line.split { " ,".contains($0) }.map(String.init)
    }
    let again = lines.filter { $0.first == "again" }.flatMap { $0.dropFirst() }
    let reused = lines.filter { $0.first == "reused" }.flatMap { $0.dropFirst() }
    #expect(!again.isEmpty && !reused.isEmpty, "\(plan.text)")
    #expect(Set(again).isDisjoint(with: reused), "\(plan.text)")
  }
}
