import Foundation
import Store
import TestSupport
import Testing

@Suite(
  "Nothing in the user's folder is half written or lost",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct OutputFolderTests {
  private let place: Workspace
  private let note: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 2)
  }

  @Test("a missing output folder is made, but not the folders above it")
  func missingFolder() throws {
    let pipeline = try place.quickPipeline()
    let deep = try place.run(pipeline, [note], ["--out", place.file("a/b")])
    #expect(deep.exitCode == 1)
    let complaint = try #require(deep.complaint, "\(deep.errorOutput)")
    #expect(complaint.what.contains(place.file("a/b")))
    #expect(complaint.why == "No such file or directory")
    #expect(try place.run(pipeline, [note], ["--out", place.file("a")]).exitCode == 0)
    #expect(Workspace.names(in: place.file("a")).count == 4)
  }

  @Test("a copy of a pipeline keeps its figures beside the original's, as the refusal advises")
  func copiedPipeline() throws {
    func pipeline(_ name: String, _ parameters: String, gain: String = "") throws -> String {
      try place.pipeline(
        """
        pipeline: \(name)
        inputs: { note: sound }
        stages: [decode\(gain), { measure: { write: true\(parameters) } }]
        """, named: name + ".yaml")
    }
    try #require(try place.run(try pipeline("first", ""), [note]).exitCode == 0)
    // The same figures need no place of their own.
    #expect(try place.run(try pipeline("second", ""), [note]).exitCode == 0)
    let quieter = ", { gain: -3 dB }"
    let run = try place.run(try pipeline("second", "", gain: quieter), [note])
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    let advised = #"name: "{stem}.second.{step}""#
    #expect(complaint.next.contains("such as \(advised),"), "\(complaint)")
    let named = try pipeline("second", ", \(advised)", gain: quieter)
    #expect(try place.run(named, [note]).exitCode == 0)
    #expect(place.exports == ["note.measure.json", "note.second.measure.json"])
  }

  @Test(
    "the folder that a disk was mounted on is not taken for the output folder on it",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func unmounted() throws {
    let disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try Reference.output("mount", ["-t", "tmpfs", "tmpfs", disk])
    let long = place.file("long.wav")
    try Reference.record(long, seconds: 60)
    let out = ["--out", disk + "/out"]
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - decode\n"
        + "  - normalize: { peak: -3 dB }\n  - export: [flac]\n")
    let running: RunningSpool
    do {
      defer { _ = try? Reference.output("umount", ["-l", disk]) }
      running = try place.start(pipeline, [long], out)
      try #require(try running.waits(for: "\"progress\""))
      running.send(SIGKILL)
      _ = try running.end()
    }
    // A new folder on that disk is known by the other one.
    let other = ["run", pipeline, long, "--out", disk + "/new"]
    for (words, name) in [
      (["resume"], "out"), (["run", pipeline, long] + out, "out"), (other, "new"),
    ] {
      let refused = try place.spool(words)
      let complaint = try #require(Complaint(refused.errorOutput), "\(refused.errorOutput)")
      #expect(refused.exitCode == 1)
      #expect(complaint.what == "the output folder \(disk)/\(name) cannot be used")
      #expect(complaint.why.contains("nothing is mounted on \(disk)"), "\(complaint)")
      #expect(complaint.next.contains("--ignore-mounts"), "\(complaint)")
      #expect(Workspace.names(in: disk) == [])
    }
    #expect(try place.spool(["resume", "--ignore-mounts"]).exitCode == 0)
    #expect(Workspace.names(in: disk + "/out") == ["long.flac"])
    // Taken once as it lies, a folder stays so, although others lay on the disk.
    try store().inboxes.remember(mountPoint: disk, ofFolder: disk + "/third")
    #expect(try place.spool(other).exitCode == 1)
    #expect(try place.spool(other + ["--ignore-mounts"]).exitCode == 0)
    #expect(try place.spool(other).exitCode == 0)
  }

  private func store() throws -> DiskStore { try DiskStore(at: place.store) }

  @Test("a file in the place of the output folder is refused before the work")
  func fileInPlace() throws {
    try place.folder.write("mine", to: "out")
    let run = try place.run(try place.quickPipeline(), [note])
    #expect(run.exitCode == 1)
    #expect(run.complaint?.what.contains("is not a folder") == true, "\(run.errorOutput)")
    #expect(run.made == [])
  }

  @Test(
    "a read-only disk is refused before the work",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func readOnly() throws {
    let disk = try SmallDisk(byteCount: 1 << 20, isReadOnly: true)
    let run = try place.run(try place.quickPipeline(), [note], ["--out", disk.path])
    #expect(run.exitCode == 1)
    #expect(run.complaint?.why == "Read-only file system", "\(run.errorOutput)")
    #expect(run.made == [])
  }

  @Test(
    "a run that cannot fit is refused with figures, before it has written anything",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"), arguments: [true, false])
  func noRoom(isStore: Bool) throws {
    let disk = try SmallDisk(byteCount: 800_000)
    let run = try place.run(
      try place.quickPipeline(), [note],
      isStore ? ["--store", disk.path + "/store"] : ["--out", disk.path])
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("not enough room"), "\(complaint)")
    #expect(complaint.why.contains("kB") || complaint.why.contains("MB"), "\(complaint)")
    #expect(run.made == [])
    #expect(Workspace.names(in: isStore ? place.out : disk.path) == [])
    // The same command with another place works.
    let elsewhere = try place.run(try place.quickPipeline(), [note])
    #expect(elsewhere.exitCode == 0, "\(elsewhere.errorOutput)")
  }

  @Test(
    "exports that lie whole in the store are refused as well where they do not fit",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func noRoomForFinishedWork() throws {
    let pipeline = try place.quickPipeline()
    try #require(try place.run(pipeline, [note]).exitCode == 0)
    let disk = try SmallDisk(byteCount: 300_000)
    let run = try place.run(pipeline, [note], ["--out", disk.path])
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("not enough room in \(disk.path)"), "\(complaint)")
    #expect(Workspace.names(in: disk.path) == [])
    let plan = try place.spool(["pipeline", "plan", pipeline, note, "--out", disk.path]).text
    #expect(plan.contains("does not fit"), "\(plan)")
  }

  @Test(
    "the rest that a full output folder lacks is what is left to write, and not all of it",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func restOfExports() throws {
    try Reference.record(note, seconds: 60, rate: 22050, channels: 1)
    let pipeline = try place.quickPipeline(formats: "wav, alac")
    try #require(try place.run(pipeline, [note]).exitCode == 0)
    let sizes = try place.allExports().mapValues(\.count)
    let (wav, alac) = (try #require(sizes["note.wav"]), try #require(sizes["note.alac.m4a"]))
    // The WAV is there already; the rest does not fit.
    let disk = try SmallDisk(byteCount: 64 << 20)
    try #require(
      try place.run(
        try place.pipeline(
          String(contentsOfFile: pipeline, encoding: .utf8)
            .replacing("[wav, alac]", with: "[wav]"), named: "one.yaml"), [note],
        ["--out", disk.path]
      ).exitCode == 0)
    try disk.squeeze(toRoomFor: alac / 2)
    let run = try place.run(pipeline, [note], ["--out", disk.path])
    #expect(run.exitCode == 1)
    let why = try #require(run.complaint?.why, "\(run.errorOutput)")
    let figure = try #require(why.firstMatch(of: /need about ([\d.]+) MB/)?.1)
    let needed = try #require(Double(figure)) * 1e6
    #expect(needed < Double(alac) * 1.1 && needed < Double(wav), "\(why)")
    try disk.resize(toByteCount: 64 << 20)
    #expect(try place.run(pipeline, [note], ["--out", disk.path]).exitCode == 0)
    #expect(Workspace.names(in: disk.path) == ["note.alac.m4a", "note.wav"])
  }

  @Test(
    "a disk that fills up on the way ends the run, and with room again it goes on",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func diskFillsUp() throws {
    let disk = try SmallDisk(byteCount: 64 << 20)
    let (store, out, filler) = (disk.path + "/store", disk.path + "/out", disk.path + "/filler")
    try Reference.record(note, seconds: 120, rate: 22050, channels: 1)
    let pipeline = try place.quickPipeline(formats: "wav, alac")
    let places = ["--store", store, "--out", out]
    let running = try place.start(pipeline, [note], places)
    try #require(try running.waits(for: "\"pass\""))
    // It ends when the disk is full.
    _ = try? Reference.output("dd", ["if=/dev/zero", "of=" + filler, "bs=1M"])
    let full = try running.end().run
    #expect(full.exitCode == 1)
    let complaint = try #require(full.complaint, "\(full.errorOutput)")
    #expect(complaint.what.contains(fullDiskWords(of: store)), "\(complaint)")
    #expect(
      complaint.why.firstMatch(of: /needs about [\d.]+ MB, [\d.]+ .?B are free/) != nil,
      "\(complaint)")
    #expect(complaint.next.contains("spool resume"), "\(complaint)")
    #expect(Workspace.names(in: out) == [])
    #expect(Workspace.names(in: store + "/drafts") == [])

    try FileManager.default.removeItem(atPath: filler)
    let again = SpoolRun(try place.spool(["resume", "--json", "--store", store]))
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(again.record?.resumes == full.record?.id)
    #expect(Workspace.names(in: out) == ["note.alac.m4a", "note.wav"])
    #expect(try SoundFacts(of: out + "/note.wav").frames == 120 * 22050)
  }

  @Test(
    "an output folder that fills up is named, and nothing is made again once there is room",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func folderFillsUp() throws {
    let disk = try SmallDisk(byteCount: 16 << 20)
    let filler = disk.path + "/filler"
    try Reference.record(note, seconds: 60, rate: 22050, channels: 1)
    let running = try place.start(
      try place.quickPipeline(formats: "wav"), [note], ["--out", disk.path])
    try #require(try running.waits(for: "\"pass\""))
    _ = try? Reference.output("dd", ["if=/dev/zero", "of=" + filler, "bs=1M"])
    let full = try running.end().run
    #expect(full.exitCode == 1)
    let complaint = try #require(full.complaint, "\(full.errorOutput)")
    #expect(complaint.what.contains(fullDiskWords(of: disk.path)), "\(complaint)")
    #expect(
      complaint.why.firstMatch(of: /about [\d.]+ MB more are needed/) != nil, "\(complaint)")
    #expect(Workspace.names(in: disk.path) == ["filler"])
    try FileManager.default.removeItem(atPath: filler)
    let again = try place.resume()
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(again.made == [])
    #expect(Workspace.names(in: disk.path) == ["note.wav"])
  }

  @Test("a foreign file in the way stays, unless --replace says otherwise")
  func foreignFile() throws {
    try FileManager.default.createDirectory(
      atPath: place.out, withIntermediateDirectories: false)
    try place.folder.write("mine", to: "out/note.wav")
    let pipeline = try place.quickPipeline(formats: "wav")
    let refused = try place.run(pipeline, [note])
    #expect(refused.exitCode == 1)
    let complaint = try #require(refused.complaint, "\(refused.errorOutput)")
    #expect(complaint.what.contains("export") && complaint.what.contains("out/note.wav"))
    #expect(complaint.next.contains("--replace"))
    #expect(place.exports == ["note.wav"])
    // Only its bytes could tell whether an earlier store wrote it.
    #expect(try place.export("note.wav") == Data("mine".utf8))

    let replacing = try place.run(pipeline, [note], ["--replace"])
    #expect(replacing.exitCode == 0, "\(replacing.errorOutput)")
    #expect(try SoundFacts(of: place.out + "/note.wav").frames == 88200)
  }

  @Test("an export that the user changed since stays, too")
  func changedExport() throws {
    let pipeline = try place.quickPipeline(formats: "wav")
    try #require(try place.run(pipeline, [note]).exitCode == 0)
    try place.folder.write("edited", to: "out/note.wav")
    let refused = try place.run(pipeline, [note])
    #expect(refused.exitCode == 1)
    #expect(refused.complaint?.next.contains("--replace") == true, "\(refused.errorOutput)")
    #expect(try place.export("note.wav") == Data("edited".utf8))
  }

  @Test("two recordings of one name do not take each other's place, unless --replace says so")
  func equalStems() throws {
    let pipeline = try place.quickPipeline(formats: "wav")
    let folder = place.file("other")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let other = folder + "/note.wav"
    try Reference.record(other, seconds: 6)
    try #require(try place.run(pipeline, [note]).exitCode == 0)
    let first = try place.export("note.wav")

    let refused = try place.run(pipeline, [other])
    #expect(refused.exitCode == 1)
    let complaint = try #require(refused.complaint, "\(refused.errorOutput)")
    #expect(complaint.why.contains(note) && complaint.why.contains(other), "\(complaint)")
    #expect(complaint.next.contains("--replace") && complaint.next.contains("--out"))
    #expect(refused.made == [], "work was done in vain")
    #expect(try place.export("note.wav") == first)

    let replacing = try place.run(pipeline, [other], ["--replace"])
    #expect(replacing.exitCode == 0, "\(replacing.errorOutput)")
    #expect(try place.export("note.wav") != first)
    // From now on the file is the other's: the first is refused, although its work is done.
    let back = try place.run(pipeline, [note])
    #expect(back.exitCode == 1)
    #expect(back.complaint?.why.contains(other) == true, "\(back.errorOutput)")
  }

  @Test("a recording that was moved elsewhere still replaces its own exports")
  func sameRecording() throws {
    let pipeline = try place.quickPipeline(formats: "wav")
    try #require(try place.run(pipeline, [note]).exitCode == 0)
    let folder = place.file("other")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.moveItem(atPath: note, toPath: folder + "/note.wav")
    let louder = try place.pipeline(
      """
      pipeline: quick
      inputs: { note: sound }
      stages: [decode, { normalize: { peak: -6 dB } }, { export: [wav] }]
      """, named: "louder.yaml")
    let moved = try place.run(louder, [folder + "/note.wav"])
    #expect(moved.exitCode == 0, "\(moved.errorOutput)")
    #expect(moved.made.contains("export"))
  }

  @Test("the recording itself is never written over, not even with --replace")
  func recordingInOutputFolder() throws {
    let recording = try Data(contentsOf: URL(fileURLWithPath: note))
    let run = try place.run(
      try place.quickPipeline(formats: "wav"), [note], ["--replace", "--out", place.folder.path])
    #expect(run.exitCode == 1)
    #expect(run.complaint?.what.contains("note.wav") == true, "\(run.errorOutput)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: note)) == recording)
  }

  @Test("two exports that would have one name are refused before the work")
  func equalNames() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: twins
      inputs: { note: sound }
      stages:
        - decode
        - export: [wav]
        - gain: { from: decode, gain: -6 dB }
        - export: [wav]
      """)
    let run = try place.run(pipeline, [note])
    #expect(run.exitCode == 2)
    #expect(run.errorOutput.contains("files of the same names as export"), "\(run.errorOutput)")
    #expect(run.made == [])
    #expect(place.exports == [])
  }

  @Test("no recording's name leads out of the output folder")
  func hostileName() throws {
    let hostile = place.file("..;rm -rf $HOME \"'\u{1B}[2J.wav")
    try FileManager.default.moveItem(atPath: note, toPath: hostile)
    let run = try place.run(try place.quickPipeline(formats: "wav"), [hostile])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports.count == 1)
    let name = place.exports.first ?? ""
    #expect(!name.hasPrefix(".") && !name.contains("\u{1B}"), "\(name)")
  }
}
