import Foundation
import TestSupport
import Testing

/// Asking is cut off at every point, and goes on as if nothing had happened.
@Suite(
  "Killed at any moment, a receipt gets one time stamp, and its wish is never lost", .serialized)
struct StampKillTests {
  private let bench: StampBench

  init() throws { bench = try StampBench() }

  private var place: Workspace { bench.place }

  /// One token, which holds, and nothing else besides what was there.
  private func expectOne(_ point: String) throws {
    #expect(place.exports == StampBench.files, "\(point)")
    try bench.expectStamped()
    #expect(try bench.waiting() == [], "\(point)")
  }

  @Test("killed before any operation of spool proof stamp")
  func stamp() throws {
    bench.authority.end()
    #expect(try bench.run().exitCode == 0)
    let shell = try #require(Program(named: "dash"))
    let folder = place.folder.path
    _ = try shell.run(["-ec", "mkdir saved; cp -a out store saved"], folder: folder)
    try bench.authority.begin()
    var number = 1
    var kills = 0
    var askedTwice = 0
    while true {
      let before = bench.authority.requestCount
      let result = try place.spool(
        ["proof", "stamp"], environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      let point = "killed before operation \(number)"
      if place.exports.contains("note.receipt.tsr") { try bench.expectStamped() }
      guard result.exitCode == 128 + SIGKILL else {
        #expect(result.exitCode == 0, "\(result.errorOutput)")
        try expectOne("not killed")
        break
      }
      kills += 1
      let isSettled = try bench.waiting() == []
      let again = try place.spool(["proof", "stamp"])
      #expect(again.exitCode == 0, "\(point): \(again.text)\(again.errorOutput)")
      // What the change log already had is taken in first.
      let isTakenIn = again.text.hasPrefix("no receipt waits")
      #expect(again.text.hasPrefix("stamped") || isSettled || isTakenIn, "\(point): \(again.text)")
      try expectOne(point)
      let asked = bench.authority.requestCount - before
      #expect((1...2).contains(asked), "\(point): asked \(asked) times")
      askedTwice += asked - 1
      _ = try shell.run(["-ec", "rm -r out store; cp -a saved/out saved/store ."], folder: folder)
      number += 1
    }
    #expect(kills >= 10)
    // Only between the answer and the note that keeps it is there a second question.
    #expect(askedTwice <= 4, "\(askedTwice) of \(kills)")
  }

  @Test("killed before any operation of a run, the next one ends in one token")
  func run() throws {
    let pipeline = try bench.pipeline()
    var number = LongTests.areWanted ? 1 : 40
    var kills = 0
    while true {
      let result = try place.spool(
        ["run", pipeline, bench.recording, "--out", place.out],
        environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      guard result.exitCode == 128 + SIGKILL else {
        #expect(result.exitCode == 0, "\(result.errorOutput)")
        break
      }
      kills += 1
      #expect(try bench.run().exitCode == 0)
      try expectOne("killed before operation \(number)")
      try FileManager.default.removeItem(atPath: place.out)
      try FileManager.default.removeItem(atPath: place.store)
      number += LongTests.areWanted ? 1 : 9
    }
    #expect(kills >= 3)
  }

  @Test("several that ask at once ask once for each receipt")
  func together() throws {
    bench.authority.end()
    let folder = place.file("notes")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for number in 1...8 { try Reference.record("\(folder)/\(number).wav", seconds: 0.2) }
    #expect(
      try place.spool(["batch", bench.pipeline(), folder, "--out", place.out]).exitCode == 0)
    #expect(try bench.waiting().count == 8)
    try bench.authority.begin()
    let program = try SpoolProgram.program
    let all = try (0..<4).map { _ in
      try RunningSpool(
        program, ["proof", "stamp", "--json"], environment: place.environment,
        folder: place.folder.path)
    }
    for running in all {
      let (run, _) = try running.end()
      #expect(run.exitCode == 0 && run.errorOutput == "", "\(run.errorOutput)")
    }
    #expect(bench.authority.requestCount == 8)
    for number in 1...8 { try bench.expectStamped("\(number)") }
  }
}
