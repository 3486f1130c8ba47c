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
    #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(steps)")
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
}
