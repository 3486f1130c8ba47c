import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite("Exports that no latest result claims are pruned")
struct SupersededExportTests {
  private let scratch: ScratchFolder
  private let store: DiskStore

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: true)
    try scratch.write("sound", to: "note.wav")
  }

  private var recording: RecordingIdentity {
    RecordingIdentity(path: scratch.file("note.wav"), digest: SHA256.digest(of: "sound"))
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: scratch.file("out/" + name))
  }

  /// A finished run of the recording that exported one file, without saving it.
  private func run(
    _ number: Int, exporting name: String, pipeline: String = "note",
    of recording: RecordingIdentity? = nil, with overrides: [String: String] = [:],
    into folder: String = "out", besides isSound: Bool? = nil
  ) throws -> RunRecord {
    let other = isSound.map { _ in ["other": scratch.file("other")] } ?? [:]
    let recording = recording ?? self.recording
    var run = RunRecord(
      id: RunID("run-\(number)"), pipeline: pipeline, pipelinePath: "/p/note.yaml",
      inputs: ["note": recording.path].merging(other) { $1 }, overrides: overrides,
      startedAt: Double(number),
      request: RunRequest(
        pipelineText: "name: \(name)", folder: scratch.file(folder), isReplacing: false,
        keepsEverything: false))
    run.recordings = ["note": recording.digest]
    if let isSound {
      run.recordings?["other"] = SHA256.digest(of: "other")
      run.soundInputs = isSound ? ["note", "other"] : ["note"]
    }
    run.state = .done
    let path = scratch.file("out/" + name)
    let byteCount = try store.publish(
      SHA256.digest(of: name), at: path, of: ExportSource(recording, pipeline: pipeline),
      isReplacing: true
    ) { (temporary) throws(SpoolError) in try put(name, at: temporary) }
    run.published = [
      PublishedFile(
        path: path, byteCount: byteCount, step: StepID("export"), wasThere: false,
        digest: SHA256.digest(of: name))
    ]
    return run
  }

  private func prune(covered: Bool = false, isDryRun: Bool = false) throws -> PruneReport {
    try store.prune(includesCovered: covered, isDryRun: isDryRun)
  }

  private func names(_ files: [PruneReport.File]) -> [String] {
    files.map { String($0.path.split(separator: "/").last ?? "") }
  }

  @Test("what quick commands have made under names that were typed is never replaced by another")
  func quick() throws {
    for (number, name) in ["apple.mp3", "radio.mp3", "apple.mp3"].enumerated() {
      let made = try run(number, exporting: name, pipeline: "normalize")
      var quick = RunRecord(
        id: made.id, pipeline: made.pipeline, pipelinePath: "normalize", inputs: made.inputs,
        overrides: [:], startedAt: made.startedAt, request: made.request)
      (quick.recordings, quick.state, quick.published) = (made.recordings, .done, made.published)
      try store.runs.save(quick)
    }
    #expect(try prune().files == [])
    #expect(exists("apple.mp3") && exists("radio.mp3"))
  }

  @Test("an export that a later run replaced under another name goes; a dry run only names it")
  func replaced() throws {
    try store.runs.save(run(1, exporting: "old.wav"))
    #expect(try prune(isDryRun: true).files == [], "it is the latest")
    try store.runs.save(run(2, exporting: "new.wav"))
    let plan = try prune(isDryRun: true)
    #expect(names(plan.files) == ["old.wav"] && plan.kept == [] && plan.freedBytes == 7)
    #expect(plan.files.first?.reason == .replaced && plan.files.first?.run == "run-2")
    #expect(plan.files.first?.replacement == scratch.file("out/new.wav"))
    #expect(exists("old.wav"))
    #expect(try names(prune().files) == ["old.wav"])
    #expect(!exists("old.wav") && exists("new.wav"))
    #expect(try prune().files == [])
  }

  @Test(
    "another pipeline, folder, --set or recording is a work of its own",
    arguments: ["pipeline", "folder", "set", "recording", "copy"])
  func others(difference: String) throws {
    try store.runs.save(run(1, exporting: "old.wav"))
    try scratch.write("sound", to: "copy.wav")
    let other = RecordingIdentity(
      path: scratch.file(difference == "copy" ? "copy.wav" : "note.wav"),
      digest: SHA256.digest(of: difference == "recording" ? "other" : "sound"))
    var later = try run(
      2, exporting: "new.wav", pipeline: difference == "pipeline" ? "other" : "note", of: other,
      with: difference == "set" ? ["loudness": "-18 LUFS"] : [:])
    if difference == "folder" {
      later.request = RunRequest(
        pipelineText: "", folder: "/elsewhere", isReplacing: false, keepsEverything: false)
    }
    try store.runs.save(later)
    #expect(try prune().files == [])
    #expect(exists("old.wav"))
  }

  @Test("in a batch, the folders of its names are part of the name")
  func batch() throws {
    func batch(_ run: RunRecord, below folder: String) -> RunRecord {
      var run = run
      run.batch = RunRecord.Batch(
        batch: RunID("b"), folder: "/in", output: scratch.file("out"), command: nil)
      run.request = RunRequest(
        pipelineText: "", folder: scratch.file(folder), isReplacing: false, keepsEverything: false)
      return run
    }
    try store.runs.save(batch(run(1, exporting: "old.wav"), below: "out/First"))
    try store.runs.save(batch(run(2, exporting: "new.wav"), below: "out/Second"))
    #expect(try names(prune().files) == ["old.wav"])
  }

  @Test("renamed or retagged, it is the same recording")
  func renamed() throws {
    func decoded(_ run: RunRecord) -> RunRecord {
      var run = run
      run.steps = [
        StepRecord(
          id: StepID("decode"), kind: "decode", outcome: .made,
          outputs: [.sound: StepOutput(kind: .sound, identity: SHA256.digest(of: "samples"))])
      ]
      return run
    }
    try store.runs.save(decoded(run(1, exporting: "a.wav")))
    // Other bytes at the same path, and the same sound.
    let retagged = RecordingIdentity(path: recording.path, digest: SHA256.digest(of: "retagged"))
    try store.runs.save(decoded(run(2, exporting: "b.wav", of: retagged)))
    #expect(try names(prune().files) == ["a.wav"])
    // The same bytes at another path, where the earlier one is no more.
    try FileManager.default.removeItem(atPath: recording.path)
    let moved = RecordingIdentity(path: scratch.file("moved.wav"), digest: retagged.digest)
    try store.runs.save(decoded(run(3, exporting: "c.wav", of: moved)))
    #expect(try names(prune().files) == ["b.wav"])
  }

  @Test("what was changed stays, also if its length and time of writing are as before")
  func changed() throws {
    try store.runs.save(run(1, exporting: "old.wav"))
    try store.runs.save(run(2, exporting: "new.wav"))
    let path = scratch.file("out/old.wav")
    let before = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
    try "OLD.wav".write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes(
      [.modificationDate: before ?? Date()], ofItemAtPath: path)
    let report = try prune(covered: true)
    #expect(report.files == [] && report.kept.map(\.obstacle) == [.changed])
    #expect(exists("old.wav"))
    // Copied away and back, it has the bytes that Spool wrote.
    try FileManager.default.removeItem(atPath: path)
    try "old.wav".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(try names(prune().files) == ["old.wav"])
  }

  @Test("the last one stays, where what replaced it is gone or was changed")
  func alone() throws {
    try store.runs.save(run(1, exporting: "old.wav"))
    try store.runs.save(run(2, exporting: "new.wav"))
    try scratch.write("edited", to: "out/new.wav")
    #expect(try prune().kept.map(\.obstacle) == [.alone])
    try FileManager.default.removeItem(atPath: scratch.file("out/new.wav"))
    let report = try prune(covered: true)
    #expect(report.files == [] && report.kept.map(\.obstacle) == [.alone])
    #expect(exists("old.wav"))
    // Put back, it is there.
    try scratch.write("new.wav", to: "out/new.wav")
    #expect(try names(prune().files) == ["old.wav"])
  }

  @Test(
    "what a later run did not export at all stays, and so does what only its other files follow")
  func dropped() throws {
    try store.runs.save(run(1, exporting: "a.wav"))
    try store.runs.save(run(2, exporting: "a.mp3"))
    let report = try prune(covered: true)
    #expect(report.files == [] && report.kept.map(\.obstacle) == [.notExported])
    #expect(report.kept.first?.replacement == nil && report.kept.first?.run == "run-2")
    #expect(exists("a.wav"))
    // A step that was renamed is the same one.
    var third = try run(3, exporting: "b.mp3")
    third.published = third.published.map {
      PublishedFile(
        path: $0.path, byteCount: $0.byteCount, step: StepID("deliver"), wasThere: false,
        digest: $0.digest)
    }
    try store.runs.save(third)
    #expect(try names(prune().files) == ["a.mp3"])
    #expect(exists("a.wav"))
  }

  @Test(
    "what lay beside it all the time replaced nothing, whatever its ending and its step",
    arguments: ["port", "step", "number", "command"])
  func beside(change: String) throws {
    func export(_ number: Int, _ files: [(name: String, step: String, port: String)]) throws {
      var whole = try run(number, exporting: files[0].name)
      whole.published = try files.flatMap { name, step, port in
        try run(number, exporting: name).published.map { file in
          var file = PublishedFile(
            path: file.path, byteCount: file.byteCount, step: StepID(step), wasThere: false,
            digest: file.digest)
          file.port = PortName(port)
          return file
        }
      }
      try store.runs.save(whole)
    }
    let (kept, gone) =
      switch change {
      case "port": (("a.m4a", "export", "m4a"), ("a.alac.m4a", "export", "alac"))
      case "step": (("a.loud.wav", "loud", "wav"), ("a.raw.wav", "raw", "wav"))
      case "number": (("a.loud.wav", "export-2", "wav"), ("a.raw.wav", "export", "wav"))
      default: (("a.flac", "export", "flac"), ("a.back.flac", "command", "sound"))
      }
    try export(1, [kept, gone])
    // The only export left is called by the kind.
    try export(2, [change == "number" ? ("a.loud.wav", "export", "wav") : kept])
    let report = try prune()
    #expect(report.files == [] && names(report.kept) == [gone.0])
    #expect(report.kept.map(\.obstacle) == [.notExported])
    // Both under other names: each has its own successor.
    try export(3, [("b-" + kept.0, kept.1, kept.2), ("b-" + gone.0, gone.1, gone.2)])
    #expect(Set(try names(prune().files)) == [kept.0, gone.0])
  }

  @Test("where the digest is unknown, as of a tagged file, any change keeps it")
  func tagged() throws {
    var first = try run(1, exporting: "old.wav")
    first.published = first.published.map {
      PublishedFile(path: $0.path, byteCount: $0.byteCount, step: $0.step, wasThere: false)
    }
    try store.runs.save(first)
    try store.runs.save(run(2, exporting: "new.wav"))
    try FilePath.touch(scratch.file("out/old.wav"))
    #expect(try prune().kept.map(\.obstacle) == [.changed])
  }

  /// A finished run, and the receipt that it wrote of its export.
  private func run(
    _ number: Int, exporting name: String, proving receipt: String
  ) throws -> RunRecord {
    var run = try run(number, exporting: name)
    let text = "receipt of \(name)"
    let path = scratch.file("out/" + receipt)
    let byteCount = try store.publish(
      SHA256.digest(of: text), at: path, of: ExportSource(recording, pipeline: "note"),
      isReplacing: true
    ) { (temporary) throws(SpoolError) in try put(text, at: temporary) }
    var proof = PublishedFile(
      path: path, byteCount: byteCount, step: StepID("proof"), wasThere: false,
      digest: SHA256.digest(of: text))
    proof.leaf = SHA256.digest(of: name)
    try store.protect(run.published.map(\.path), by: path)
    run.published.append(proof)
    return run
  }

  @Test("what a receipt covers goes only on request, and the receipt never")
  func covered() throws {
    try store.runs.save(run(1, exporting: "old.wav", proving: "old.receipt.json"))
    try store.runs.save(run(2, exporting: "new.wav"))
    let report = try prune()
    #expect(report.files == [] && report.kept.map(\.obstacle) == [.receipt, .receipt])
    #expect(try names(prune(covered: true).files) == ["old.wav"])
    #expect(exists("old.receipt.json"))
  }

  @Test("what a receipt covered goes once a later run's receipt, which lacks it, took its place")
  func formerlyCovered() throws {
    try store.runs.save(run(1, exporting: "old.wav", proving: "note.receipt.json"))
    try store.runs.save(run(2, exporting: "new.wav", proving: "note.receipt.json"))
    try store.runs.save(run(3, exporting: "newest.wav", proving: "newest.receipt.json"))
    let report = try prune()
    #expect(names(report.files) == ["old.wav"])
    #expect(names(report.kept).sorted() == ["new.wav", "note.receipt.json"])
  }

  @Test("the seal of the folder around it goes first, and another program's keeps the file")
  func sealed() throws {
    try store.runs.save(run(1, exporting: "old.wav"))
    try store.runs.save(run(2, exporting: "new.wav"))
    let seal = scratch.file("out/seal")
    try scratch.write("of another program", to: "out/seal")
    func prune(isDryRun: Bool = false) throws -> PruneReport {
      try store.prune(includesCovered: false, isDryRun: isDryRun) { _ in seal }
    }
    #expect(try prune().kept.map(\.obstacle) == [.sealed])
    #expect(exists("old.wav") && exists("seal"))
    try FileManager.default.removeItem(atPath: seal)
    _ = try store.publish(SHA256.digest(of: "seal"), at: seal, isReplacing: false) {
      (temporary) throws(SpoolError) in try put("seal", at: temporary)
    }
    #expect(try prune(isDryRun: true).seals == [seal] && exists("seal"))
    #expect(try prune().seals == [seal])
    #expect(!exists("old.wav") && !exists("seal"))
  }

  @Test("a run that is not finished may claim it; given up, its own exports are unclaimed")
  func unfinished() throws {
    try store.runs.save(run(1, exporting: "old.wav"))
    try store.runs.save(run(2, exporting: "new.wav"))
    var third = try run(3, exporting: "early.wav")
    third.published = []
    third.state = .interrupted
    try store.runs.save(third)
    let report = try prune()
    #expect(report.files == [] && report.kept.map(\.obstacle) == [.unfinished, .unfinished])
    _ = try store.runs.drop("run-3")
    let plan = try prune(isDryRun: true)
    #expect(Set(names(plan.files)) == ["early.wav", "old.wav"])
    #expect(plan.files.first { $0.path.hasSuffix("early.wav") }?.reason == .unclaimed)
  }

  @Test("what another pipeline has found in its place is that one's latest too")
  func shared() throws {
    try store.runs.save(run(1, exporting: "note.wav", pipeline: "one"))
    // The file's record names the first one still.
    var second = try run(2, exporting: "note.wav", pipeline: "one")
    let shared = second.published
    second = try run(2, exporting: "other.wav", pipeline: "two")
    second.published = shared
    try store.runs.save(second)
    try store.runs.save(run(3, exporting: "new.wav", pipeline: "one"))
    #expect(try names(prune(isDryRun: true).files).contains("note.wav") == false)
  }

  @Test("in a folder that was moved, a run that was given up there claims nothing of it")
  func moved() throws {
    try store.runs.save(run(1, exporting: "note.wav"))
    try FileManager.default.moveItem(atPath: scratch.file("out"), toPath: scratch.file("moved"))
    let own = ExportSource(recording, pipeline: "note")
    #expect(try store.refusal(toReplace: scratch.file("moved/note.wav"), with: own) == nil)
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: true)
    var second = try run(2, exporting: "early.wav", into: "moved")
    second.published = []
    second.state = .failed
    try store.runs.save(second)
    _ = try store.runs.drop("run-2")
    try FileManager.default.removeItem(atPath: scratch.file("out"))
    let report = try prune()
    #expect(report.files == [] && report.kept == [])
    #expect(FileManager.default.fileExists(atPath: scratch.file("moved/note.wav")))
  }

  @Test(
    "a run that is not finished claims nothing in another output folder", arguments: [false, true])
  func unfinishedElsewhere(isElsewhere: Bool) throws {
    try store.runs.save(run(1, exporting: "old.wav"))
    try store.runs.save(run(2, exporting: "new.wav"))
    var third = try run(3, exporting: "late.wav", into: isElsewhere ? "elsewhere" : "out")
    third.published = []
    third.state = .failed
    try store.runs.save(third)
    let report = try prune(isDryRun: true)
    // What the failed run left behind is unclaimed by any.
    #expect(names(report.files) == (isElsewhere ? ["late.wav", "old.wav"] : []))
    #expect(report.kept.allSatisfy { $0.obstacle == .unfinished })
  }

  @Test(
    "a run with a text besides does the same work, and one with other sound besides does not",
    arguments: [false, true])
  func besides(isSound: Bool) throws {
    try scratch.write("other", to: "other")
    try store.runs.save(run(1, exporting: "old.wav"))
    try store.runs.save(run(2, exporting: "new.wav", besides: isSound))
    #expect(names(try prune(isDryRun: true).files) == (isSound ? [] : ["old.wav"]))
  }

  @Test("in a batch, a sidecar's settings belong to the recording, and the batch's own do not")
  func batches() throws {
    func made(
      _ number: Int, _ name: String, sidecar: String, batch: [String: String]
    ) throws -> RunRecord {
      let overrides = batch.merging(["gain": sidecar]) { $1 }
      var run = try self.run(number, exporting: name, with: overrides)
      run.batch = RunRecord.Batch(
        batch: RunID("b\(number)"), folder: scratch.path, output: scratch.file("out"),
        command: nil, overrides: batch)
      return run
    }
    try store.runs.save(made(1, "old.wav", sidecar: "1 dB", batch: [:]))
    try store.runs.save(made(2, "new.wav", sidecar: "2 dB", batch: [:]))
    try store.runs.save(made(3, "loud.wav", sidecar: "2 dB", batch: ["peak": "0 dB"]))
    #expect(try names(prune(isDryRun: true).files) == ["old.wav"])
  }
}
