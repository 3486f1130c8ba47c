import Audio
import Foundation
import TestSupport
import Testing

@Suite(
  "What is played are the samples of the sound",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct PlayTests {
  private let place: Workspace
  private let capture: SoundCapture

  init() throws {
    place = try Workspace()
    capture = try SoundCapture(place)
  }

  /// Noise as a WAV file of floats.
  private func noise(
    _ name: String, rate: Double = 48_000, channels: Int = 2, frames: Int = 30_000,
    amplitude: Float = 0.25, seed: UInt64 = 1
  ) throws -> (path: String, sound: TestSound) {
    let sound = TestSound.noise(
      amplitude: amplitude, seed: seed,
      AudioFormat(sampleRate: Hertz(rate), channelCount: channels), frames: frames)
    try sound.writeWAV(to: place.file(name))
    return (place.file(name), sound)
  }

  private func pipeline() throws -> String {
    try place.pipeline(
      """
      pipeline: heard
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
        - compress: { threshold: -20 dB, ratio: 3 }
        - normalize: { loudness: -16 LUFS }
        - measure
        - export: { formats: [wav], wav: { bits: float } }
        - export: { formats: [wav], wav: { bits: float }, name: "{stem}.eq" }
          from: eq
      """)
  }

  @Test(
    "of any rate", arguments: [(44_100.0, 1), (44_100, 2), (48_000, 2), (96_000, 1), (8000, 2)])
  func formats(rate: Double, channels: Int) throws {
    let (path, sound) = try noise("a.wav", rate: rate, channels: channels)
    let result = try capture.play([path])
    #expect(result.exitCode == 0 && result.errorOutput == "", "\(result.errorOutput)")
    #expect(result.text.hasPrefix("a.wav  "), "\(result.text)")
    #expect(capture.heard == sound.interleaved)
  }

  @Test("of 16 bits, and what is compressed as ffmpeg decodes it")
  func decoded() throws {
    let (path, _) = try noise("a.wav", rate: 44_100, frames: 60_000)
    for name in ["b.wav", "b.flac", "b.m4a"] {
      let bits = name == "b.wav" ? ["-c:a", "pcm_s16le"] : []
      try Reference.ffmpeg(["-i", path] + bits + [place.file(name)])
      #expect(try capture.play([place.file(name)]).exitCode == 0)
      var decoded = try Reference.floats(of: place.file(name))
      // ffmpeg gives what fills the last packet of AAC.
      if name == "b.m4a" { decoded.removeLast(max(0, decoded.count - capture.heard.count)) }
      #expect(capture.heard == decoded, "\(name)")
    }
  }

  @Test("of a cut-off file what is there, and then what is missing")
  func cutOff() throws {
    let (path, _) = try noise("a.wav", rate: 44_100, frames: 60_000)
    try Reference.ffmpeg(["-i", path, place.file("b.flac")])
    let whole = try Data(contentsOf: URL(fileURLWithPath: place.file("b.flac")))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: place.file("cut.flac")))
    let result = try capture.play([place.file("cut.flac")])
    #expect(result.exitCode == 0)
    #expect(result.errorOutput.hasPrefix("warning: cut.flac: "), "\(result.errorOutput)")
    #expect(result.errorOutput.contains("missing at the end"), "\(result.errorOutput)")
    #expect(result.errorOutput.count(where: \.isNewline) == 1)
    #expect(!capture.heard.isEmpty && capture.heard.count < 120_000)
    // What was not reached is not known.
    #expect(try capture.play([place.file("cut.flac"), "--to", "0.1"]).errorOutput == "")
    let compared = try capture.play([place.file("cut.flac"), "--compare", path])
    #expect(compared.errorOutput.contains("missing at the end"), "\(compared.errorOutput)")
  }

  @Test("with surround channels in ALSA's order, and mixed for a device with fewer")
  func surround() throws {
    let (path, sound) = try noise("six.wav", channels: 6)
    #expect(try capture.play([path]).exitCode == 0)
    let order = [0, 1, 4, 5, 2, 3].map { sound.channels[$0] }
    #expect(capture.heard == TestSound(sampleRate: Hertz(48_000), channels: order).interleaved)
    #expect(try capture.play([path], device: "stereo").exitCode == 0)
    #expect(capture.heard.count == 2 * 30_000)
  }

  @Test("on a device that takes integers only")
  func integers() throws {
    let (path, _) = try noise("a.wav")
    try Reference.ffmpeg(["-i", path, "-c:a", "pcm_s16le", place.file("b.wav")])
    let whole = try SoundCapture(place, isWhole: true)
    let result = try whole.play([place.file("b.wav")], device: "integers")
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(try whole.bytes == Reference.samples(of: place.file("b.wav"), as: "s16le"))
  }

  @Test("from one time to another")
  func part() throws {
    let (path, sound) = try noise("a.wav", rate: 44_100, frames: 120_000)
    #expect(try capture.play([path, "--from", "0:01.5", "--to", "2.25"]).exitCode == 0)
    #expect(capture.heard == sound[66_150..<99_225].interleaved)
    #expect(try capture.play([path, "--from", "2"]).exitCode == 0)
    #expect(capture.heard == sound[88_200..<120_000].interleaved)
    let behind = try capture.play([path, "--from", "9"])
    #expect(behind.exitCode == 2 && behind.errorOutput.contains("0:02.7 long"))
    #expect(try capture.play([path, "--from", "2", "--to", "1"]).exitCode == 2)
  }

  @Test("after any stage of a run, kept or computed again, equal to an export of it")
  func stages() throws {
    let (path, sound) = try noise("a.wav", frames: 90_000)
    let run = try place.run(pipeline(), [path])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let runs = try place.spool(["runs"]).text
    let final = try Reference.floats(of: place.out + "/a.wav")
    let eq = try Reference.floats(of: place.out + "/a.eq.wav")

    let first = try capture.play(["last", "eq"])
    #expect(first.exitCode == 0 && first.text.contains("eq of heard, run "), "\(first.errorOutput)")
    #expect(first.errorOutput.contains("the sound after eq was not kept"), "\(first.errorOutput)")
    #expect(capture.heard == eq)
    let again = try capture.play(["last:eq"])
    #expect(again.exitCode == 0 && again.errorOutput == "" && capture.heard == eq)

    #expect(try capture.play(["last", "normalize"]).exitCode == 0)
    #expect(capture.heard == final)
    #expect(try capture.play(["last", "before"]).exitCode == 0)
    #expect(capture.heard == sound.interleaved)
    #expect(try capture.play(["last", "eq", "--from", "1"]).exitCode == 0)
    #expect(capture.heard == Array(eq.dropFirst(2 * 48_000)))
    #expect(try place.spool(["runs"]).text == runs, "nothing is added to the history")
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("of what a watch has processed, of whose recording the store has the bytes")
  func watched() throws {
    let inbox = try WatchedPlace()
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/walk.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    let key = try inbox.note("walk.wav").key
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    for name in ["last", key] {
      let played = try inbox.place.spool(["play", name, "--compare", "before", "--json"])
      #expect(played.exitCode == 0, "\(played.errorOutput)")
      #expect(played.text.contains(#""stage":"decode""#), "\(played.text)")
    }
  }

  @Test("of a run's final sound, which the last export has taken")
  func final() throws {
    let (path, _) = try noise("a.wav", frames: 30_000)
    #expect(try place.run(pipeline(), [path]).exitCode == 0)
    #expect(try capture.play(["last"]).exitCode == 0)
    #expect(try capture.heard == Reference.floats(of: place.out + "/a.eq.wav"))
  }

  @Test("says what is missing: the recording, a stage, a run, a file, a device")
  func missing() throws {
    let (path, sound) = try noise("a.wav", frames: 30_000)
    #expect(try place.run(pipeline(), [path]).exitCode == 0)
    #expect(try capture.play(["last", "decode"]).exitCode == 0)
    try FileManager.default.moveItem(atPath: path, toPath: place.file("moved.wav"))
    #expect(try capture.play(["last", "decode"]).exitCode == 0, "kept sound needs no recording")
    #expect(capture.heard == sound.interleaved)
    let gone = try capture.play(["last", "eq"])
    #expect(gone.exitCode == 1 && gone.errorOutput.contains("cannot be computed without \(path)"))
    #expect(gone.errorOutput.contains("the store has the sound after decode"))
    _ = try noise("a.wav", frames: 30_000, seed: 2)
    let other = try capture.play(["last", "eq"])
    #expect(other.exitCode == 1 && other.errorOutput.contains("is not the recording of run"))

    let measure = try capture.play(["last", "measure"])
    #expect(measure.exitCode == 1 && measure.errorOutput.contains("measure gives no sound"))
    let typo = try capture.play(["last", "compres"])
    #expect(typo.exitCode == 2 && typo.errorOutput.contains("did you mean compress?"))
    #expect(try capture.play(["nothing"]).exitCode == 2)
    #expect(try capture.play(["nothing.wav"]).exitCode == 2)
    #expect(try capture.play([path, "eq"]).exitCode == 2)
    let device = try capture.play([path], device: "absent")
    #expect(device.exitCode == 1 && device.text == "")
    #expect(
      device.errorOutput == """
        error: cannot play on the sound device absent
        why:   Unknown PCM absent
        help:  aplay -L lists the devices, and --device names one; without any, export the sound, and \
        play the file elsewhere

        """)
  }

  private struct Comparison: Decodable {
    struct Sound: Decodable {
      let name: String
      let stage: String?
      let loudness: Double
      let gain: Double
    }
    let sounds: [Sound]
  }

  @Test("compared, the louder one is turned down, and one is heard after the other")
  func compared() throws {
    let (loud, sound) = try noise("loud.wav", frames: 96_000)
    let (soft, _) = try noise("soft.wav", frames: 48_000, amplitude: 0.0625, seed: 2)
    let json = try capture.play([loud, "--compare", soft, "--json"])
    #expect(json.exitCode == 0 && capture.bytes.isEmpty, "\(json.errorOutput)")
    let found = try JSONDecoder().decode(Comparison.self, from: json.output).sounds
    #expect(found.map(\.name) == ["loud.wav", "soft.wav"] && found[1].gain == 0)
    #expect(abs(found[0].loudness + found[0].gain - found[1].loudness) < 1e-9)
    #expect(abs(found[0].gain + 12.04) < 0.2)
    let result = try capture.play([soft, "--compare", loud])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(result.text.contains("B  loud.wav"), "\(result.text)")
    #expect(result.text.contains("turned down by 12."), "\(result.text)")
    // The device's file is begun anew for the second.
    let factor = Float(pow(10, found[0].gain / 20))
    #expect(capture.heard == sound.interleaved.map { $0 * factor })
  }

  @Test("stages of one run are compared by their names")
  func stagesCompared() throws {
    let (path, _) = try noise("a.wav", frames: 60_000)
    #expect(try place.run(pipeline(), [path]).exitCode == 0)
    for (words, stages) in [
      (["last", "--compare", "before"], ["eq", "decode"]),
      (["last", "normalize", "--compare", "compress"], ["normalize", "compress"]),
      (["last:decode", "--compare", "last:eq"], ["decode", "eq"]),
    ] {
      let result = try capture.play(words + ["--json"])
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      let found = try JSONDecoder().decode(Comparison.self, from: result.output).sounds
      #expect(found.map(\.stage) == stages)
    }
  }
}
