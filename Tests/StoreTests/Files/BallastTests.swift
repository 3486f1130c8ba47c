import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct BallastTests {
  private let sample: StoreSample
  private var ballast: String { sample.path + "/ballast" }

  init() throws { sample = try StoreSample() }

  private func byteCount() throws -> Int { Int(try FileStamp(at: ballast).byteCount) }

  private func saveRun(_ name: String, in store: DiskStore) throws {
    try store.runs.save(
      RunRecord(
        id: RunID(name), pipeline: "note", pipelinePath: "/p/note.yaml",
        inputs: ["note": "/in/note.m4a"], overrides: [:],
        startedAt: Date().timeIntervalSince1970))
  }

  @Test("a run makes it where it is not there or not whole, and check tells how much is kept")
  func kept() throws {
    let store = try DiskStore(at: sample.path)
    for (name, spoil) in [
      ("a", { _ = unsafe unlink(self.ballast) }), ("b", { _ = unsafe truncate(self.ballast, 0) }),
    ] {
      spoil()
      try saveRun(name, in: store)
      #expect(try byteCount() == Ballast.byteCount)
      #expect(names(in: sample.path + "/drafts").count <= 1, "the reserve alone")
    }
    #expect(try sample.inspect().ballastBytes == Ballast.byteCount)
    // A file system that compresses must not store it in next to nothing.
    let packed = try Reference.output("gzip", ["-c", ballast])
    #expect(packed.count > Ballast.byteCount * 9 / 10)
  }

  @Test("whoever opens the store to free room leaves it there")
  func freeing() throws {
    #expect(unsafe unlink(ballast) != 0, "the sample's run had ended when it was saved")
    _ = try DiskStore.freeing(sample.path) { (store) throws(SpoolError) in
      try store.collect(CollectionPolicy())
    }
    #expect(try byteCount() == Ballast.byteCount)
    #expect(try sample.remembersEverything())
    #expect(names(in: sample.path + "/drafts") == [])
  }

  @Test(
    "on a disk that is full to the last byte the store opens to be freed, and not otherwise",
    .enabled(if: SmallDisk.isPossible, "this machine does not let tests mount"))
  func fullDisk() throws {
    let disk = try SmallDisk(byteCount: 32 << 20)
    let path = disk.path + "/store"
    do { try saveRun("a", in: DiskStore(at: path)) }
    // Several times: what was given up is there again the next time.
    for _ in 1...6 {
      try disk.squeeze(toRoomFor: 0)
      #expect(throws: SpoolError.self) { try DiskStore(at: path) }
      _ = try DiskStore.freeing(path) { (store) throws(SpoolError) in
        try store.collect(CollectionPolicy())
      }
      #expect(Int(try FileStamp(at: path + "/ballast").byteCount) > Ballast.byteCount / 2)
    }
    #expect(try Inspection(of: path).run().isSound)
  }
}
