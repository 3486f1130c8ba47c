import Foundation
import Platform
import TestSupport
import Testing

/// Destinations whose disk is away, that nothing is known of, and what is said of them.
@Suite("Commands about destinations say how these stand")
struct DestinationStandingTests {
  private let place: Workspace
  private let disk: String
  private static let pipeline = "pipeline: kept\nstages: [ decode, { export: [flac] } ]\n"

  init() throws {
    place = try Workspace()
    disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try place.folder.write(
      """
      destinations:
        nas: { folder: \(disk) }
        away: { folder: \(place.file("away")) }

      """, to: "destinations.yaml")
    let pipeline = try place.pipeline(Self.pipeline)
    try Reference.record(place.file("walk.wav"), seconds: 0.3)
    #expect(try place.run(pipeline, [place.file("walk.wav")]).exitCode == 0)
  }

  private var destinations: [String] { ["--destinations", place.file("destinations.yaml")] }

  private func deliver(_ words: [String]) throws -> Program.Result {
    try place.spool(["deliver"] + words + destinations)
  }

  @Test("an empty folder to which files were delivered is that of a disk that is not mounted")
  func unmounted() throws {
    #expect(try deliver(["send", "last", "--to", "nas"]).exitCode == 0)
    let one = try #require(
      FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String }
        .first { $0.hasSuffix(".flac") })
    try FileManager.default.removeItem(atPath: "\(disk)/\(one)")
    let verified = try deliver(["verify", "nas"])
    #expect(verified.exitCode == 4)
    #expect(verified.text.contains("nas: 2 of 3 files read, "), "\(verified.text)")
    #expect(verified.text.contains(": 1 missing"), "\(verified.text)")
    try FileManager.default.removeItem(atPath: disk)
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    for command in ["verify", "check"] {
      let empty = try deliver([command, "nas"])
      #expect(empty.exitCode == 1, "\(command): \(empty.text)")
      #expect(empty.errorOutput.contains("mount its disk"), "\(empty.errorOutput)")
      #expect(!empty.text.contains("missing"), "\(empty.text)")
    }
    #expect(FilePath.names(in: disk) == [])
    let fetched = try deliver(["fetch", "nas", "last", "--out", place.file("back")])
    #expect(fetched.exitCode == 1)
  }

  @Test(
    "an unknown name is a mistake of usage",
    arguments: [
      ["pause", "nosuch"], ["resume", "nosuch"], ["verify", "nosuch"], ["missing", "nosuch"],
      ["check", "nosuch"], ["fetch", "nosuch", "last"], ["link", "last", "--from", "nosuch"],
      ["send", "last", "--to", "nosuch"], ["queue", "--to", "nosuch"], ["retry", "--to", "nosuch"],
    ])
  func unknown(words: [String]) throws {
    let result = try deliver(words)
    #expect(result.exitCode == 2, "\(result.text)")
    #expect(result.errorOutput.contains("there is no destination nosuch"))
  }

  @Test("a destination that was taken out of the file is known while the queue has its files")
  func takenOut() throws {
    #expect(try deliver(["send", "last", "--to", "away", "--deliver-wait", "0"]).exitCode == 0)
    try place.folder.write("destinations: { nas: { folder: \(disk) } }\n", to: "destinations.yaml")
    for words in [["queue", "--to", "away"], ["retry", "--to", "away"]] {
      #expect(try deliver(words).exitCode == 0)
    }
  }

  @Test("a password that stands in the file by mistake is refused, and not shown")
  func shownSecret() throws {
    try place.folder.write(
      """
      destinations:
        nas: { folder: \(disk) }
        web: { webdav: "https://anna:geheim@b.example/x" }
        box: { webdav: https://b.example, password: hunter2 }

      """, to: "destinations.yaml")
    let refused = try deliver(["destinations"])
    #expect(refused.exitCode != 0 && refused.errorOutput.contains("destinations.yaml:4:"))
    let all = refused.text + refused.errorOutput
    #expect(!all.contains("hunter2") && !all.contains("geheim"), "\(all)")
  }

  /// Hours that begin in three hours.
  private static var otherHours: String {
    let hour = Calendar.current.component(.hour, from: Date())
    return String(format: "%02d:00-%02d:00", (hour + 3) % 24, (hour + 4) % 24)
  }

  /// Writes the usual file of destinations.
  /// - Returns: the environment in which it is found.
  private func configure(_ destinations: String) throws -> [String: String] {
    try FileManager.default.createDirectory(
      atPath: place.file("config/spool"), withIntermediateDirectories: true)
    try place.folder.write(
      "destinations: { \(destinations) }\n", to: "config/spool/destinations.yaml")
    return ["XDG_CONFIG_HOME": place.file("config")]
  }

  @Test("what waits for its hours is said to, and no command is offered that would send nothing")
  func hours() throws {
    let environment = try configure("nas: { folder: \(disk), hours: \"\(Self.otherHours)\" }")
    let sent = try place.spool(
      ["deliver", "send", "last", "--to", "nas", "--deliver-wait", "0"], environment: environment)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    let status = try place.spool(["status"], environment: environment)
    #expect(status.text.contains("waits for its hours, which begin at"), "\(status.text)")
    #expect(!status.text.contains("spool deliver run"), "\(status.text)")
    let json = try place.spool(["status", "--json"], environment: environment).text
    #expect(json.contains("\"hours\":\"waits for its hours"), "\(json)")
    let queue = try place.spool(["deliver", "queue"], environment: environment)
    #expect(queue.text.contains("in its hours") && !queue.text.contains("due now"), "\(queue.text)")
    // A command does not wait for hours, and offers none that would send nothing.
    let began = Date()
    let waited = try place.spool(
      ["deliver", "send", "last", "--to", "nas", "--deliver-wait", "600s"], environment: environment
    )
    #expect(Date().timeIntervalSince(began) < 300 && waited.exitCode == 0)
    #expect(waited.errorOutput.contains("it waits for its hours"), "\(waited.errorOutput)")
    #expect(!waited.errorOutput.contains("deliver run"), "\(waited.errorOutput)")
    let retried = try place.spool(["deliver", "retry"], environment: environment)
    #expect(!(retried.text + retried.errorOutput).contains("deliver run"), "\(retried.text)")
    // Nothing has failed.
    let once = try place.spool(["deliver", "run", "--once"], environment: environment)
    #expect(once.exitCode == 0, "\(once.errorOutput)")
    #expect(once.errorOutput.contains("not sent: it waits for its hours"), "\(once.errorOutput)")
  }

  @Test("what waits for its hours is no success of a command that could deliver nothing")
  func nothingDelivered() throws {
    let environment = try configure(
      "nas: { folder: \(disk), hours: \"\(Self.otherHours)\" }, gone: { folder: \(disk)/none }")
    let sent = try place.spool(
      ["deliver", "send", "last", "--to", "nas", "--to", "gone", "--deliver-wait", "0"],
      environment: environment)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    let once = try place.spool(["deliver", "run", "--once"], environment: environment)
    #expect(once.exitCode == 1, "\(once.errorOutput)")
  }

  @Test("what is missing is offered to be sent while all of its files are here")
  func offered() throws {
    #expect(try deliver(["missing", "nas"]).errorOutput.contains("next:  spool deliver send "))
    try FileManager.default.removeItem(atPath: place.out)
    let gone = try deliver(["missing", "nas"])
    #expect(gone.text.contains("walk.wav") && gone.errorOutput.isEmpty, "\(gone.errorOutput)")
  }

  @Test("what is held is said to be held, and what was no recording is no loss")
  func heldAndRefused() throws {
    try place.folder.write(#"{"sensitive": true}"#, to: "walk.json")
    #expect(try deliver(["send", "last", "--to", "nas", "--deliver-wait", "0"]).exitCode == 0)
    let held = try deliver(["missing", "nas"])
    #expect(held.text.contains("held: it is marked as sensitive"), "\(held.text)")
    #expect(held.errorOutput.contains("next:  spool deliver release "), "\(held.errorOutput)")

    try place.folder.write("garbage that is no sound", to: "broken.wav")
    let failed = try place.spool(
      ["run", try place.pipeline(Self.pipeline), place.file("broken.wav"), "--out", place.out])
    #expect(failed.exitCode == 1, "\(failed.errorOutput)")
    #expect(try deliver(["missing", "nas"]).text.contains("broken.wav"))
    try FileManager.default.removeItem(atPath: place.file("broken.wav"))
    #expect(try !deliver(["missing", "nas"]).text.contains("broken.wav"))
  }

  @Test("a list without files says which there are none of")
  func none() throws {
    #expect(try deliver(["queue", "--state", "held"]).text == "no file is held\n")
    #expect(try deliver(["queue", "--state", "failed"]).text == "no file has failed\n")
  }

  @Test(
    "the date in a path is that of the names of exports, and the document keeps it as it was written",
    arguments: [
      ("1987-05", "1987-05"), ("2001", "2001"), ("1987-05-45", "1987-05"), (nil, "undated"),
      ("soon", "undated"), ("1974-02-01T09:30:00+01:00", "1974-02-01"),
    ])
  func dates(written: String?, folder: String) throws {
    if let written {
      try place.folder.write("{\"createdAt\": \"\(written)\"}", to: "walk.json")
    }
    #expect(try deliver(["send", "last", "--to", "nas"]).exitCode == 0)
    #expect(FilePath.names(in: disk) == [folder])
    let names = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    let document = try #require(names.first { $0.hasSuffix(".recording.json") })
    let text = try String(contentsOfFile: "\(disk)/\(document)", encoding: .utf8)
    let member = written == "soon" ? nil : written.map { "\"createdAt\":\"\($0)\"" }
    #expect(member.map(text.contains) ?? !text.contains("createdAt"), "\(text)")
    // An inbox names its folders alike.
    let inbox = try WatchedPlace(delivery: "{ to: nas }")
    try inbox.make(1)
    let watch = try inbox.watch(["--name", "{date}"] + destinations)
    if let written {
      try inbox.place.folder.write("{\"createdAt\": \"\(written)\"}", to: "inbox/stroll.json")
    }
    try inbox.shell("cp made/1.wav inbox/stroll.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    #expect(FilePath.names(in: disk) == [folder])
    #expect(FilePath.names(in: inbox.place.out).contains("\(folder).wav"))
  }

  @Test("a file that was renamed is found where the store knows the same bytes")
  func renamed() throws {
    let original = ["--what", "original"]
    let queued = try deliver(["send", "last", "--to", "away", "--deliver-wait", "0"] + original)
    #expect(queued.exitCode == 0)
    try FileManager.default.moveItem(
      atPath: place.file("walk.wav"), toPath: place.file("stroll.wav"))
    try FileManager.default.createDirectory(
      atPath: place.file("away"), withIntermediateDirectories: false)
    let lost = try deliver(["run", "--once"])
    #expect(lost.exitCode != 0)
    let again = try place.run(place.file("pipeline.yaml"), [place.file("stroll.wav")])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(try deliver(["retry"]).exitCode == 0)
    let sent = try deliver(["run", "--once"])
    #expect(sent.exitCode == 0, "\(sent.text)\(sent.errorOutput)")
  }

  @Test("who sends by hand has a destination looked at at once that is held")
  func once() throws {
    #expect(try deliver(["send", "last", "--to", "away", "--deliver-wait", "1s"]).exitCode == 0)
    let held = try deliver(["run", "--once"])
    #expect(held.exitCode == 1)
    #expect(try deliver(["queue"]).text.contains("if it is on no other disk, make the folder"))
    try FileManager.default.createDirectory(
      atPath: place.file("away"), withIntermediateDirectories: false)
    let sent = try deliver(["run", "--once"])
    #expect(sent.exitCode == 0, "\(sent.text)\(sent.errorOutput)")
  }

  @Test(
    "what nothing sends is said so, with the command that sends it, its file of destinations named")
  func unsent() throws {
    #expect(try deliver(["send", "last", "--to", "away", "--deliver-wait", "0"]).exitCode == 0)
    let line = "spool deliver run --once --destinations \(place.file("destinations.yaml"))"
    let status = try place.spool(["status"]).text
    #expect(status.contains(line) && status.contains("nothing sends now"), "\(status)")
    let retried = try place.spool(["deliver", "retry"])
    #expect(retried.exitCode == 0 && retried.text.contains("nothing sends now"), "\(retried.text)")
    #expect(retried.errorOutput.contains(line), "\(retried.errorOutput)")
    try FileManager.default.createDirectory(
      atPath: place.file("away"), withIntermediateDirectories: false)
    #expect(try deliver(["run", "--once"]).exitCode == 0)
    #expect(!(try place.spool(["status"]).text.contains("deliver run")))
  }

  @Test("a file that names no destination is named by a check")
  func commented() throws {
    try place.folder.write("destinations: {}\n", to: "destinations.yaml")
    let checked = try deliver(["check"])
    #expect(checked.exitCode == 2)
    #expect(
      checked.errorOutput.contains("destinations.yaml names none")
        && !checked.errorOutput.contains("deliver new"), "\(checked.errorOutput)")
  }

  @Test("a document states the length of the recording, whatever its stages leave of it")
  func length() throws {
    try Reference.record(place.file("talk.wav"), seconds: 3)
    let pipeline = try place.pipeline(
      """
      pipeline: cut
      stages:
        - decode
        - trim: { start: 1 s, end: 2 s }
        - normalize: { loudness: -20 LUFS }
        - export: [flac]
        - deliver: { to: nas, what: [original] }

      """)
    for loudness in ["-20", "-21"] {
      let changed = try place.pipeline(
        try String(contentsOfFile: pipeline, encoding: .utf8).replacing("-20", with: loudness))
      let run = try place.run(changed, [place.file("talk.wav")] + destinations)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
    }
    let sent = try deliver(["send", "last", "--to", "nas"])
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    let names = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    let documents = names.filter { $0.contains(".recording") }
    #expect(documents.count == 2, "\(names)")
    for name in documents {
      let text = try String(contentsOfFile: "\(disk)/\(name)", encoding: .utf8)
      #expect(text.contains("\"durationMs\":3000"), "\(text)")
    }
  }

  @Test("a copy of a sensitive recording is held too, and what is held is no failure")
  func copied() throws {
    try place.folder.write(#"{"sensitive": true}"#, to: "walk.json")
    #expect(try deliver(["send", "last", "--to", "nas"]).exitCode != 1)
    try FileManager.default.createDirectory(
      atPath: place.file("other"), withIntermediateDirectories: false)
    try FileManager.default.copyItem(
      atPath: place.file("walk.wav"), toPath: place.file("other/found.wav"))
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [flac] }, { deliver: { to: nas } } ]\n")
    let run = try place.run(pipeline, [place.file("other/found.wav")] + destinations)
    #expect(run.exitCode == 0 && run.errorOutput.contains("held"), "\(run.errorOutput)")
    let converted = try place.spool(
      ["convert", place.file("walk.wav"), "-o", place.file("other/same.flac")])
    #expect(converted.exitCode == 0, "\(converted.errorOutput)")
    let same = try place.run(pipeline, [place.file("other/same.flac")] + destinations)
    #expect(same.exitCode == 0 && same.errorOutput.contains("held"), "\(same.errorOutput)")
    let sent = try deliver(["run", "--once"])
    #expect(sent.exitCode == 0 && sent.errorOutput.contains("held"), "\(sent.errorOutput)")
    #expect(FilePath.names(in: disk) == [])
    #expect(try place.spool(["deliver", "release", "found.wav"]).exitCode == 0)
    #expect(try deliver(["run", "--once"]).exitCode == 0)
    #expect(FilePath.names(in: disk) == ["undated"])
  }

  @Test("a batch whose files are all done sends what an earlier one has left")
  func again() throws {
    try FileManager.default.createDirectory(
      atPath: place.file("tapes"), withIntermediateDirectories: false)
    try FileManager.default.moveItem(
      atPath: place.file("walk.wav"), toPath: place.file("tapes/walk.wav"))
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [flac] }, { deliver: { to: away } } ]\n")
    let batch =
      ["batch", pipeline, place.file("tapes"), "--out", place.file("made")] + destinations
    #expect(try place.spool(batch + ["--deliver-wait", "0"]).exitCode == 0)
    let waiting = try place.spool(batch + ["--deliver-wait", "0"])
    #expect(waiting.errorOutput.contains("for away"), "\(waiting.text)\(waiting.errorOutput)")
    try FileManager.default.createDirectory(
      atPath: place.file("away"), withIntermediateDirectories: false)
    let sent = try place.spool(batch)
    #expect(sent.text.contains("1 reused") || sent.errorOutput.contains("1 reused"))
    #expect(FilePath.names(in: place.file("away")) == ["undated"], "\(sent.errorOutput)")
    #expect(try deliver(["queue"]).text.contains("nothing is on its way"))
  }
}
