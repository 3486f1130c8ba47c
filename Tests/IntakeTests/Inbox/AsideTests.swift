import Foundation
@testable import Intake
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("Files that lie aside for deletion, or cannot leave the inbox")
struct AsideTests {
  private let bench: ProcessorBench
  private let store: DiskStore

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
  }

  @Test("a file on its way out goes where its owner wants it by now, under its name")
  func keptSince() throws {
    let deleting = try bench.processor(store) { $0.keep = .delete }
    try bench.upload("sound", as: "sub/a.m4a", with: deleting)
    #expect(deleting.settle().released.isEmpty)
    #expect(bench.files(in: bench.inbox) == ["sub/.spool-1-1.released-a.m4a"])
    let moving = try bench.processor(store) { $0.keep = .move }
    #expect(moving.settle().released.map(\.place) == [.accepted])
    #expect(bench.files(in: bench.inbox) == ["accepted/sub/a.m4a"])
  }

  @Test(
    "a file on its way out is a new arrival where its recording was forgotten or its store lost")
  func forgottenSince() throws {
    let deleting = try bench.processor(store) { $0.keep = .delete }
    let recording = try bench.upload("sound", as: "sub/a.m4a", with: deleting)
    #expect(deleting.settle().released.isEmpty)
    try bench.drop("another", as: "sub/a.m4a")
    #expect(try store.recordings.forget(recording.key) != nil)
    #expect(deleting.settle().isAnyForgotten)
    #expect(bench.files(in: bench.inbox) == ["sub/a (2).m4a", "sub/a.m4a"])

    let long = String(repeating: "b", count: 250) + ".m4a"
    try bench.upload("third", as: long, with: deleting)
    #expect(deleting.settle().released.isEmpty)
    let other = try ProbedStore.open(at: bench.storeFolder + "-other", clock: { 0 })
    let next = try bench.processor(other) { $0.keep = .delete }
    #expect(next.reconcile().problems.isEmpty)
    #expect(bench.files(in: bench.inbox) == ["recording", "sub/a (2).m4a", "sub/a.m4a"])
    // What the store is about to delete stays aside.
    try bench.upload("fourth", as: "c.m4a", with: next)
    #expect(next.settle().released.isEmpty)
    #expect(next.reconcile().problems.isEmpty)
    #expect(bench.files(in: bench.inbox).contains(".spool-1-1.released-c.m4a"))
  }

  @Test("why a file cannot leave is said as long as it cannot")
  func unwritable() throws {
    let processor = try bench.processor(store)
    try bench.upload("sound", as: "a.m4a", with: processor)
    try "".write(toFile: bench.inbox + "/accepted", atomically: true, encoding: .utf8)
    let first = processor.settle().problems.map(\.description)
    #expect(first.count == 1)
    for _ in 0..<3 { #expect(processor.settle().problems.map(\.description) == first) }
    try FileManager.default.removeItem(atPath: bench.inbox + "/accepted")
    bench.time.advance(by: 60)
    let report = processor.settle()
    #expect(report.problems.isEmpty && report.released.map(\.place) == [.accepted])
  }
}
