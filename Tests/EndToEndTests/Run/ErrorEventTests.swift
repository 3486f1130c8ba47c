import Foundation
import TestSupport
import Testing

/// Scripts read standard output: silence there must not be the only sign of a failure.
@Suite("run, resume and batch print every failure as an event")
struct ErrorEventTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private struct Line: Decodable {
    let event: String
    let message: String?
  }

  private func events(_ arguments: [String], code: Int32) throws -> [Line] {
    let result = try place.spool(arguments + ["--json"])
    #expect(result.exitCode == code, "\(result.errorOutput)")
    #expect(!result.errorOutput.isEmpty)
    return try result.text.split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  @Test("of what cannot begin, too")
  func beforeTheStart() throws {
    let pipeline = try place.pipeline("pipeline: p\nstages: [decode, export: [wav]]\n")
    let sound = place.file("a.wav")
    try Reference.record(sound, seconds: 0.3, channels: 1)
    for (arguments, code) in [
      (["run", pipeline, sound, "--out", place.file("no/such")], Int32(1)),
      (["run", place.file("none.yaml"), sound], 2), (["run", pipeline, sound, "--set", "x=1"], 2),
      (["run", pipeline, place.file("none.wav")], 2), (["resume", "nothing"], 1),
    ] {
      let lines = try events(arguments, code: code)
      #expect(lines.map(\.event) == ["error"], "\(arguments)")
      #expect(lines.first?.message?.isEmpty == false)
    }
  }

  @Test("a batch of an empty folder ends, and one of what failed before needs an earlier one")
  func batches() throws {
    let pipeline = try place.pipeline("pipeline: p\nstages: [decode, export: [wav]]\n")
    let folder = place.file("takes")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let empty = try events(["batch", pipeline, folder, "--out", place.out], code: 1)
    #expect(empty.map(\.event) == ["ended", "error"])
    let file = try place.folder.write("a file", to: "file")
    for (arguments, code) in [
      ([place.file("none.yaml"), folder], Int32(2)), ([pipeline, file], 2),
      ([pipeline, place.file("none")], 2), ([pipeline, folder, "--out", file + "/out"], 1),
      ([pipeline, folder, "--out", folder], 2), ([pipeline, folder, "--set", "x=1"], 2),
    ] {
      let refused = try events(["batch"] + arguments, code: code)
      #expect(refused.map(\.event) == ["ended", "error"], "\(arguments)")
    }
    try Reference.record(folder + "/a.wav", seconds: 0.3, channels: 1)
    let storeless = ["batch", pipeline, folder, "--store", place.file("no/store")]
    #expect(try events(storeless, code: 1).map(\.event) == ["ended", "error"])
    let batch = ["batch", pipeline, folder, "--out", place.out]
    let failed = try place.spool(batch + ["--failed"])
    #expect(failed.exitCode == 2)
    #expect(failed.errorOutput.contains("there is no earlier batch of p"), "\(failed.errorOutput)")
    #expect(try place.spool(batch).exitCode == 0)
    #expect(try place.spool(batch + ["--failed"]).exitCode == 0)
    let nothing = try place.spool(["resume", "--json"])
    #expect(nothing.exitCode == 0 && nothing.text == "" && nothing.errorOutput == "")
  }
}
