import Foundation
import TestSupport
import Testing

@Suite(
  "A file of hundreds of gigabytes",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct LongFileTests {
  private let place: Workspace
  private let pipeline: String

  init() throws {
    place = try Workspace()
    pipeline = try place.quickPipeline(formats: "wav")
  }

  /// A sparse file that begins and ends with these bytes. To read it takes many minutes.
  private func sparse(_ name: String, beginning bytes: Data = Data()) throws -> String {
    let path = place.file(name)
    try FileManager.default.createDirectory(
      atPath: place.file("tapes"), withIntermediateDirectories: true)
    try bytes.write(to: URL(fileURLWithPath: path))
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: 2 << 40)
    try file.seekToEnd()
    try file.write(contentsOf: bytes)
    try file.close()
    return path
  }

  /// The head of a WAV file whose length was never filled in, as programs write it into a pipe.
  private var head: Data {
    var bytes = Data("RIFF".utf8) + Data([0xff, 0xff, 0xff, 0xff]) + Data("WAVEfmt ".utf8)
    bytes += Data([16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0xbb, 0, 0, 0, 0x77, 1, 0, 2, 0, 16, 0])
    return bytes + Data("data".utf8) + Data([0xff, 0xff, 0xff, 0xff])
  }

  @Test("is read no further than its head where it is no recording")
  func noRecording() throws {
    let path = try sparse("tapes/tape.wav")
    let running = try place.start(pipeline, [path])
    let (run, _) = try running.end()
    #expect(run.exitCode == 1)
    let reason = "nothing was written into the room that is reserved for it"
    #expect(run.complaint?.why.contains(reason) == true, "\(run.errorOutput)")
    let batch = try place.spool([
      "batch", pipeline, place.file("tapes"), "--out", place.out, "--json",
    ])
    #expect(batch.exitCode == 1)
    #expect(batch.text.contains(reason), "\(batch.text)")
    let quick = try place.spool(["convert", path, "-o", place.file("o.flac")])
    #expect(quick.exitCode == 1)
    for output in [batch.text, quick.text] { #expect(!output.contains("hashing")) }
  }

  @Test(
    "tells how much of it is read to identify it, and is left at once at a signal",
    arguments: [(SIGINT, "INT"), (SIGTERM, "TERM")])
  func signal(number: Int32, name: String) throws {
    let path = try sparse("tape.wav", beginning: head)
    let env = try #require(Program(named: "env"))
    let running = try place.start(pipeline, [path], under: env, ["--default-signal=\(name)"])
    try #require(try running.waits(for: #""event":"hashing""#))
    running.send(number)
    let (run, seconds) = try running.end()
    #expect(run.exitCode == 128 + number, "\(run.errorOutput)")
    #expect(seconds < 2.2)
  }

  @Test("is left at once by a batch that only plans")
  func batch() throws {
    _ = try sparse("tapes/tape.wav", beginning: head)
    let running = try place.start([
      "batch", pipeline, place.file("tapes"), "--out", place.out, "--json",
    ])
    try #require(try running.waits(for: #""event":"hashing""#))
    running.send(SIGTERM)
    let (run, seconds) = try running.end()
    #expect(run.exitCode == 128 + SIGTERM, "\(run.errorOutput)")
    #expect(seconds < 2.2)
  }
}
