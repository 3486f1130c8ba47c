import Foundation
import Platform
import TestSupport
import Testing

/// An authority that is down, slow, wrong or a stranger never harms a run, and is never believed.
@Suite("Where no time stamp can be had, the receipt waits", .serialized)
struct StampOutageTests {
  private let bench: StampBench

  init() throws { bench = try StampBench() }

  private var place: Workspace { bench.place }
  private var authority: TimeAuthority { bench.authority }

  @Test("where the authority is down, the run is done, and what it left is made up for later")
  func down() throws {
    authority.end()
    let run = try bench.run()
    #expect(run.exitCode == 0)
    #expect(run.errorOutput.contains("cannot reach http://127.0.0.1"), "\(run.errorOutput)")
    #expect(
      run.errorOutput.contains("1 receipt waits for a time stamp: spool proof stamp asks again"))
    #expect(try place.spool(["verify", place.out]).exitCode == 0, "it is whole without")
    let status = try place.spool(["status"])
    #expect(status.text.contains("1  receipt waits for a time stamp since "), "\(status.text)")
    #expect(status.text.contains("next:  spool proof stamp\n"))
    let vain = try place.spool(["proof", "stamp"])
    #expect(vain.exitCode == 1)
    #expect(vain.text.contains("waiting   \(place.out)/note.receipt.json"), "\(vain.text)")
    #expect(vain.text.contains("again in "))
    // Whoever asks again and again within one pause does not prolong it: a minute, after the first.
    _ = try place.spool(["proof", "stamp"])
    let last = try place.spool(["proof", "stamp"])
    #expect(!last.text.contains(" min"), "\(last.text)")
    try authority.begin()
    let made = try place.spool(["proof", "stamp", "--json"])
    #expect(made.exitCode == 0, "\(made.text)\(made.errorOutput)")
    #expect(made.text.contains("\"event\":\"stamped\""))
    try bench.expectStamped()
    #expect(try place.spool(["status"]).text.contains("time stamp") == false)
  }

  @Test("where a file lies in a token's place, nothing is put beside it, and the stamp is kept")
  func taken() throws {
    authority.end()
    _ = try bench.run()
    try authority.begin()
    try place.folder.write("mine", to: "out/note.receipt.tsr")
    let refused = try place.spool(["proof", "stamp"])
    #expect(refused.exitCode == 1)
    #expect(refused.text.contains("another file is at"), "\(refused.text)")
    #expect(!place.exports.contains("note.receipt.tsr.pem"))
    // Runs on other recordings do not tell of it again and again.
    try Reference.record(place.file("other.wav"), seconds: 0.3)
    let other = try place.run(bench.pipeline(), [place.file("other.wav")])
    #expect(!other.errorOutput.contains("another file is at"), "\(other.errorOutput)")
    try FileManager.default.removeItem(atPath: bench.token)
    #expect(try place.spool(["proof", "stamp"]).exitCode == 0)
    try bench.expectStamped()
    #expect(authority.requestCount == 2, "one for each receipt")
  }

  @Test("the next run and the next batch on the store make up for what others left")
  func later() throws {
    authority.end()
    _ = try bench.run()
    try authority.begin()
    try Reference.record(place.file("other.wav"), seconds: 0.4)
    #expect(try place.run(bench.pipeline(), [place.file("other.wav")]).exitCode == 0)
    #expect(try bench.waiting() == [], "the authority is back, so nothing waits for its pause")
    try bench.expectStamped()
    try bench.expectStamped("other")
    let folder = place.file("notes")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["a", "b", "c", "d"] {
      try Reference.record("\(folder)/\(name).wav", seconds: 0.3)
    }
    let batch = try place.spool(["batch", bench.pipeline(), folder, "--out", place.out])
    #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    #expect(batch.text.contains("stamped   4 receipts"))
    for name in ["a", "b", "c", "d"] { try bench.expectStamped(name) }
    #expect(authority.requestCount == 6)
  }

  @Test(
    "an answer that does not hold is told and never kept, and the receipt goes on waiting",
    arguments: [
      (TimeAuthority.Way.otherDigest, "its digest is another"),
      (.otherNonce, "its nonce is not the one that was sent"), (.expired, "has expired"),
      (.flipped, "refused"), (.rejected, "did not grant it"), (.garbage, "it is no answer"),
      (.huge, "more than 262144 bytes"), (.busy, "answers with the status 503"),
      (.redirect, "answers with the status 302"),
    ])
  func refused(way: TimeAuthority.Way, reason: String) throws {
    let run = try bench.run(bench.pipeline(way: way))
    #expect(run.exitCode == 0)
    #expect(run.errorOutput.contains(reason), "\(run.errorOutput)")
    #expect(place.exports == StampBench.files.filter { !$0.contains(".tsr") })
    #expect(try bench.waiting().count == 1)
    #expect(try place.spool(["proof", "stamp", "-q"]).exitCode == 1)
    #expect(authority.requestCount == 2)
    #expect(try place.spool(["proof", "stamp", "--forget", bench.receipt]).exitCode == 0)
    #expect(try bench.waiting() == [])
    #expect(try place.spool(["proof", "stamp", "--forget", bench.receipt]).exitCode == 1)
  }

  @Test("an authority of another root is foreign; with its own, the same receipt is stamped")
  func foreign() throws {
    let other = try TimeAuthority()
    try FileManager.default.removeItem(atPath: place.file("ca.pem"))
    try FileManager.default.copyItem(atPath: other.certificates, toPath: place.file("ca.pem"))
    let run = try bench.run()
    #expect(run.exitCode == 0 && run.errorOutput.contains("not trusted"), "\(run.errorOutput)")
    #expect(!place.exports.contains { $0.contains(".tsr") })
    try FileManager.default.removeItem(atPath: place.file("ca.pem"))
    #expect(
      try place.spool(["proof", "stamp"]).text.contains("ca.pem"), "its certificates are missing")
    try FileManager.default.copyItem(atPath: authority.certificates, toPath: place.file("ca.pem"))
    #expect(try place.spool(["proof", "stamp"]).exitCode == 0)
    try bench.expectStamped()
  }

  @Test("an authority that says nothing keeps a run waiting for ten seconds, and its exports never")
  func silent() throws {
    let clock = ContinuousClock()
    let start = clock.now
    let running = try place.start(bench.pipeline(way: .silent), [bench.recording])
    while !FileManager.default.fileExists(atPath: bench.receipt), running.isRunning {
      usleep(10_000)
    }
    let exported = start.duration(to: clock.now)
    while authority.requestCount == 0, running.isRunning { usleep(10_000) }
    #expect(place.exports == StampBench.files.filter { !$0.contains(".tsr") })
    let (run, _) = try running.end()
    #expect(run.exitCode == 0)
    #expect(run.errorOutput.contains("cannot reach"), "\(run.errorOutput)")
    #expect(start.duration(to: clock.now) - exported < .seconds(25))
    let asked = try place.start(bench.pipeline(way: .silent), [bench.recording])
    while authority.requestCount == 1, asked.isRunning, try bench.waiting().count == 1 {
      asked.send(SIGINT)
      usleep(50_000)
    }
  }

  @Test("a watch asks in the background, and says so")
  func watch() throws {
    let inbox = try WatchedPlace(
      proof:
        "{ authorities: [{ url: \(authority.url()), certificates: \(authority.certificates) }] }")
    try inbox.make(1)
    try inbox.make(2)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "stamped" } }, "\(watch.output)")
    let out = inbox.place.out
    #expect(
      try authority.verify(out + "/one.receipt.tsr", of: out + "/one.receipt.json").exitCode == 0)
    authority.end()
    try inbox.shell("cp made/2.wav inbox/two.wav")
    #expect(
      inbox.wait {
        watch.news.contains { $0.event == "trouble" }
          && watch.news.count { $0.event == "uploaded" } == 2
      }, "\(watch.output)")
    try authority.begin()
    #expect(try inbox.place.spool(["proof", "stamp"]).exitCode == 0, "beside the watch")
    #expect(
      try authority.verify(out + "/two.receipt.tsr", of: out + "/two.receipt.json").exitCode == 0)
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test("what an old backup still waits for is found to be there, and nobody is asked again")
  func restored() throws {
    authority.end()
    #expect(try bench.run().exitCode == 0)
    let kept: [SQLRow]
    do {
      var database = try place.database()
      kept = try database.run("SELECT * FROM awaited_stamps", to: "read")
    }
    try authority.begin()
    #expect(try place.spool(["proof", "stamp"]).exitCode == 0)
    let before = try place.allExports()
    do {
      var database = try place.database()
      for row in kept {
        let marks = row.map { _ in "?" }.joined(separator: ",")
        try database.run("INSERT INTO awaited_stamps VALUES (\(marks))", row, to: "change")
      }
      try database.script("DELETE FROM published WHERE path LIKE '%.tsr%'", to: "change")
    }
    #expect(try bench.waiting().count == 1)
    let again = try place.spool(["proof", "stamp"])
    #expect(again.exitCode == 0, "\(again.text)\(again.errorOutput)")
    #expect(try bench.waiting() == [])
    #expect(authority.requestCount == 1)
    #expect(try place.allExports() == before)
  }
}
