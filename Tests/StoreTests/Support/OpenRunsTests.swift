import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// `spool status` asks for these runs, also in a store of many years.
@Suite struct OpenRunsTests {
  @Test(
    "what needs action is found by an index, not by reading all runs",
    arguments: [RunRepository.openFirst, RunRepository.laterRuns])
  func plan(query: String) throws {
    let sample = try StoreSample()
    let steps = try DiskStore(at: sample.path).withDatabase { (database) throws(SpoolError) in
      try database.run("EXPLAIN QUERY PLAN " + query, to: "test").compactMap { $0[3].text }
    }
    #expect(steps.contains { $0.contains("SEARCH") })
    #expect(!steps.contains { $0.hasPrefix("SCAN") && !$0.contains("VIRTUAL TABLE") }, "\(steps)")
  }

  @Test("of a thousand runs, only the open one and the later ones of its pipeline are read")
  func thousandRuns() throws {
    let sample = try StoreSample()
    let store = try DiskStore(at: sample.path)
    try store.withDatabase { (database) throws(SpoolError) in
      try database.transaction(to: "test") { (database) throws(SpoolError) in
        for number in 2...1000 {
          var run = RunRecord(
            id: RunID("r\(number)"), pipeline: number < 990 ? "note" : "other",
            pipelinePath: "/p", inputs: ["note": "/in/\(number).wav"], overrides: [:],
            startedAt: Double(number))
          run.state = number == 980 ? .failed : .done
          try RunTable.write(RecordedRun(run, number: Int64(number)), to: &database)
        }
        // Whatever is read beyond those cannot be decoded, and is reported.
        try database.run("UPDATE runs SET record = '{' WHERE number < 980", to: "test")
      }
    }
    #expect(try store.runs.open().map(\.id.name) == ["r980"])
    let read = try store.withDatabase { (database) throws(SpoolError) in
      try database.run(
        "SELECT count(*) FROM runs INDEXED BY runs_by_pipeline "
          + "WHERE pipeline = 'note' AND number >= 980", to: "test")[0][0].integer
    }
    #expect(read == 10)
  }

  @Test("an unfinished run whose recording turned out to be a duplicate is given up on opening")
  func duplicate() throws {
    let scratch = try ScratchFolder()
    let path = scratch.file("store")
    let runs = try {
      let store = try DiskStore(at: path)
      let sound = SHA256.digest(of: "samples")
      var runs: [RunRecord] = []
      for (number, text) in ["first", "again", "other"].enumerated() {
        let content = try store.makeArtifact(text, kind: .sound)
        let arrival = RecordingArrival(
          pipeline: "voice", inbox: "/inbox", path: "\(number).wav",
          stamp: RecordingFileStamp(
            inode: UInt64(number + 1), byteCount: 5, modified: 7, changed: 8),
          fileName: "\(number).wav", recording: content)
        let key = try store.recordings.admit(arrival, conflicts: .quarantine).recording.key
        _ = try store.recordings.change(key, .begin)
        if text != "other" {
          _ = try store.recordings.accept(key, sound: sound, conflicts: .quarantine)
        }
        if text == "first" { _ = try store.recordings.change(key, .finish(reason: nil)) }
        var run = RunRecord(
          id: RunID("r\(number)"), pipeline: "voice", pipelinePath: "/p/voice.yaml",
          inputs: ["note": "\(store.layout.work)/0123.1/\(number).wav"], overrides: [:],
          startedAt: Double(number))
        run.recordings = ["note": content.digest]
        run.state = text == "first" ? .done : .interrupted
        try store.runs.save(run)
        runs.append(run)
      }
      return runs
    }()
    #expect(runs.map(\.state) == [.done, .interrupted, .interrupted])
    let store = try DiskStore(at: path)
    #expect(try store.runs.run(named: "r1")?.state == .dropped)
    #expect(try store.runs.open().map(\.id.name) == ["r2"])
  }

  @Test("the last run is one that began: a refused start is none")
  func last() throws {
    let sample = try StoreSample()
    let store = try DiskStore(at: sample.path)
    for number in 1...20 {
      var run = RunRecord(
        id: RunID("refused-\(number)"), pipeline: "note", pipelinePath: "/p", inputs: [:],
        overrides: [:], startedAt: 3e9)
      run.state = .refused
      try store.runs.save(run)
    }
    #expect(try store.runs.last()?.id == sample.run.id)
  }
}
