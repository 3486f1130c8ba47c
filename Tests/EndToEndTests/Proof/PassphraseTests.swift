import Foundation
import TestSupport
import Testing

@Suite(
  "A signing key with a passphrase signs only for those who know it", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct PassphraseTests {
  private let place: Workspace
  private static let words = "grün ist die Heide"

  init() throws { place = try Workspace() }

  private func pipeline() throws -> String {
    try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, export: [wav], proof]\n")
  }

  private func record(_ name: String = "note.wav") throws -> String {
    let path = place.file(name)
    try Reference.record(path, seconds: 0.3)
    return path
  }

  private func secret(_ text: String, named name: String = "passphrase") throws -> String {
    let path = try place.folder.write(text, to: name)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    return path
  }

  /// Without any terminal, as a service is.
  private func detached(
    _ words: [String], environment: [String: String] = [:]
  ) throws -> Program.Result {
    try #require(Program(named: "setsid")).run(
      ["--wait", SpoolProgram.program.path] + words,
      environment: place.environment.merging(environment) { $1 }, folder: place.folder.path)
  }

  private func protect() throws -> String {
    let file = try secret(Self.words + "\n")
    let result = try detached(["proof", "key", "passphrase", "--new-passphrase-file", file])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    return file
  }

  @Test("a run takes it from a file; without one, or with a wrong one, it does no work at all")
  func files() throws {
    let file = try protect()
    let words = ["run", try pipeline(), try record(), "--out", place.out]
    let without = try detached(words)
    #expect(without.exitCode == 1)
    #expect(without.errorOutput.contains("is protected by a passphrase"), "\(without.errorOutput)")
    #expect(without.errorOutput.contains("help:"))
    let other = try detached(
      words + ["--passphrase-file", try secret("grau ist die Heide", named: "other")])
    #expect(other.exitCode == 1)
    #expect(other.errorOutput.contains("the passphrase is wrong"), "\(other.errorOutput)")
    #expect(place.exports == [])
    #expect(try !place.spool(["runs"]).text.contains("done"))
    let right = try detached(words + ["--passphrase-file", file])
    #expect(right.exitCode == 0, "\(right.errorOutput)")
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
    let loose = try detached(
      words + ["--passphrase-file", place.folder.write(Self.words, to: "loose")])
    #expect(loose.exitCode == 1)
    #expect(loose.errorOutput.contains("chmod 600"), "\(loose.errorOutput)")
    // What needs no signature needs no passphrase.
    let plain = try place.pipeline(
      "pipeline: q\ninputs: { note: sound }\nstages: [decode, export: [flac]]\n", named: "q.yaml")
    #expect(try detached(["run", plain, record(), "--out", place.out]).exitCode == 0)
    #expect(try detached(["proof", "key"]).text.contains("passphrase"))
    #expect(try detached(["proof", "key", "export"]).text.contains("BEGIN PUBLIC KEY"))
  }

  @Test("a watch goes on when the file has the new passphrase of the key")
  func changed() throws {
    let inbox = try WatchedPlace(proof: "{ place: folder }")
    for (name, seconds) in [("one", 0.3), ("two", 0.4)] {
      try Reference.record(inbox.place.file(name + ".wav"), seconds: seconds)
    }
    func protect(_ options: String...) throws {
      let key = try inbox.place.spool(["proof", "key", "passphrase"] + options)
      #expect(key.exitCode == 0, "\(key.errorOutput)")
    }
    try inbox.shell("umask 77; echo rot ist die Heide > old; echo gelb ist die Heide > new")
    try protect("--new-passphrase-file", "old")
    let watch = try inbox.watch(["--passphrase-file", "old"])
    try inbox.shell("cp one.wav inbox")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.errors)")
    try protect("--passphrase-file", "old", "--new-passphrase-file", "new")
    try inbox.shell("cp two.wav inbox")
    #expect(inbox.wait { watch.news.contains { $0.event == "paused" } }, "\(watch.output)")
    try inbox.shell("cat new > old")
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
  }

  @Test("a batch and a service take it from where systemd lays it")
  func credential() throws {
    _ = try protect()
    let folder = place.file("notes")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["a", "b"] { try Reference.record("\(folder)/\(name).wav", seconds: 0.3) }
    let words = ["batch", try pipeline(), folder, "--out", place.out, "--jobs", "2"]
    let without = try detached(words)
    #expect(without.exitCode == 1)
    #expect(without.errorOutput.contains("is protected by a passphrase"))
    #expect(!place.exports.contains("batch.json"), "no file was tried")
    let credentials = place.file("credentials")
    try FileManager.default.createDirectory(
      atPath: credentials, withIntermediateDirectories: true)
    _ = try secret(Self.words, named: "credentials/spool-passphrase")
    let batch = try detached(words, environment: ["CREDENTIALS_DIRECTORY": credentials])
    #expect(batch.exitCode == 0, "\(batch.text)\(batch.errorOutput)")
    #expect(try place.spool(["verify", place.out]).text.contains("2 receipts"))
    let watch = try detached([
      "watch", pipeline(), place.file("notes"), "--out", place.out, "--outbox", place.file("acks"),
    ])
    #expect(watch.exitCode == 1)
    #expect(watch.errorOutput.contains("is protected by a passphrase"), "\(watch.errorOutput)")
  }

  /// What a terminal shows while answers are typed, and the exit code after it.
  private func typed(_ answers: [String], _ words: [String]) throws -> Program.Result {
    let program = """
      import os, pty, sys, time, select
      answers = sys.argv[1].split('|'); words = sys.argv[2:]
      pid, terminal = pty.fork()
      if pid == 0: os.execv(words[0], words)
      shown = b''
      asked = 0
      while True:
          try: block = os.read(terminal, 4096)
          except OSError: break
          if not block: break
          shown += block
          if shown.count(b': ') > asked and shown.endswith(b': ') and asked < len(answers):
              answer = answers[asked]; asked += 1
              os.write(terminal, answer.encode() + (b'' if answer == '\\x03' else b'\\r'))
      status = os.waitpid(pid, 0)[1]
      sys.stdout.buffer.write(shown)
      sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
      """
    return try #require(Program(named: "python3")).run(
      ["-c", program, answers.joined(separator: "|"), SpoolProgram.program.path] + words,
      environment: place.environment, folder: place.folder.path)
  }

  @Test("at a terminal it is asked for once, and nothing of it is shown")
  func terminal() throws {
    let made = try typed([Self.words, Self.words], ["proof", "key", "passphrase"])
    #expect(made.exitCode == 0, "\(made.text)\(made.errorOutput)")
    #expect(made.text.contains("new passphrase of the signing key: "))
    let words = ["run", try pipeline(), try record(), "--out", place.out]
    // A slip and Backspace, over a character of two bytes.
    let run = try typed(["grü\u{7F}\u{7F}rün ist die Heide"], words)
    #expect(run.exitCode == 0, "\(run.text)")
    #expect(run.text.components(separatedBy: "passphrase of the signing key").count == 2)
    #expect(!(made.text + run.text).contains("Heide"))
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
    let wrong = try typed(["grau ist die Heide"], words)
    #expect(wrong.exitCode == 1)
    #expect(wrong.text.contains("the passphrase is wrong"))
    let interrupted = try typed(["\u{3}"], words)
    #expect(interrupted.exitCode == 128 + SIGINT, "\(interrupted.text)")
    let unlike = try typed(
      [Self.words, "new words", "other words"], ["proof", "key", "passphrase"])
    #expect(unlike.exitCode == 1)
    #expect(unlike.text.contains("two different ones were typed"))
    let short = try typed([Self.words, "short", "short"], ["proof", "key", "passphrase"])
    #expect(short.exitCode == 1)
    #expect(short.text.contains("it has 5 bytes"))
    let removed = try typed([Self.words], ["proof", "key", "passphrase", "--remove"])
    #expect(removed.exitCode == 0, "\(removed.text)")
    #expect(try detached(words + ["--replace"]).exitCode == 0)
  }
}
