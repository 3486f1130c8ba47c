internal import Audio
package import Foundation

/// A user's place of work with an inbox that is watched: files come in by real programs, and what
/// became of them is asked of the program itself.
package final class WatchedPlace {
  /// Where everything lies.
  package let place: Workspace
  /// The file of its pipeline.
  package let pipeline: String

  /// Makes one with an empty inbox and a pipeline of few steps.
  /// - Parameters:
  ///   - proof: what its proof stage says; nil for none.
  ///   - delivery: what its deliver stage says; nil for none.
  package init(proof: String? = nil, delivery: String? = nil) throws {
    place = try Workspace()
    pipeline = try place.pipeline(
      """
      pipeline: quick
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
        - normalize: { peak: -3 dB }
        - export: { formats: [wav] }
      """ + (proof.map { "\n  - proof: \($0)" } ?? "")
        + (delivery.map { "\n  - deliver: \($0)" } ?? ""))
    for name in ["inbox", "outbox", "made"] {
      try FileManager.default.createDirectory(
        atPath: place.file(name), withIntermediateDirectories: true)
    }
  }

  /// The inbox.
  package var inbox: String { place.file("inbox") }
  /// The folder for acknowledgements.
  package var outbox: String { place.file("outbox") }

  /// Starts `spool watch --json` and waits until it watches.
  package func watch(
    _ options: [String] = [], environment: [String: String] = [:], isAwaited: Bool = true
  ) throws -> RunningWatch {
    let watch = try RunningWatch(
      try SpoolProgram.program,
      ["watch", pipeline, inbox, "--outbox", outbox, "--json"]
        + (options.contains("--out") ? [] : ["--out", place.out])
        + (options.contains("--settle") ? [] : ["--settle", "300ms"]) + options,
      environment: place.environment.merging(environment) { $1 },
      folder: place.folder.path)
    if isAwaited {
      wait(until: { !watch.isRunning || watch.news.contains { $0.event == "watching" } })
    }
    return watch
  }

  /// Makes a recording outside the inbox, different for each number.
  /// - Returns: its path.
  @discardableResult
  package func make(_ number: Int, seconds: Double = 0.3) throws -> String {
    let path = place.file("made/\(number).wav")
    let format = AudioFormat(sampleRate: Hertz(8000), channelCount: 1)
    let tone = TestSound.sine(
      Hertz(200 + 3 * Double(number)), amplitude: 0.5, format, frames: Int(8000 * seconds))
    try tone.writeWAV(to: path)
    return path
  }

  /// Runs a line of shell in the scratch folder, where the inbox is `inbox` and recordings are in
  /// `made`, to its end.
  /// - Returns: whether it ended well.
  @discardableResult
  package func shell(_ line: String) throws -> Bool {
    guard let shell = Program(named: "bash") else { return false }
    return try shell.run(["-c", line], folder: place.folder.path).exitCode == 0
  }

  /// Begins a line of shell there.
  package func begin(_ line: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", line]
    process.currentDirectoryURL = URL(fileURLWithPath: place.folder.path)
    try process.run()
    return process
  }

  /// Waits until something holds. It gives up only after so long that no busy machine is the reason.
  /// - Returns: whether it does.
  @discardableResult
  package func wait(seconds: Double = 300, until holds: () throws -> Bool) rethrows -> Bool {
    let deadline = Date() + seconds
    while Date() < deadline {
      if try holds() { return true }
      usleep(20_000)
    }
    return try holds()
  }

  /// All notes, as `spool inbox list` knows them.
  package func notes() throws -> [StoredRecording] {
    let result = try place.spool(["inbox", "list", "--limit", "0", "--json"])
    return try result.text.split(separator: "\n").map {
      try JSONDecoder().decode(StoredRecording.self, from: Data($0.utf8))
    }
  }

  /// All that is known of one.
  package func note(_ name: String) throws -> StoredRecording {
    let result = try place.spool(["inbox", "show", name, "--json"])
    return try JSONDecoder().decode(StoredRecording.self, from: result.output)
  }

  /// The acknowledgements in the outbox, by the names of their notes.
  package func acknowledgements() throws -> [String: Acknowledgement] {
    var found: [String: Acknowledgement] = [:]
    for name in Workspace.names(in: outbox) where name.hasSuffix(".ack.json") {
      let data = try Data(contentsOf: URL(fileURLWithPath: outbox + "/" + name))
      found[String(name.dropLast(9))] = try JSONDecoder().decode(Acknowledgement.self, from: data)
    }
    return found
  }

  /// The names of all files beneath a folder, sorted, as paths in it; without receipts and what lies
  /// beside them, of which there is one set for every recording, and without the note of the store that
  /// serves an inbox.
  package static func files(in folder: String) -> [String] {
    let manager = FileManager.default
    let names = manager.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      (try? manager.attributesOfItem(atPath: folder + "/" + name))?[.type] as? FileAttributeType
        != .typeDirectory && !isOfReceipt(name) && name != ".spool-store.json"
    }.sorted()
  }
}

private func isOfReceipt(_ name: String) -> Bool {
  [".receipt.json", ".sha256", ".verify.sh", "spool.pub"].contains { name.hasSuffix($0) }
}

/// A note as `spool inbox --json` shows it: the members that tests look at.
package struct StoredRecording: Decodable, Sendable {
  /// Its name in the store.
  package let key: String
  /// Its device's name for it.
  package let noteId: String?
  /// Its file's name.
  package let file: String
  /// How it stands.
  package let state: String
  /// Why.
  package let reason: String?
  /// The note whose identity it claims.
  package let conflict: String?
  /// The note that sounds the same.
  package let original: String?
  /// What it is called.
  package let title: String?
  /// Where its files are; nil in a list.
  package let files: [File]?

  /// One of its files.
  package struct File: Decodable, Sendable {
    /// What it came for.
    package let role: String
    /// Where it arrived.
    package let path: String
    /// Where it is now.
    package let place: String
  }
}

/// An acknowledgement: the members that tests look at.
package struct Acknowledgement: Decodable, Sendable {
  /// Always `ack`.
  package let type: String
  /// The note's identity.
  package let noteId: String?
  /// How it stands.
  package let status: String
}
