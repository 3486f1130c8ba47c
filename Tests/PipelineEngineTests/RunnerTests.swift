import Foundation
import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@Suite("A runner over a store on a disk")
struct RunnerTests {
  private let bench: RunnerBench

  init() throws { bench = try RunnerBench() }

  @Test("a run that failed in the middle resumes there")
  func resuming() throws {
    bench.fail("second", with: SpoolError("write", "/elsewhere/a", reason: "it is away"), times: 1)
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.step == StepID("second"))
    #expect(failure.recording == bench.recording)
    let failed = try bench.record("1")
    #expect(failed.state == .failed)
    #expect(failed.steps.map(\.outcome) == [.made, .failed, .pending])
    #expect(failed.failure == "second: cannot write /elsewhere/a: it is away")
    #expect(failed.steps[1].failure == "cannot write /elsewhere/a: it is away")

    let done = try bench.run("2")
    #expect(done.state == .done)
    #expect(done.steps.map(\.outcome) == [.reused, .made, .made])
    #expect(bench.counts == ["first": 1, "second": 2, "third": 1])
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
  }

  @Test("finished work is reused, by another process too")
  func reusing() throws {
    try bench.run("1")
    let again = try bench.reopened().run("2")
    #expect(again.steps.map(\.outcome) == [.reused, .reused, .reused])
    #expect(again.published.map(\.wasThere) == [true])
    #expect(bench.counts == ["first": 1, "second": 1, "third": 1])
  }

  @Test("a recording that lies under another name is known by its own")
  func named() throws {
    try bench.scratch.write("a recording", to: "other/4f1a")
    let unreadable = SpoolError("read", bench.scratch.file("other/4f1a"), reason: "it is torn")
    bench.fail("second", with: unreadable, times: 1)
    let failure = try #require(throws: RunError.self) {
      try bench.run("1", recording: "other/4f1a", called: "work/walk.m4a")
    }
    let name = bench.scratch.file("work/walk.m4a")
    #expect(failure.error.subject == name)
    #expect(failure.recording == name)
    let done = try bench.run("2", recording: "other/4f1a", called: "work/walk.m4a")
    #expect(done.inputs == ["note": name])
    #expect(done.recordings == ["note": SHA256.digest(of: "a recording")])
    #expect(done.steps.map(\.outcome) == [.reused, .made, .made])
    #expect(try bench.export("walk.txt") == "a recording, first, second, third")
    #expect(try bench.run("3").steps.first?.outcome == .reused, "a name is part of no key")
  }

  @Test("a run never replaces another recording's export, unless it is asked to")
  func otherRecording() throws {
    try bench.run("1")
    try FileManager.default.removeItem(atPath: bench.recording)
    try bench.scratch.write("another recording", to: "other/note.m4a")
    let failure = try #require(throws: RunError.self) {
      try bench.run("2", recording: "other/note.m4a")
    }
    #expect(failure.error.message.hasPrefix("\(bench.folder)/note.txt was made of another"))
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
    #expect(bench.counts["first"] == 1, "work was done in vain")
    try bench.run("3", recording: "other/note.m4a", isReplacing: true)
    #expect(try bench.export("note.txt") == "another recording, first, second, third")
  }

  @Test("a run never replaces another pipeline's export, unless it is asked to")
  func otherPipeline() throws {
    try bench.run("1")
    // The same bytes need no place of their own.
    #expect(try bench.run("2", pipeline: "other").published.map(\.wasThere) == [true])
    let shorter = ["first", "third"]
    let failure = try #require(throws: RunError.self) {
      try bench.run("3", pipeline: "other", stages: shorter)
    }
    #expect("\(failure)".contains("\(bench.folder)/note.txt"))
    #expect("\(failure)".contains("an export of sample"))
    // The kind has no parameter for the name.
    #expect(
      failure.error.advice == "choose another folder with --out, or add --replace")
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
    try bench.run("4", isReplacing: true, pipeline: "other", stages: shorter)
    #expect(try bench.export("note.txt") == "a recording, first, third")
    #expect(throws: RunError.self) { try bench.run("5") }
    try bench.run("6", pipeline: "other", stages: shorter)
  }

  @Test("other content under a recording's name is another recording")
  func edited() throws {
    try bench.run("1")
    try bench.scratch.write("an edited recording", to: "note.m4a")
    #expect(throws: RunError.self) { try bench.run("2") }
    #expect(try bench.record("2").state == .refused && bench.store.runs.open().isEmpty)
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
    try bench.run("3", isReplacing: true)
    #expect(try bench.export("note.txt") == "an edited recording, first, second, third")
  }

  @Test("a disk that is full stays full for the caller, and pauses the run")
  func fullDisk() throws {
    let full = SpoolError("write", "\(bench.store.path)/x", SystemError(ENOSPC))
    bench.fail("second", with: full, times: 1)
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.error.cause == .fullDisk)
    #expect(failure.step == StepID("second"))
    #expect(failure.error.message == "the disk of \(bench.store.path) is full")
    #expect(try bench.record("1").state == .paused)
    #expect(try bench.run("2").steps.map(\.outcome) == [.reused, .made, .made])
  }

  @Test("a full disk of the output folder is named by its folder")
  func fullFolder() throws {
    let full = SpoolError("write", "\(bench.folder)/in/x", SystemError(ENOSPC))
    bench.fail("third", with: full, times: 1)
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.error.message == "the disk of \(bench.folder) is full")
  }

  @Test("a passing failure is tried again after growing pauses")
  func retrying() throws {
    bench.fail("second", with: SpoolError("the line is busy", cause: .transient), times: 2)
    #expect(try bench.run("1").state == .done)
    #expect(bench.counts["second"] == 3)
    #expect(bench.clock.pauses == [2, 4])
  }

  @Test("what stays busy fails after three attempts")
  func retryingInVain() throws {
    bench.fail("second", with: SpoolError("the line is busy", cause: .transient), times: 9)
    #expect(throws: RunError.self) { try bench.run("1") }
    #expect(bench.counts["second"] == 3)
  }

  @Test("a failure after other attempts names what was tried again")
  func lastAttempt() throws {
    bench.fail("second", with: SpoolError("the line is busy", cause: .transient), times: 1)
    bench.take(5, in: "second")
    let failure = try #require(throws: RunError.self) {
      try bench.run("1", timeouts: ["second": 4])
    }
    #expect(failure.error.message == "gave up after 4 s")
    #expect(failure.error.reason?.contains("the line is busy") == true, "\(failure.error)")
  }

  @Test("a stage that takes longer than its timeout is ended, and named")
  func timeout() throws {
    bench.take(5, in: "second")
    let failure = try #require(throws: RunError.self) {
      try bench.run("1", timeouts: ["second": 4, "third": 1])
    }
    #expect(failure.step == StepID("second"))
    #expect(failure.error.message == "gave up after 4 s")
    #expect(failure.error.cause == .environment, "another attempt may be quicker")
    let failed = try bench.record("1")
    #expect(failed.steps.map(\.outcome) == [.made, .failed, .pending])
    #expect(bench.counts["second"] == 1, "it is not tried again")
    #expect(try bench.run("2", timeouts: ["second": 6]).state == .done)
  }

  @Test("a request to stop interrupts the run, which resumes")
  func cancelling() throws {
    let failure = try #require(throws: RunError.self) {
      try bench.run("1", stoppingAfter: "first")
    }
    #expect(failure.error.cause == .cancelled)
    let stopped = try bench.record("1")
    #expect(stopped.state == .interrupted)
    #expect(stopped.failure == nil)
    #expect(stopped.steps.map(\.outcome) == [.made, .pending, .pending])
    #expect(try bench.run("2").steps.map(\.outcome) == [.reused, .made, .made])
  }

  @Test("a stop keeps what a stage has noted, though it has no unfinished files")
  func notes() throws {
    bench.note(in: "second")
    bench.fail("second", with: .cancelled, times: 1)
    #expect(throws: RunError.self) { try bench.run("run-1") }
    #expect(try bench.record("run-1").state == .interrupted)
    try bench.reopened().run("run-2")
    #expect(bench.entries(of: "second") == [nil, "begun"])
  }

  @Test("exports have the names that were given, whatever the file is called")
  func names() throws {
    let done = try bench.run("1", names: ["note": "walk.2.m4a"])
    #expect(done.published.map(\.path) == ["\(bench.folder)/walk.2.txt"])
    #expect(try bench.plan().exportPaths(["note": "walk.2.m4a"]) == ["walk.2.txt"])
  }

  @Test("nothing is kept that was made from a recording that changed while it was read")
  func changed() throws {
    bench.act(in: "first") { _ = try? bench.scratch.write("another recording", to: "note.m4a") }
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.error.message == "\(bench.recording) changed while it was read")
    #expect(failure.step == StepID("first"))
    #expect(try bench.record("1").state == .failed)

    bench.act(in: "first") {}
    try bench.scratch.write("a recording", to: "note.m4a")
    let done = try bench.run("2")
    #expect(done.steps.map(\.outcome) == [.made, .made, .made])
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
  }

  @Test("a recording that was written a moment ago is read when any later write would show")
  func unsettled() throws {
    let stamp = try FileStamp(following: bench.recording)
    try #require(stamp.changed % 1_000_000_000 != 0, "the file system keeps whole seconds only")
    bench.clock.start.withLock { $0 = Double(stamp.changed + 5_000_000) / 1e9 }
    try bench.run("1")
    #expect(bench.clock.pauses.count == 1)
    let pause = try #require(bench.clock.pauses.first)
    #expect(abs(pause - 0.016) < 0.0001)
  }

  @Test("the same bytes again do not hide that a recording changed while it was read")
  func changedBack() throws {
    bench.act(in: "first") {
      _ = try? bench.scratch.write("another recording", to: "note.m4a")
      _ = try? bench.scratch.write("a recording", to: "note.m4a")
    }
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.error.kind == .changed)
  }

  @Test("a failure that a changed recording led to is told as the change")
  func changedAndFailed() throws {
    bench.fail("first", with: SpoolError("it ends", cause: .input), times: 1)
    bench.act(in: "first") { _ = try? bench.scratch.write("a rec", to: "note.m4a") }
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.error.kind == .changed)
    #expect(failure.error.cause == .environment, "another attempt may succeed")
    #expect(bench.counts == ["first": 1])
  }

  @Test("exports get no tags of a recording that changed since it was read")
  func changedBeforePublishing() throws {
    bench.act(in: "second") { _ = try? bench.scratch.write("another recording", to: "note.m4a") }
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.error.kind == .changed)
    #expect(!FilePath.exists("\(bench.folder)/note.txt"))
  }

  @Test(
    "a recording that is gone refuses a run; a batch has begun, and fails",
    arguments: [false, true])
  func missing(isInBatch: Bool) throws {
    try FileManager.default.removeItem(atPath: bench.recording)
    #expect(throws: RunError.self) { try bench.run("1", isInBatch: isInBatch) }
    #expect(try bench.record("1").state == (isInBatch ? .failed : .refused))
    #expect(try bench.store.runs.open().count == (isInBatch ? 1 : 0))
    #expect(bench.counts.isEmpty)
  }

  @Test("a folder that is to be made is made for the first export, and not for a refused run")
  func missingFolder() throws {
    try FileManager.default.removeItem(atPath: bench.folder)
    bench.fail("second", with: SpoolError("no"), times: 1)
    #expect(throws: RunError.self) { try bench.run("1", makesFolder: true) }
    // Another one is away with its disk.
    #expect(throws: RunError.self) { try bench.run("2") }
    #expect(!FileManager.default.fileExists(atPath: bench.folder))
    #expect(try bench.run("3", makesFolder: true).published.count == 1)
  }
}
