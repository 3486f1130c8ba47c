import Audio
import Foundation
import TestSupport
import Testing

/// Recordings of one event, brought to one clock by the program.
@Suite struct RecorderTests {
  private static let pipeline = PackageFiles.pipeline("recorders.yaml")
  private static let format = AudioFormat(sampleRate: Hertz(16_000), channelCount: 1)
  private static let event = Event(seconds: 40, seed: 21)
  private static let takes = [
    event.heard(format, seconds: 25, noise: 0.01, seed: 1) { 3 + $0 },
    event.heard(format, seconds: 24, tilt: -4, gain: 0.5, noise: 0.05, seed: 2) {
      5.5 + $0 * (1 - 200e-6)
    },
  ]

  private let place: Workspace
  private let paths: [String]

  init() throws {
    place = try Workspace()
    paths = ["camera.wav", "lapel.wav"].map(place.file)
    for (path, take) in zip(paths, Self.takes) { try take.writeWAV(to: path) }
  }

  @Test("two recorders become one polyphonic file and a picture of their clocks")
  func together() throws {
    let run = try place.run(Self.pipeline, paths)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["camera.recorders.sync.svg", "camera.recorders.wav"])
    let shape = try Reference.output(
      "ffprobe",
      [
        "-v", "error", "-show_entries", "stream=channels,sample_rate", "-of", "csv=p=0",
        place.out + "/camera.recorders.wav",
      ])
    #expect(String(decoding: shape, as: UTF8.self).contains("16000,2"))
    let shown = try place.spool(["runs", "show", "last", "--json"]).text
    #expect(shown.contains("\"agreeing\""), "\(shown)")
    let picture = try String(
      contentsOfFile: place.out + "/camera.recorders.sync.svg", encoding: .utf8)
    #expect(picture.contains("begins at 2.500 s"), "\(picture)")
    #expect(picture.contains("recording 2 (lapel.wav)"), "\(picture)")
  }

  @Test("a recording of something else is refused by name, and nothing is written")
  func stranger() throws {
    let other = place.file("other.wav")
    try Event(seconds: 30, seed: 22).heard(Self.format, seconds: 20, noise: 0.01) { $0 }
      .writeWAV(to: other)
    let run = try place.run(Self.pipeline, paths + [other])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("recording 3 (other.wav) shares no sound with"))
    #expect(place.exports == [])
  }

  @Test("killed anywhere, it gives the same bytes in the end")
  func killed() throws {
    let trial = try place.spool(
      ["pipeline", "crashtest", Self.pipeline] + paths + ["--kills", "5"])
    #expect(trial.exitCode == 0, "\(trial.text)\(trial.errorOutput)")
  }
}
