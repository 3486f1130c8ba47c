import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite("A batch's record holds for as long as recordings and exports are what they were")
struct BatchLogTests {
  private static let batch = SHA256.digest(of: "batch")

  private let scratch: ScratchFolder
  private let store: DiskStore
  private let export: String

  init() throws {
    scratch = try ScratchFolder()
    // A clock that is ahead, so that the files count as settled.
    store = try DiskStore(
      at: scratch.file("store"), files: .system, clock: { Clock.now() + 10_000_000_000 })
    try scratch.write("sound", to: "a.wav")
    export = scratch.file("export.wav")
    try publish("export")
  }

  private func publish(_ text: String) throws { _ = try store.publish(text, at: export) }

  private func entry(_ path: String, _ state: BatchEntry.State = .done) throws -> BatchEntry {
    BatchEntry(
      path: path, recording: try store.digest(ofFile: scratch.file(path)), sidecar: nil,
      settings: SHA256.digest(of: "settings"), name: "a", state: state, mediaSeconds: 2.5,
      report: #"{"path":"a"}"#)
  }

  private func recalled(_ folder: String? = nil) throws -> [RecalledBatchEntry] {
    try store.batches.entries(of: Self.batch, in: folder ?? scratch.path)
  }

  @Test("what was remembered comes back, and holds")
  func unchanged() throws {
    #expect(try recalled() == [])
    let entry = try entry("a.wav")
    try store.batches.remember(entry, of: Self.batch, exports: [export])
    #expect(try recalled() == [RecalledBatchEntry(entry: entry, isCurrent: true)])
    #expect(try store.batches.entries(of: SHA256.digest(of: "other"), in: scratch.path) == [])
  }

  @Test("remembering again takes the place of what was there, exports and all")
  func again() throws {
    try store.batches.remember(
      try entry("a.wav"), of: Self.batch, exports: [export, scratch.file("never published")])
    #expect(try recalled().map(\.isCurrent) == [false])
    try store.batches.remember(try entry("a.wav"), of: Self.batch, exports: [export])
    #expect(try recalled().map(\.isCurrent) == [true])
  }

  @Test("a recording that was written again no longer holds")
  func changedRecording() throws {
    try store.batches.remember(try entry("a.wav"), of: Self.batch, exports: [export])
    try scratch.write("other", to: "a.wav")
    #expect(try recalled().map(\.isCurrent) == [false])
    // And not even when another look has taken up what it is now.
    _ = try store.digest(ofFile: scratch.file("a.wav"))
    #expect(try recalled().map(\.isCurrent) == [false])
  }

  @Test("an export that is gone, was changed, or was published as something else no longer holds")
  func changedExport() throws {
    try store.batches.remember(try entry("a.wav"), of: Self.batch, exports: [export])
    try publish("another pipeline's")
    #expect(try recalled().map(\.isCurrent) == [false])
    try publish("export")
    #expect(try recalled().map(\.isCurrent) == [true])
    try Data("by hand".utf8).write(to: URL(fileURLWithPath: export))
    #expect(try recalled().map(\.isCurrent) == [false])
    try FileManager.default.removeItem(atPath: export)
    #expect(try recalled().map(\.isCurrent) == [false])
  }

  @Test("two names that look alike are two recordings")
  func alike() throws {
    let names = ["\u{E9}.wav", "e\u{301}.wav"]
    for name in names {
      try scratch.write(name, to: name)
      try store.batches.remember(try entry(name), of: Self.batch, exports: [])
    }
    try scratch.write("changed", to: names[1])
    let current = try recalled().map { (Array($0.entry.path.utf8), $0.isCurrent) }
    #expect(current.first { $0.0 == Array(names[0].utf8) }?.1 == true)
    #expect(current.first { $0.0 == Array(names[1].utf8) }?.1 == false)
  }

  @Test("what was remembered is there after a restart")
  func durable() throws {
    let entry = try entry("a.wav", .failed)
    try store.batches.remember(entry, of: Self.batch, exports: [])
    let reopened = try DiskStore(at: scratch.file("store"))
    #expect(try reopened.batches.entries(of: Self.batch, in: scratch.path).map(\.entry) == [entry])
  }
}
