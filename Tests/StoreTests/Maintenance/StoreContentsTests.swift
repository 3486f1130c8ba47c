import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct StoreContentsTests {
  @Test("sizes are told by kind and by recording, from the database alone")
  func sizes() throws {
    let sample = try StoreSample()
    for file in sample.files(in: "artifacts") {
      try FileManager.default.removeItem(atPath: file)
    }
    let contents = try DiskStore(at: sample.path).contents(CollectionPolicy())
    func size(_ name: String) -> [Int]? {
      contents.kinds.first { $0.name == name }.map { [$0.files, $0.byteCount] }
    }
    #expect(size("sound") == [1, 10_000] && size("exports") == [1, 4000])
    #expect(size("figures") == [1, 11] && size("words") == nil)
    #expect(contents.recordings.map(\.name) == ["note.m4a"])
    #expect(contents.recordings.map(\.byteCount) == [14_011])
    #expect(contents.byteCount >= 14_011 && contents.collectableByteCount == 0)
    #expect(contents.checkedAt == nil && contents.backedUpAt != nil)
  }

  @Test("what a collection would free is what it frees")
  func collectable() throws {
    let age = 40 * 86_400.0
    let sample = try StoreSample(runStart: Date().timeIntervalSince1970 - age)
    try sample.age(by: age)
    let store = try DiskStore(at: sample.path)
    let contents = try store.contents(CollectionPolicy())
    #expect(contents.collectableByteCount == 14_011 && contents.soundByteCount == 10_000)
    // What was wanted lately stays with all that its checkpoint names.
    try FilePath.touch(sample.artifact(2))
    #expect(try store.contents(CollectionPolicy()).collectableByteCount == 10_011)
    #expect(try store.collect(CollectionPolicy()).freedBytes == 10_011)
    DiskStore.noteCheck(ofStore: sample.path)
    #expect(try store.contents(CollectionPolicy()).checkedAt != nil)
  }

  @Test("a limit frees the least recent although it is young, an age all that is old")
  func limit() throws {
    let sample = try StoreSample(runStart: Date().timeIntervalSince1970 - 7200)
    try sample.age(by: 7200)
    var policy = CollectionPolicy()
    policy.limit = 20_000
    let store = try DiskStore(at: sample.path)
    #expect(try store.collect(policy, isDryRun: true).freedBytes == 0)
    policy.limit = 1000
    #expect(try store.collect(policy, isDryRun: true).freedBytes == 14_011)
    policy.limit = 20_000
    policy.age = 3600
    #expect(try store.collect(policy).freedBytes == 14_011)
  }

  @Test("a collection by itself comes once a day, and not in a new store")
  func daily() throws {
    let sample = try StoreSample(runStart: Date().timeIntervalSince1970 - 40 * 86_400)
    try sample.age(by: 40 * 86_400)
    func collect(afterDays days: Double) throws -> Int? {
      let now = Clock.now() + Int64(days * 86_400e9)
      return try DiskStore(at: sample.path, files: .system, clock: { now })
        .collectIfDue(CollectionPolicy())?.freedBytes
    }
    #expect(try collect(afterDays: 0) == nil)
    #expect(try collect(afterDays: 0.9) == nil)
    #expect(try collect(afterDays: 1.1) == 14_011)
    #expect(try collect(afterDays: 0.5) == nil)
  }
}
