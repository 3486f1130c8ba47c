import Audio
import TestSupport
import Testing

@Suite struct ChannelMatrixTests {
  private func format(_ channelCount: Int) -> AudioFormat {
    AudioFormat(sampleRate: Hertz(48_000), channelCount: channelCount)
  }

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance {
      ChannelMatrix(Downmix.mono(from: $0, law: .constantPower), format: $0)
    }
    try checkProcessorConformance {
      ChannelMatrix(Downmix.stereo(from: $0), format: $0)
    }
    try checkProcessorConformance(channelCounts: 64...64) {
      ChannelMatrix([Array(repeating: 1, count: $0.channelCount)], format: $0)
    }
  }

  @Test func `picks and swaps bit for bit`() {
    var sound = TestSound.noise(format(3), frames: 500)
    sound.channels[2][7] = -0.0
    sound.channels[2][8] = .leastNonzeroMagnitude
    let result = sound.processed(
      by: ChannelMatrix([[0, 0, 1], [1, 0, 0], [0, 0, 1]], format: format(3)))
    let expected = TestSound(
      sampleRate: Hertz(48_000),
      channels: [sound.channels[2], sound.channels[0], sound.channels[2]])
    #expect(result.isBitIdentical(to: expected))
  }

  @Test func `a row of zeros is silent, and the opposite of a channel cancels it`() {
    let sound = TestSound.noise(format(1), frames: 500)
    let twice = sound.processed(by: ChannelMatrix([[1], [-1], [0]], format: format(1)))
    #expect(twice.channels[2].allSatisfy { $0 == 0 })
    let mixed = twice.processed(by: ChannelMatrix([[1, 1, 0]], format: format(3)))
    #expect(mixed.peakAmplitude == 0)
  }

  @Test(arguments: [
    (PanLaw.flat, 0.0), (.constantPower, -3.0103), (.compromise, -4.515), (.linear, -6.0206),
  ])
  func `pan laws have their gain in the middle, and all of it at the sides`(
    law: PanLaw, gain: Double
  ) {
    for row in Downmix.panned(to: 0, law: law) {
      #expect(abs(Decibels(amplitude: row[0]).value - gain) < 0.01)
    }
    let sides = Downmix.panned(to: 1, law: law)
    #expect(abs(sides[0][0]) < 1e-9 && abs(sides[1][0] - 1) < 1e-9)
    let mono = Downmix.mono(from: format(2), law: law)[0]
    #expect(abs(Decibels(amplitude: mono[0]).value - gain) < 0.01 && mono[0] == mono[1])
  }

  @Test func `equal sides become their mean, and a single channel comes back`() {
    let sound = TestSound.noise(format(1), frames: 500)
    let stereo = sound.processed(
      by: ChannelMatrix(Downmix.panned(to: 0, law: .flat), format: format(1)))
    let mono = stereo.processed(
      by: ChannelMatrix(Downmix.mono(from: format(2), law: .linear), format: format(2)))
    #expect(mono.isBitIdentical(to: sound))
  }

  /// swresample's own matrix for floats, which is not normalized either.
  @Test(
    .enabled(if: Program(named: "ffmpeg") != nil, "the ffmpeg program is not installed"),
    arguments: [(3, "3.0"), (4, "quad"), (5, "5.0"), (6, "5.1"), (8, "7.1")])
  func `surround sound is mixed down as ffmpeg does`(count: Int, layout: String) throws {
    let format = AudioFormat(
      sampleRate: Hertz(48_000), channelCount: count, positions: .mixed(to: count))
    let sound = TestSound.noise(amplitude: 0.2, format, frames: 3000)
    let scratch = try ScratchFolder()
    try sound.writeWAV(to: scratch.file("in.wav"))
    let output = try Reference.ffmpeg([
      "-i", scratch.file("in.wav"), "-af",
      "channelmap=map=\((0..<count).map { "\($0)" }.joined(separator: "|")):channel_layout=\(layout),"
        + "aresample=in_channel_layout=\(layout):out_channel_layout=stereo:rematrix_maxval=1000,"
        + "aformat=sample_fmts=flt:channel_layouts=stereo",
      "-f", "f32le", "-",
    ])
    let expected = TestSound(rawFloats: output, sampleRate: Hertz(48_000), channelCount: 2)
    let result = sound.processed(
      by: ChannelMatrix(Downmix.stereo(from: sound.format), format: format))
    #expect(result.greatestDifference(from: expected) < 1e-6)
  }

  @Test func `channels without positions are all in a mix`() {
    for count in 3...10 {
      let mono = Downmix.mono(from: format(count), law: .linear)
      #expect(mono == [Array(repeating: 1 / Double(count), count: count)])
      let stereo = Downmix.stereo(from: format(count))
      #expect((0..<count).allSatisfy { stereo[0][$0] + stereo[1][$0] == 1 })
    }
  }

  @Test func `positions stay with channels that only pass`() {
    let surround = AudioFormat(
      sampleRate: Hertz(48_000), channelCount: 6, positions: .surround51)
    func positions(_ rows: [Int]) -> ChannelPositions {
      let gains = rows.map { row in (0..<6).map { $0 == row ? 1.0 : 0 } }
      return ChannelMatrix(gains, format: surround).outputFormat.positions
    }
    #expect(positions([0, 1, 2, 3, 4, 5]) == .surround51)
    #expect(positions([0, 1, 4, 5]) == .quad)
    #expect(positions([0, 1, 2, 4, 3, 5]) == .unknown)
    #expect(positions([4, 5]) == .stereo)
    #expect(positions([3]) == .mono)
  }
}
