import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// A store with something of every kind of file, of which one bit flips at a time.
@Suite("A flipped bit anywhere in a store changes no result and no acknowledgement")
struct FlippedBitTests {
  private let sample: StoreSample
  /// As the last process left it, with its log.
  private let kept: String
  private let work = SHA256.digest(of: "work")

  init() throws {
    sample = try StoreSample()
    kept = sample.scratch.file("kept")
    let store = try DiskStore(at: sample.path)
    for name in ["one", "two"] {
      let original = try store.makeArtifact("recording \(name)", kind: .sound)
      var arrival = RecordingArrival(
        pipeline: "note", inbox: "/inbox", path: name + ".m4a",
        stamp: RecordingFileStamp(inode: 1, byteCount: 5, modified: 7, changed: 8),
        fileName: name + ".m4a", recording: original)
      arrival.deviceID = "device-\(name)"
      _ = try store.recordings.admit(arrival, conflicts: .quarantine)
    }
    var running = RunRecord(
      id: RunID("20261121-150000-aaaa"), pipeline: "note", pipelinePath: "/p/note.yaml",
      inputs: ["note": "/in/other.m4a"], overrides: ["loudness": "-16 LUFS"],
      startedAt: sample.run.startedAt + 5)
    running.state = .running
    try store.runs.save(running)
    _ = try store.backUp()
    let claim = try store.granted(work)
    try claim.record(#"{"frames":4711}"#)
    try store.commit(Checkpoint(components: .sample("late", "1"), outputs: [:]))
    // While it is open: what a killed process leaves.
    try FileManager.default.copyItem(atPath: sample.path, toPath: kept)
    try FileManager.default.removeItem(atPath: kept + "/spool.sqlite-shm")
    claim.release()
  }

  /// All that a store would reuse, resume or acknowledge.
  private func results(_ path: String) throws -> [String] {
    let store = try DiskStore(at: path)
    var lines: [String] = []
    for checkpoint in sample.checkpoints {
      let found = try store.checkpoint(for: checkpoint.key)
      // Work whose checkpoint is lost is done again.
      lines.append(found == nil || found == checkpoint ? "as made" : "\(checkpoint.key)")
      for output in found?.outputs.values.map(\.artifact) ?? [] {
        guard let output, let path = try? store.path(of: output) else { continue }
        let digest = try SHA256.digest(of: Array(Data(contentsOf: URL(fileURLWithPath: path))))
        lines.append(digest == output.digest ? "as written" : "other bytes")
      }
    }
    lines = Array(Set(lines)).sorted()
    for run in try store.runs.newest(limit: 9) {
      var run = run
      // After a rebuild, what was under way is known to have been cut off.
      if run.id != sample.run.id { (run.state, run.finishedAt) = (.running, nil) }
      lines.append(try StoredJSON.encode(run, to: "test"))
    }
    let recordings = try store.recordings.matching(RecordingQuery())
    for recording in recordings.sorted(by: { $0.key.name < $1.key.name }) {
      lines.append("\(recording)")
    }
    let entry = try store.withDatabase { (database) throws(SpoolError) in
      try WorkTable.entry(for: work, in: &database)
    }
    // What is not known to be done is done again.
    lines.append(entry?.recording?.text ?? #"{"frames":4711}"#)
    return lines
  }

  /// Puts the kept store in place. Files that stay as they are share their bytes.
  private func place(_ path: String) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: kept, toPath: path)
  }

  private enum Outcome: Hashable { case harmless, detected, corrected }

  /// What becomes of one flipped bit.
  private func outcome(
    _ bit: Int, ofByte byte: Int, in file: String, expected: [String]
  ) throws -> Outcome? {
    let path = sample.scratch.file("trial")
    try place(path)
    try flipBit(bit, ofByte: byte, in: path + "/" + file)
    var options = Inspection.Options()
    options.threadCount = 1
    var isDamage = true
    do throws(SpoolError) {
      isDamage = try !Inspection(of: path, options).run().isSound
    } catch {}
    let left: [String]?
    do { left = try results(path) } catch is SpoolError { left = nil }
    if left == nil { return .detected }
    if left != expected { return isDamage ? .detected : nil }
    return isDamage ? .corrected : .harmless
  }

