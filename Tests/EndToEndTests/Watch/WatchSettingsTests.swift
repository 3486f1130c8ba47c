import Foundation
import TestSupport
import Testing

/// What a watch refuses to begin with.
@Suite("A watch checks its settings before it begins")
struct WatchSettingsTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  private func watch(_ arguments: [String]) throws -> Program.Result {
    try place.spool(["watch"] + arguments)
  }

  @Test(
    "exports, acknowledgements or a store in the inbox would be processed for ever",
    arguments: ["--out", "--outbox", "--store"])
  func loops(option: String) throws {
    let result = try watch(["pipeline.yaml", "inbox", option, "inbox/results"])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("lies in the inbox"))
  }

  @Test("a missing inbox is named, with what to type")
  func missing() throws {
    let result = try watch(["pipeline.yaml", "nowhere/at all"])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("mkdir -p '\(place.file("nowhere/at all"))'"))
  }

  @Test("a file of settings has all its problems reported, each with its place")
  func problems() throws {
    _ = try place.folder.write(
      """
      inboxes:
        - inbox: inbox
          pipeline: pipeline.yaml
          keep: mov
          settle: soon
          retry: { attempts: 0, jitter: 110 % }
        - inbox: gone
          pipeline: absent.yaml
        - inbox: inbox/sub
          pipline: pipeline.yaml
      job: 3
      drain: never
      """, to: "watch.yaml")
    let result = try watch(["--config", "watch.yaml"])
    #expect(result.exitCode == 2)
    for place in ["4:11", "5:13", "6:24", "6:35", "7:12", "8:15", "10:5", "11:1", "12:8"] {
      #expect(
        result.errorOutput.contains("watch.yaml:\(place): "), "\(place) \(result.errorOutput)")
    }
    #expect(result.errorOutput.contains("did you mean \"pipeline\"?"))
    #expect(result.errorOutput.contains("did you mean \"move\"?"))
  }

  @Test("a wrong value in set: is told at its own line, and nothing at the pipeline's")
  func overrides() throws {
    _ = try place.folder.write(
      """
      pipeline: p
      vars: { loudness: -16 LUFS, level: 0 dB }
      stages:
        - decode
        - normalize: $loudness
        - gain: $level
        - export: wav
      """, to: "mine.yaml")
    _ = try place.folder.write(
      """
      inboxes:
        - inbox: inbox
          pipeline: mine.yaml
          set:
            level: 2 dB
            loudness: -16 dB
            loudnes: -18 LUFS
      """, to: "watch.yaml")
    let result = try watch(["--config", "watch.yaml"])
    #expect(result.exitCode == 2)
    let lines = result.errorOutput.split(separator: "\n").filter { $0.contains("error: ") }
    #expect(
      lines == [
        "watch.yaml:6:7: error: loudness of normalize takes LUFS, not \"dB\"",
        "watch.yaml:7:7: error: the pipeline has no variable \"loudnes\" to set",
      ], "\(result.errorOutput)")
    #expect(result.errorOutput.contains("did you mean \"loudness\"?"), "\(result.errorOutput)")
  }

  @Test("the sample that comes with the service is served, once its folders are made as it says")
  func sample() throws {
    let text = try String(
      contentsOfFile: PackageFiles.pipeline("../Packaging/watch.yaml"), encoding: .utf8)
    let unit = try String(
      contentsOfFile: PackageFiles.pipeline("../Packaging/spool-watch@.service"), encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.contains("install -d") })
    let folders = line.split(separator: " ").filter { $0.hasPrefix("/srv/spool") }
    #expect(unit.contains("\nStateDirectory=spool spool/%i\n"))
    #expect(unit.contains("\nReadWritePaths=-/srv/spool\n"))
    // Time stamps need the network: it is taken away by hand only.
    #expect(!unit.contains("\nPrivateNetwork="))
    for folder in folders {
      try FileManager.default.createDirectory(
        atPath: place.folder.path + folder, withIntermediateDirectories: true)
    }
    _ = try place.folder.write(
      text.replacingOccurrences(of: "/srv/spool", with: place.folder.path + "/srv/spool"),
      to: "watch.yaml")
    let watch = try RunningWatch(
      try SpoolProgram.program, ["watch", "--config", "watch.yaml", "--json"],
      environment: place.environment, folder: place.folder.path)
    try inbox.make(1, seconds: 1)
    try inbox.shell("cp made/1.wav srv/spool/inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(
      Workspace.names(in: place.file("srv/spool/out")) == ["1.alac.m4a", "1.m4a", "1.wav"])
    #expect(!Workspace.names(in: place.file("srv/spool/acks")).isEmpty)
  }

  @Test("inboxes that lie in one another are refused")
  func overlap() throws {
    try FileManager.default.createDirectory(
      atPath: place.file("inbox/sub"), withIntermediateDirectories: true)
    _ = try place.folder.write(
      """
      inboxes:
        - { inbox: inbox, pipeline: pipeline.yaml }
        - { inbox: inbox/sub, pipeline: pipeline.yaml }
      """, to: "watch.yaml")
    let result = try watch(["--config", "watch.yaml"])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("watch.yaml:3:14: "))
    #expect(result.errorOutput.contains("lie in one another"))
  }

  @Test("several inboxes of one file are watched, each with its own pipeline and folders")
  func several() throws {
    try inbox.make(1)
    try inbox.make(2)
    try FileManager.default.createDirectory(
      atPath: place.file("second"), withIntermediateDirectories: true)
    let text = try String(contentsOfFile: place.file("pipeline.yaml"), encoding: .utf8)
    _ = try place.pipeline(
      text.replacing("[wav]", with: "[flac]").replacing("quick", with: "other"),
      named: "other.yaml")
    _ = try place.folder.write(
      """
      jobs: 1
      inboxes:
        - { inbox: inbox, pipeline: pipeline.yaml, out: out, settle: 300 ms }
        - { inbox: second, pipeline: other.yaml, out: out2, outbox: box2, settle: 300 ms, keep: leave }
      """, to: "watch.yaml")
    let watch = try RunningWatch(
      try SpoolProgram.program, ["watch", "--config", "watch.yaml", "--json"],
      environment: place.environment, folder: place.folder.path)
    try inbox.shell("cp made/1.wav inbox/; cp made/2.wav second/")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.errors)")
    #expect(WatchedPlace.files(in: place.out) == ["1.wav"])
    #expect(WatchedPlace.files(in: place.file("out2")) == ["2.flac"])
    #expect(inbox.wait { WatchedPlace.files(in: place.file("inbox")) == ["accepted/1.wav"] })
    #expect(WatchedPlace.files(in: place.file("second")) == ["2.wav"])
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }
}
