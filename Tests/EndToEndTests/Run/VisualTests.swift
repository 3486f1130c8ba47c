import Foundation
import TestSupport
import Testing

/// Stages for people who look, and sound without a recording, as a user meets them.
@Suite struct VisualTests {
  @Test func `a field recording leaves pictures and data, and the summary offers the pictures`()
    throws
  {
    let place = try Workspace()
    let result = try place.spool([
      "run", PackageFiles.pipeline("field-recording.yaml"), PackageFiles.sample("take.flac"),
      "--out", place.out,
    ])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(
      place.exports == [
        "take.flac", "take.levels.json", "take.loudness.csv", "take.loudness.png",
        "take.spectrogram.png", "take.waveform-1024.dat", "take.waveform-1024.json",
        "take.waveform-4096.dat", "take.waveform-4096.json", "take.waveform.dat",
        "take.waveform.json", "take.waveform.png",
      ])
    let offer = result.text.split(separator: "\n").first { $0.hasPrefix("look at") }
    #expect(
      offer == "look at  take.waveform.png  take.spectrogram.png  take.loudness.png")
  }

  @Test func `a metronome runs without a recording`() throws {
    let place = try Workspace()
    let pipeline = try place.pipeline(
      """
      pipeline: click-96
      inputs: {}
      stages:
        - click: { tempo: 96 BPM, beats: 3, bars: 4 }
        - export: wav
      """)
    let run = try place.run(pipeline, [])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["click-96.wav"])
    // Four bars of three beats of 0.625 s, three bytes a sample, behind what the file tells.
    let byteCount = try place.export("click-96.wav").count
    #expect((1_080_600..<1_082_000).contains(byteCount))
    #expect(try place.run(pipeline, []).made == [])
  }

  @Test func `a pipeline that wants a recording says so where none is given`() throws {
    let place = try Workspace()
    let run = try place.run(PackageFiles.pipeline("voice-note.yaml"), [])
    #expect(run.exitCode == 2)
    #expect(run.errorOutput.contains("the input \"note\" was not given"))
  }
}
