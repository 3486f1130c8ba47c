import Foundation
import TestSupport
import Testing

@Suite(
  "A bad recording gives one clear error, and nothing half done",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct BadInputTests {
  /// A recording that cannot be used.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let name: String
    let make: @Sendable (String) throws -> Void
  }

  static let cases = [
    Case(testDescription: "an empty file", name: "empty.wav") { try write(Data(), to: $0) },
    Case(testDescription: "a text under the name of a recording", name: "text.m4a") {
      try write(Data(repeating: 0x61, count: 5000), to: $0)
    },
    Case(testDescription: "an M4A that was cut off before its index", name: "cut.m4a") {
      try Reference.record($0 + ".m4a", seconds: 3, coding: ["-c:a", "aac"])
      let whole = try Data(contentsOf: URL(fileURLWithPath: $0 + ".m4a"))
      try FileManager.default.removeItem(atPath: $0 + ".m4a")
      try write(whole.prefix(whole.count / 2), to: $0)
    },
    Case(testDescription: "no sound at all", name: "silent.wav") {
      try Reference.ffmpeg(["-f", "lavfi", "-i", "anullsrc", "-t", "0", $0])
    },
    Case(testDescription: "a codec that nobody knows", name: "unknown.wav") {
      try Reference.record($0, seconds: 1)
      var bytes = try Data(contentsOf: URL(fileURLWithPath: $0))
      // The format tag of the WAV header.
      bytes.replaceSubrange(20..<22, with: [0xEE, 0x7E])
      try write(bytes, to: $0)
    },
    Case(testDescription: "a picture without sound", name: "picture.mp4") {
      try Reference.ffmpeg(["-f", "lavfi", "-i", "testsrc=d=1:s=64x64:r=5", $0])
    },
    Case(testDescription: "a folder", name: "folder.wav") {
      try FileManager.default.createDirectory(atPath: $0, withIntermediateDirectories: false)
    },
    Case(testDescription: "a pipe", name: "pipe.wav") {
      try Reference.output("mkfifo", [$0])
    },
    Case(testDescription: "nothing", name: "absent.wav") { _ in },
  ]

  @Test("it is refused, and the next run is none the worse", arguments: cases)
  func refused(bad: Case) throws {
    let place = try Workspace()
    try bad.make(place.file(bad.name))
    let pipeline = try place.quickPipeline()
    let run = try place.run(pipeline, [place.file(bad.name)])
    // What has no bytes to be read is refused before any run begins.
    let isUnreadable = ["folder.wav", "pipe.wav", "absent.wav"].contains(bad.name)
    #expect(run.exitCode == (isUnreadable ? 2 : 1))
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains(bad.name), "\(complaint)")
    // What changes from run to run, or means nothing to people, is in no error.
    #expect(!run.errorOutput.contains("0x"), "\(complaint)")
    #expect(run.record?.state == (isUnreadable ? nil : "refused"))
    #expect(run.files.isEmpty)
    #expect(place.exports == [])
    try expectGoodRun(place, pipeline)
  }

  @Test(
    "a recording that may not be read is refused",
    .enabled(if: geteuid() != 0, "permissions do not bind root"))
  func notPermitted() throws {
    let place = try Workspace()
    try Reference.record(place.file("private.wav"), seconds: 1)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0], ofItemAtPath: place.file("private.wav"))
    let run = try place.run(try place.quickPipeline(), [place.file("private.wav")])
    #expect(run.exitCode == 1)
    #expect(run.complaint?.why == "Permission denied", "\(run.errorOutput)")
    #expect(place.exports == [])
  }

  @Test("uncommon recordings are not bad ones", arguments: [(8, 48000), (1, 192_000), (6, 8000)])
  func uncommon(channels: Int, rate: Int) throws {
    let place = try Workspace()
    let recording = place.file("uncommon.flac")
    try Reference.record(recording, seconds: 1, rate: rate, channels: channels)
    let pipeline = try place.quickPipeline(formats: "wav, flac")
    let run = try place.run(pipeline, [recording])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    for name in ["uncommon.wav", "uncommon.flac"] {
      let facts = try SoundFacts(of: place.out + "/" + name)
      #expect(facts.channels == channels)
      #expect(facts.sampleRate == rate)
      #expect(facts.frames == rate)
    }
  }

  @Test("a rate that AAC does not have becomes its highest, and stays as it is elsewhere")
  func rateBeyondCodec() throws {
    let place = try Workspace()
    try Reference.record(place.file("fast.wav"), seconds: 1, rate: 192_000)
    let run = try place.run(try place.quickPipeline(), [place.file("fast.wav")])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let rates = ["fast.m4a": 96_000, "fast.wav": 192_000, "fast.alac.m4a": 192_000]
    for (name, rate) in rates {
      #expect(try SoundFacts(of: place.out + "/" + name).sampleRate == rate, "\(name)")
    }
  }

  @Test("mono becomes stereo and stereo becomes mono", arguments: [(1, 2), (2, 1)])
  func channelConversion(from: Int, to: Int) throws {
    let place = try Workspace()
    try Reference.record(place.file("take.wav"), seconds: 1, channels: from)
    let run = try place.run(
      try place.quickPipeline(decode: ", channels: \(to)"), [place.file("take.wav")])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    for name in place.exports {
      #expect(try SoundFacts(of: place.out + "/" + name).channels == to, "\(name)")
    }
    #expect(place.exports.count == 4)
  }

  @Test("a damaged recording is refused, or kept as far as it can be decoded, as the pipeline says")
  func damaged() throws {
    let place = try Workspace()
    let recording = place.file("damaged.flac")
    try Reference.record(recording, seconds: 4, coding: ["-c:a", "flac"])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: recording))
    let middle = bytes.count / 2
    for index in middle..<(middle + 3000) { bytes[index] = 0x55 }
    try Self.write(bytes, to: recording)

    let refusing = try place.run(try place.quickPipeline(), [recording])
    #expect(refusing.exitCode == 1)
    let complaint = try #require(refusing.complaint, "\(refusing.errorOutput)")
    #expect(complaint.what.contains("decode") && complaint.what.contains("damaged.flac"))
    #expect(complaint.next.contains("damaged: keep"), "\(complaint)")
    #expect(!complaint.why.contains("0x"), "\(complaint)")
    #expect(place.exports == [])

    let keeping = try place.run(try place.quickPipeline(decode: ", damaged: keep"), [recording])
    #expect(keeping.exitCode == 0, "\(keeping.errorOutput)")
    #expect(!keeping.warnings.isEmpty)
    let frames = try SoundFacts(of: place.out + "/damaged.wav").frames
    #expect(frames > 44100 && frames <= 4 * 44100)
  }

  @Test(
    "no malformed file makes Spool crash, hang or leave half a file",
    .enabled(if: PackageFiles.sharedData("malformed/flac") != nil, "the shared data is not here"))
  func malformed() throws {
    let folder = try #require(PackageFiles.sharedData("malformed/flac"))
    let place = try Workspace()
    let pipeline = try place.quickPipeline(formats: "wav")
    for name in Workspace.names(in: folder) where name.hasSuffix(".flac") {
      let out = place.file("out-" + name)
      let run = try place.run(pipeline, [folder + "/" + name], ["--out", out])
      if run.exitCode == 0 {
        #expect(Workspace.names(in: out) == [name.dropLast(5) + ".wav"])
      } else {
        #expect(run.exitCode == 1, "\(name): \(run.errorOutput)")
        #expect(run.complaint != nil, "\(name): \(run.errorOutput)")
        #expect(Workspace.names(in: out) == [], "\(name)")
      }
    }
  }

  private func expectGoodRun(_ place: Workspace, _ pipeline: String) throws {
    try Reference.record(place.file("good.wav"), seconds: 1)
    let run = try place.run(pipeline, [place.file("good.wav")])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports.count == 4)
  }

  private static func write(_ bytes: Data, to path: String) throws {
    try bytes.write(to: URL(fileURLWithPath: path))
  }
}
