import Foundation
import TestSupport
import Testing

/// A recording and a pipeline for tests in which something goes wrong, and what they give when
/// nothing does.
struct FaultFixture {
  /// Held as bytes, because nothing would delete the files of what all tests share.
  private struct Undisturbed {
    let recording: Data
    let exports: [String: Data]

    init() throws {
      let place = try Workspace()
      try Reference.record(place.file("note.wav"), seconds: 20, rate: 22050, channels: 1)
      recording = try Data(contentsOf: URL(fileURLWithPath: place.file("note.wav")))
      let run = try place.run(
        try place.quickPipeline(formats: "wav, m4a"), [place.file("note.wav")])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      exports = try place.allExports()
      try #require(exports.count == 2)
    }
  }

  private static let undisturbed = Result { try Undisturbed() }

  let place: Workspace
  let pipeline: String
  let recording: String
  /// What the output folder holds in the end, by name.
  let expected: [String: Data]

  init() throws {
    let undisturbed = try Self.undisturbed.get()
    place = try Workspace()
    pipeline = try place.quickPipeline(formats: "wav, m4a")
    recording = place.file("note.wav")
    try undisturbed.recording.write(to: URL(fileURLWithPath: recording))
    expected = undisturbed.exports
  }

  /// Runs the pipeline.
  func run(_ options: [String] = []) throws -> SpoolRun {
    try place.run(pipeline, [recording], options)
  }

  /// Runs it under another program, whose words come first.
  func run(under wrapper: Program, _ words: [String]) throws -> SpoolRun {
    try place.run(pipeline, [recording], under: wrapper, words)
  }

  /// Starts it.
  func start(_ options: [String] = []) throws -> RunningSpool {
    try place.start(pipeline, [recording], options)
  }

  /// Expects that nothing wrong was passed off as right: files are whole or absent, success means
  /// all of them, and a failure is one error in three parts.
  func expectHonesty(of run: SpoolRun, out: String? = nil, _ fault: String) throws {
    let out = out ?? place.out
    let names = Workspace.names(in: out).filter { !$0.hasPrefix(".spool-") }
    for name in names {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: out + "/" + name))
      #expect(bytes == expected[name], "\(fault): \(name) is wrong")
    }
    switch run.exitCode {
    case 0: #expect(names == expected.keys.sorted(), "\(fault): success without all files")
    case 1: #expect(run.complaint != nil, "\(fault): \(run.errorOutput)")
    default: Issue.record("\(fault): exit code \(run.exitCode), \(run.errorOutput)")
    }
  }

  /// Expects that a run without any fault does what is left, cleans up, and gives the same bytes.
  func expectCompletion(
    after fault: String, _ options: [String] = [], out: String? = nil
  ) throws {
    let out = out ?? place.out
    let run = try run(options)
    #expect(run.exitCode == 0, "after \(fault): \(run.errorOutput)")
    #expect(Workspace.names(in: out) == expected.keys.sorted(), "after \(fault)")
    try expectHonesty(of: run, out: out, "after \(fault)")
  }
}
