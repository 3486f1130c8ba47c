import Foundation
import TestSupport
import Testing

/// Real runs ask a real authority, and openssl checks what it gave.
@Suite("Receipts get time stamps, now or later, and only such as hold", .serialized)
struct TimeStampTests {
  private let bench: StampBench

  init() throws { bench = try StampBench() }

  private var place: Workspace { bench.place }
  private var authority: TimeAuthority { bench.authority }

  @Test("a token lies beside the receipt that openssl, the script and spool take")
  func whole() throws {
    let run = try bench.run()
    #expect(run.exitCode == 0 && run.errorOutput == "", "\(run.errorOutput)")
    #expect(place.exports == StampBench.files)
    try bench.expectStamped()
    let verified = try place.spool(["verify", place.out])
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    #expect(
      verified.text.contains("says CN=A Test Authority (good), trusted by note.receipt.tsr.pem"))
    let script = try bench.script()
    #expect(script.exitCode == 0, "\(script.text)\(script.errorOutput)")
    #expect(script.text.contains("stamped  note.receipt.json was there on "))
    let own = try bench.script(["spool.pub", authority.certificates])
    #expect(own.exitCode == 0, "\(own.text)\(own.errorOutput)")
    #expect(try place.spool(["proof", "stamp"]).text == "no receipt waits for a time stamp\n")
  }

  @Test("a run that is repeated asks nobody; a token that was deleted is asked for anew")
  func repeated() throws {
    _ = try bench.run()
    let before = try Workspace.listing(of: place.out)
    #expect(try bench.run().exitCode == 0)
    #expect(try Workspace.listing(of: place.out) == before)
    #expect(authority.requestCount == 1)
    try FileManager.default.removeItem(atPath: bench.token)
    #expect(try bench.run().exitCode == 0)
    try bench.expectStamped()
    #expect(authority.requestCount == 2)
  }

  @Test("work that is other makes another receipt, with a token of its own or none")
  func replaced() throws {
    _ = try bench.run()
    let first = try Data(contentsOf: URL(fileURLWithPath: bench.token))
    _ = try bench.run(bench.pipeline(peak: -6))
    #expect(try Data(contentsOf: URL(fileURLWithPath: bench.token)) != first)
    try bench.expectStamped()
    authority.end()
    #expect(try bench.run(bench.pipeline(peak: -9)).exitCode == 0)
    #expect(!place.exports.contains { $0.contains(".tsr") }, "the old token is of the old receipt")
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
    #expect(try bench.waiting().count == 1)
    // Back to the first: what waited for the receipt in between is dropped with it.
    try authority.begin()
    #expect(try bench.run().exitCode == 0)
    try bench.expectStamped()
    #expect(try bench.waiting() == [])
  }

  @Test("tokens go with their receipt, and stay with it where it may not be replaced")
  func refused() throws {
    _ = try bench.run()
    // Whoever changed the receipt can take the change back; nobody can have the time again.
    let receipt = try place.export("note.receipt.json")
    try (receipt + Data("x".utf8)).write(to: URL(fileURLWithPath: bench.receipt))
    let before = try Workspace.listing(of: place.out)
    #expect(try bench.run(bench.pipeline(peak: -6)).exitCode == 1)
    #expect(try Workspace.listing(of: place.out) == before)
    try receipt.write(to: URL(fileURLWithPath: bench.receipt))
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
    // Its times are other ones, and yet it is the one that was written.
    #expect(try bench.run(bench.pipeline(peak: -6)).exitCode == 0)
    try bench.expectStamped()
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
  }

  @Test("a token that does not fit ends in exit code 4, and is named by spool and by the script")
  func hostile() throws {
    _ = try bench.run()
    let url = URL(fileURLWithPath: bench.token)
    let whole = try Data(contentsOf: url)
    func expectNamed(_ words: String, _ options: [String] = []) throws {
      let result = try place.spool(["verify", place.out] + options)
      #expect(result.exitCode == 4, "\(words): \(result.text)")
      #expect(result.text.contains("note.receipt.tsr"), "\(result.text)")
      #expect(result.text.contains(words), "\(result.text)")
    }
    for place in [30, whole.count / 2, whole.count - 3] {
      var bytes = whole
      bytes[place] ^= 1
      try bytes.write(to: url)
      try expectNamed("note.receipt.tsr")
      let script = try bench.script()
      #expect(script.exitCode == 1 && script.text.contains("BROKEN   note.receipt.tsr"))
    }
    let list = URL(fileURLWithPath: bench.token + ".sha256")
    let listed = try Data(contentsOf: list)
    try FileManager.default.removeItem(at: list)
    let other = try #require(Program(named: "openssl")).run(
      ["ts", "-query", "-sha256", "-digest", String(repeating: "ab", count: 32), "-cert"])
    #expect(other.exitCode == 0)
    try Data(authority.reply(to: Array(other.output))).write(to: url)
    try expectNamed("its digest is another")
    #expect(try bench.script().exitCode == 1)
    try whole.write(to: url)
    #expect(
      try place.spool(["verify", place.out, "--tsa-ca", authority.certificates]).exitCode == 4)
    try listed.write(to: list)
    let foreign = try TimeAuthority()
    try expectNamed("not trusted", ["--tsa-ca", foreign.certificates])
    #expect(try bench.script(["spool.pub", foreign.certificates]).exitCode == 1)
    #expect(
      try place.spool(["verify", place.out, "--tsa-ca", authority.certificates]).exitCode == 0)
    #expect(try place.spool(["verify", place.out, "--tsa-ca", bench.token]).exitCode == 1)
    try FileManager.default.removeItem(atPath: bench.token + ".pem")
    try expectNamed("note.receipt.tsr.pem")
    try FileManager.default.removeItem(atPath: bench.token)
    try FileManager.default.createSymbolicLink(
      atPath: bench.token, withDestinationPath: authority.certificates)
    try expectNamed("link")
  }

  @Test(
    "when its certificates have expired, a token is as good as it was",
    .enabled(if: FalseClock.isInstalled, "libfaketime is not installed"))
  func expired() throws {
    _ = try bench.run()
    let shell = try #require(Program(named: "dash"))
    let clock = [
      "LD_PRELOAD": try #require(FalseClock.library), "FAKETIME": "@2050-01-01 00:00:00",
    ]
    func later(_ words: [String]) throws -> Program.Result {
      // The shell stays, for what the library leaves in the environment.
      try shell.run(
        ["-c", "\"$@\"; exit $?", "sh"] + words,
        environment: place.environment.merging(clock) { $1 }, folder: place.out)
    }
    let check = [
      "openssl", "ts", "-verify", "-data", bench.receipt, "-in", bench.token, "-CAfile",
      authority.certificates,
    ]
    #expect(try later(check).exitCode != 0, "for openssl, they have")
    let verified = try later([SpoolProgram.program.path, "verify", place.out])
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    let script = try later(["sh", place.out + "/note.verify.sh"])
    #expect(script.exitCode == 0, "\(script.text)\(script.errorOutput)")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: bench.token))
    bytes[bytes.count - 3] ^= 1
    try bytes.write(to: URL(fileURLWithPath: bench.token))
    try FileManager.default.removeItem(atPath: bench.token + ".sha256")
    #expect(try later(["sh", place.out + "/note.verify.sh"]).exitCode == 1)
  }

  @Test("each of several authorities gives a token of its own, and one that is down waits alone")
  func several() throws {
    let other = try TimeAuthority()
    let pipeline = try bench.pipeline(
      authorities: [(authority.url(), "ca.pem"), (other.url(), other.certificates)])
    other.end()
    #expect(try bench.run(pipeline).exitCode == 0)
    try bench.expectStamped()
    let waiting = try bench.waiting()
    #expect(waiting.count == 1 && waiting.first?.contains(other.url()) == true)
    try other.begin()
    #expect(try place.spool(["proof", "stamp"]).exitCode == 0)
    let second = place.out + "/note.receipt.2.tsr"
    #expect(try other.verify(second, of: bench.receipt).exitCode == 0)
    let verified = try place.spool(["verify", bench.receipt])
    #expect(verified.exitCode == 0)
    #expect(verified.text.split(separator: "\n").count { $0.contains("stamped") } == 2)
    let script = try bench.script()
    #expect(script.exitCode == 0)
    #expect(script.text.split(separator: "\n").count { $0.hasPrefix("stamped") } == 2)
    #expect(authority.requestCount == 1 && other.requestCount == 1)
  }

  @Test("in a bag, tokens lie beside the payload: the bag stays valid, and so does the receipt")
  func bag() throws {
    authority.end()
    let pipeline = try bench.pipeline(more: "bag: true, ")
    #expect(try bench.run(pipeline).exitCode == 0)
    let bag = place.out + "/note"
    let reference = try #require(BagReference())
    #expect(try reference.isValid(bag))
    let before = try Workspace.listing(of: bag)
    try authority.begin()
    #expect(try place.spool(["proof", "stamp"]).exitCode == 0)
    #expect(try reference.isValid(bag))
    let after = try Workspace.listing(of: bag)
    #expect(
      Set(after.keys).subtracting(before.keys) == [
        "note.receipt.tsr", "note.receipt.tsr.pem", "note.receipt.tsr.sha256",
      ])
    #expect(after.filter { before[$0.key] != nil } == before, "nothing sealed was written again")
    let token = bag + "/note.receipt.tsr"
    #expect(try authority.verify(token, of: bag + "/data/note.receipt.json").exitCode == 0)
    let script = try #require(Program(named: "dash")).run(
      [bag + "/data/note.verify.sh"], folder: "/")
    #expect(script.text.contains("stamped  note.receipt.json"), "\(script.text)")
    let verified = try place.spool(["verify", bag])
    #expect(verified.exitCode == 0)
    #expect(verified.text.contains("stamped  ../note.receipt.tsr"), "\(verified.text)")
    #expect(try bench.run(pipeline).exitCode == 0)
    #expect(try Workspace.listing(of: bag) == after)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: token))
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(fileURLWithPath: token))
    let broken = try place.spool(["verify", bag])
    #expect(broken.exitCode == 4 && broken.text.contains("../note.receipt.tsr"))
  }

  @Test(
    "what is wrong with an authority shows where the pipeline is checked",
    arguments: [
      ("url: ftp://a/b, certificates: ca.pem", "does not begin with http:// or https://"),
      ("url: http:///tsr, certificates: ca.pem", "it names no machine"),
      ("url: 'http://me:secret@a/b', certificates: ca.pem", "a password has no place in it"),
      ("url: http://a/b, certificates: none.pem", "none.pem"),
      ("url: http://a/b, certificates: pipeline.yaml", "there is no certificate as PEM in it"),
      ("url: http://a/b", "needs certificates"),
      ("address: http://a/b, url: http://a/b, certificates: ca.pem", "\"address\" is not"),
    ])
  func mistakes(entry: String, words: String) throws {
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\n"
        + "stages: [decode, export: [wav], proof: { authorities: [{ \(entry) }] }]\n")
    let checked = try place.spool(["pipeline", "check", pipeline])
    #expect(checked.exitCode == 2)
    #expect(checked.errorOutput.contains(words), "\(checked.errorOutput)")
    #expect(try place.run(pipeline, [bench.recording]).exitCode == 2, "and before any work")
  }

  @Test("the certificates are found from the pipeline's folder, wherever it is run from")
  func elsewhere() throws {
    let result = try SpoolProgram.program.run(
      ["run", bench.pipeline(), bench.recording, "--out", place.out],
      environment: place.environment, folder: "/")
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    try bench.expectStamped()
  }
}
