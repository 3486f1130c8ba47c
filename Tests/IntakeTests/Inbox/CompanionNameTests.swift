import Foundation
import Glibc
@testable import Intake
import Platform
import Store
import TestSupport
import Testing

@Suite("What came with a recording lies beside it, and the newest of it under its name")
struct CompanionNameTests {
  private let bench: ProcessorBench
  private let store: DiskStore
  private let processor: InboxProcessor

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
    processor = try bench.processor(store)
  }

  /// Takes in a recording with files beside it, by their names.
  private func receive(
    _ sound: String, as name: String = "ben.wav", sidecar: String? = nil,
    with texts: [String: String] = [:], refusal: String? = nil
  ) throws -> Recording {
    let arrived = try bench.drop(sound, as: name)
    let paths = try texts.map { name, text in
      let path = try #require(InboxPath(name))
      try bench.write(text, to: path)
      return path
    }
    let intake = try processor.takeIn(
      StableRecording(
        path: arrived.path, stamp: arrived.stamp, sidecar: sidecar.flatMap { InboxPath($0) },
        nameCount: 1, transcripts: paths.filter { $0.description != sidecar }), refusal: refusal)
    return try #require(intake.recording)
  }

  /// Processes a recording, and releases its files.
  private func finish(_ recording: Recording, with processor: InboxProcessor? = nil) throws {
    let processor = processor ?? self.processor
    try bench.process(recording.key, with: processor)
    #expect(processor.settle().problems.isEmpty)
  }

  /// Attaches a text that came by itself.
  private func attach(_ text: String, _ name: String = "ben.txt") throws {
    let path = try #require(InboxPath(name))
    // Written as programs do, so that it is another file.
    try bench.write(text, to: try #require(InboxPath("new")))
    #expect(unsafe rename(bench.inbox + "/new", bench.inbox + "/" + name) == 0)
    let outcome = try processor.takeTranscript(at: path, stamp: try bench.stamp(of: path))
    _ = try #require(outcome.attached)
  }

  /// A recording that is done with a text that came when it was quarantined with another.
  private func correct(_ sound: String, as name: String, _ text: String) throws {
    let recording = try receive(sound, as: name, with: [text: "slip"], refusal: "it is wrong")
    _ = processor.settle()
    try attach("right", text)
    _ = processor.settle()
    _ = try store.recordings.change(recording.key, .retry(reason: nil))
    try finish(recording)
  }

  /// The files in a folder with their texts.
  private func texts(_ folder: String) throws -> [String: String] {
    let path = folder.hasPrefix("/") ? folder : bench.inbox + "/" + folder
    return Dictionary(
      uniqueKeysWithValues: try bench.files(in: path).filter { !$0.hasSuffix(".reason.json") }
        .map { ($0, try String(contentsOfFile: path + "/" + $0, encoding: .utf8)) })
  }

  @Test(
    "a text that comes when an earlier one is in quarantine gets the recording's name there",
    arguments: [nil, true, false])
  func quarantined(killedAfterMove: Bool?) throws {
    let recording = try receive("sound", with: ["ben.txt": "slip"], refusal: "it is wrong")
    _ = processor.settle()
    #expect(try texts("quarantine") == ["ben.txt": "slip", "ben.wav": "sound"])
    if let killedAfterMove {
      // The watch was killed when it had made way for a newer text.
      let file = try #require(
        try store.recordings.files(of: recording.key).first { $0.role == .transcript })
      try store.recordings.plan(file, target: "quarantine/ben (2).txt")
      let folder = bench.inbox + "/quarantine"
      if killedAfterMove {
        #expect(unsafe rename(folder + "/ben.txt", folder + "/ben (2).txt") == 0)
      }
    }
    try attach("right")
    #expect(processor.settle().problems.isEmpty)
    #expect(
      try texts("quarantine") == ["ben (2).txt": "slip", "ben.txt": "right", "ben.wav": "sound"])
    let files = try store.recordings.files(of: recording.key).filter { $0.role == .transcript }
    #expect(files.map(\.location) == ["quarantine/ben (2).txt", "quarantine/ben.txt"])
    #expect(files.allSatisfy { $0.target == nil })
    try attach("better")
    _ = processor.settle()
    #expect(try texts("quarantine")["ben.txt"] == "better")
    _ = try store.recordings.change(recording.key, .retry(reason: nil))
    try finish(recording)
    #expect(try texts("quarantine") == [:])
    let accepted = try texts("accepted")
    #expect(accepted.count == 4 && accepted["ben.txt"] == "better", "\(accepted)")
  }

  @Test("a recording that comes again does not lie beside what came with the first")
  func besideOthers() throws {
    try finish(try receive("sound", with: ["ben.txt": "old"]))
    let folder = bench.inbox + "/accepted"
    // A person has taken the recording away, and delivers it with another text.
    try FileManager.default.removeItem(atPath: folder + "/ben.wav")
    try finish(try receive("other sound", with: ["ben.txt": "new"]))
    #expect(
      try texts("accepted")
        == ["ben (2).txt": "new", "ben (2).wav": "other sound", "ben.txt": "old"])
  }

  @Test("a text that was corrected by hand in quarantine keeps its name")
  func corrected() throws {
    _ = try receive("sound", with: ["ben.txt": "slip"], refusal: "it is wrong")
    _ = processor.settle()
    let path = bench.inbox + "/quarantine/ben.txt"
    try "corrected".write(toFile: path, atomically: true, encoding: .utf8)
    try attach("right")
    _ = processor.settle()
    #expect(
      try texts("quarantine")
        == ["ben (2).txt": "right", "ben.txt": "corrected", "ben.wav": "sound"])
  }

  @Test("what came with the second of a name has the number of that, whatever its own name")
  func numbered() throws {
    try finish(try receive("one"))
    let sidecar = #"{"title":"Ben"}"#
    try finish(
      try receive(
        "two", sidecar: "ben_meta.json",
        with: ["ben_meta.json": sidecar, "ben.txt": "said", "ben.wav.srt": "captions"]))
    #expect(
      try texts("accepted") == [
        "ben (2).txt": "said", "ben (2).wav": "two", "ben (2).wav.srt": "captions",
        "ben (2)_meta.json": sidecar, "ben.wav": "one",
      ])
  }

  @Test("an earlier text of one recording never lies beside another one, nor that beside it")
  func earlierText() throws {
    try correct("one", as: "ben.wav", "ben.txt")
    #expect(try texts("accepted")["ben (2).txt"] == "slip")
    try finish(try receive("two", with: ["ben.txt": "second"]))
    var accepted = [
      "ben (2).txt": "slip", "ben.txt": "right", "ben.wav": "one", "ben (3).txt": "second",
      "ben (3).wav": "two",
    ]
    #expect(try texts("accepted") == accepted)
    // As when they are given back.
    let folder = bench.path + "/back"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for recording in try store.recordings.matching(RecordingQuery()).sorted(by: {
      $0.receivedAt < $1.receivedAt
    }) {
      for isNew in [true, false] {
        let written = try store.writeOriginals(of: recording, to: folder)
        #expect(written.allSatisfy { $0.isNew == isNew })
      }
    }
    #expect(try texts(folder) == accepted)

    // A recording of the number is there before.
    try finish(try receive("three", as: "amy (2).wav"))
    try correct("four", as: "amy.wav", "amy.txt")
    try correct("five", as: "amy.wav", "amy.txt")
    accepted.merge([
      "amy (2).wav": "three", "amy.wav": "four", "amy.txt": "right", "amy (3).txt": "slip",
      "amy (4).wav": "five", "amy (4).txt": "right", "amy (4) (2).txt": "slip",
    ]) { $1 }
    #expect(try texts("accepted") == accepted)
  }

  @Test("it waits for its recording, if that cannot be moved just now")
  func late() throws {
    try finish(try receive("one"))
    let second = try receive("two", with: ["ben.txt": "said"])
    let hook: FolderCallHook = { @Sendable (call) throws(SystemError) in
      if case .move(InboxPath("ben.wav"), _) = call { throw SystemError(EIO) }
    }
    let failing = try bench.processor(store, hooks: [hook])
    try bench.process(second.key, with: failing)
    for count in [1, 1] { #expect(failing.settle().problems.count == count) }
    #expect(try texts("accepted") == ["ben.wav": "one"])
    _ = processor.settle()
    #expect(
      try texts("accepted")
        == ["ben (2).txt": "said", "ben (2).wav": "two", "ben.wav": "one"])
  }
}
