import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport

/// A store with something of everything in it: kept sound, findings, an export, a run, a backup.
struct StoreSample {
  let scratch: ScratchFolder
  let path: String
  let run: RunRecord
  let checkpoints: [Checkpoint]
  var database: String { path + "/spool.sqlite" }
  var export: String { scratch.file("out/note.wav") }

  /// - Parameter runStart: when the run began, in seconds since 1970.
  init(runStart: Double = Date().timeIntervalSince1970) throws {
    scratch = try ScratchFolder()
    path = scratch.file("store")
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: true)
    let store = try DiskStore(at: path)
    let sound = try store.makeArtifact(String(repeating: "sound", count: 2000), kind: .sound)
    let findings = try store.makeArtifact(#"{"peak":-1}"#, kind: .measurement)
    let file = try store.makeArtifact(String(repeating: "file", count: 1000))
    let decode = KeyComponents.sample("decode", "1")
    checkpoints = [
      Checkpoint(
        components: decode,
        outputs: [
          .sound: StepOutput(
            kind: .sound, identity: decode.derivedIdentity(of: .sound), artifact: sound)
        ], hint: "3 s"),
      Checkpoint(
        components: .sample("measure", "1"), outputs: [.measurement: StepOutput(findings)],
        memo: #"{"gain":1}"#),
      Checkpoint(components: .sample("export", "1"), outputs: [PortName("file"): StepOutput(file)]),
    ]
    for checkpoint in checkpoints { try store.commit(checkpoint) }
    _ = try store.publish(file.digest, at: scratch.file("out/note.wav"), isReplacing: false) {
      (temporary) throws(SpoolError) in
      try put("exported", at: temporary)
    }
    var run = RunRecord(
      id: RunID("20261121-142205-3f9a"), pipeline: "note", pipelinePath: "/p/note.yaml",
      inputs: ["note": "/in/note.m4a"], overrides: [:], startedAt: runStart)
    run.steps = checkpoints.map {
      StepRecord(
        id: StepID($0.components.kind), kind: $0.components.kind, outcome: .made, key: $0.key,
        outputs: $0.outputs)
    }
    run.state = .done
    run.finishedAt = runStart + 1
    self.run = run
    try store.runs.save(run)
  }

  /// Where the artifact of a checkpoint lies.
  func artifact(_ index: Int) throws -> String {
    guard let artifact = checkpoints[index].outputs.values.first?.artifact else {
      throw CocoaError(.fileNoSuchFile)
    }
    return StoreLayout(root: path).artifact(artifact.digest)
  }

  /// The change log's file.
  var log: String { StoreLayout(root: path).root + "/changes-1" }

  /// Every file under a folder of the store, sorted.
  func files(in folder: String) -> [String] {
    let base = path + "/" + folder
    let all = FileManager.default.enumerator(atPath: base)?.compactMap { $0 as? String } ?? []
    return all.map { base + "/" + $0 }.filter { file in
      (try? FileStamp(at: file))?.isRegularFile == true
    }.sorted()
  }

  func inspect(isQuick: Bool = false) throws -> InspectionReport {
    var options = Inspection.Options()
    options.isQuick = isQuick
    options.threadCount = 2
    return try Inspection(of: path, options).run()
  }

  /// What is damaged.
  func damage() throws -> [InspectionFinding] { try inspect().findings.filter(\.isDamage) }

  /// Whether a new store finds all that was recorded.
  func remembersEverything() throws -> Bool {
    let store = try DiskStore(at: path)
    for checkpoint in checkpoints {
      guard try store.checkpoint(for: checkpoint.key) == checkpoint else { return false }
    }
    return try store.runs.run(named: run.id.name) == run
  }

  /// Makes the store look as old as it says, for what goes by the age of files.
  func age(by seconds: Double) throws {
    for file in files(in: "artifacts") {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: file)
    }
    try setRecorded(at: Date().timeIntervalSince1970 - seconds)
  }

  /// Makes checkpoints look as if they had been recorded then, in seconds since 1970.
  /// - Parameter key: of one of them; nil for all.
  func setRecorded(at time: Double, key: String? = nil) throws {
    try DiskStore(at: path).withDatabase { (database) throws(SpoolError) in
      _ = try database.transaction(to: "test") { (database) throws(SpoolError) in
        try database.run(
          "UPDATE checkpoints SET recorded_at = ?1 WHERE ?2 IS NULL OR key = ?2",
          [.integer(Int64(time * 1e9)), SQLValue(key)], to: "test")
      }
    }
  }
}