  /// The bytes that are tried of a file: all that tell a format, and others.
  private func bytes(of file: String, count: Int, _ random: inout SeededRandom) throws -> [Int] {
    let size = Int(try FileStamp(at: kept + "/" + file).byteCount)
    if size == 0 { return [] }
    let isLong = ProcessInfo.processInfo.environment["SPOOL_LONG_TESTS"] != nil
    let first = file == "spool.sqlite" ? 100 : min(size, 32)
    return Array(0..<min(first, size))
      + (0..<(isLong ? count * 20 : count)).map { _ in Int.random(in: 0..<size, using: &random) }
  }

  @Test("it is harmless, found, or put right")
  func anyBit() throws {
    let path = sample.scratch.file("trial")
    try place(path)
    let expected = try results(path)
    #expect(expected.count > 6)
    var random = SeededRandom(seed: 31)
    var outcomes: [String: [Outcome: Int]] = [:]
    let files = [
      ("spool.sqlite", 150), ("spool.sqlite-wal", 100), ("changes-1", 60),
      ("backups/spool-1.sqlite", 40),
    ]
    let artifacts =
      FileManager.default.enumerator(atPath: kept + "/artifacts")?
      .compactMap { $0 as? String }.filter { $0.contains("/") }.sorted() ?? []
    for (file, count) in files + artifacts.prefix(2).map({ ("artifacts/" + $0, 10) }) {
      for byte in try bytes(of: file, count: count, &random) {
        let bit = Int.random(in: 0..<8, using: &random)
        let outcome = try outcome(bit, ofByte: byte, in: file, expected: expected)
        #expect(outcome != nil, "bit \(bit) of byte \(byte) of \(file)")
        if let outcome { outcomes[file, default: [:]][outcome, default: 0] += 1 }
      }
    }
    for (file, count) in outcomes where file != "spool.sqlite-wal" {
      #expect(count.keys.contains { $0 != .harmless }, "nothing was found in \(file)")
    }
  }

  @Test("a repair puts each file right, and the check after it finds nothing")
  func repaired() throws {
    let path = sample.scratch.file("trial")
    for file in ["spool.sqlite", "changes-1", "backups/spool-1.sqlite"] {
      try place(path)
      let expected = try results(path)
      let size = Int(try FileStamp(at: path + "/" + file).byteCount)
      try flipBit(3, ofByte: size / 3 | 1, in: path + "/" + file)
      #expect(try !Inspection(of: path).run().isSound, "\(file)")
      _ = try Repair(of: path).run()
      #expect(try Inspection(of: path).run().findings.filter(\.isDamage) == [], "\(file)")
      #expect(try results(path) == expected, "\(file)")
    }
  }

  @Test("in what is known of damage it hides none from a check, and makes none up")
  func knownDamage() throws {
    let store = try DiskStore(at: sample.path)
    let artifact = try store.makeArtifact("what will be damaged", kind: .sound)
    let path = try store.path(of: artifact)
    try flipBit(1, ofByte: 3, in: path)
    store.remember(try Inspection(of: sample.path).run())
    let layout = StoreLayout(root: sample.path)
    #expect(KnownDamage(of: layout).artifacts == [artifact.digest])
    let bytes = try Data(contentsOf: URL(filePath: layout.knownDamage))
    for byte in bytes.indices {
      try bytes.write(to: URL(filePath: layout.knownDamage))
      try flipBit(byte % 8, ofByte: byte, in: layout.knownDamage)
      #expect([[artifact.digest], []].contains(KnownDamage(of: layout).artifacts), "byte \(byte)")
    }
    #expect(
      try Inspection(of: sample.path).run().findings.contains {
        $0.kind == .damagedArtifact && $0.subject == artifact.digest.hex
      })
    store.remember(try Inspection(of: sample.path).run())
    #expect(KnownDamage(of: layout).artifacts == [artifact.digest])
  }
}
