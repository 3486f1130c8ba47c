@testable import Audio
import TestSupport
import Testing

@Suite struct WaveformTests {
  private func peaks(
    _ sound: TestSound, stretch: Int, cuts: [Int] = [4096]
  ) -> [Peak] {
    let gatherer = PeakGatherer(format: sound.format, stretch: Frames(stretch))
    var peaks: [Peak] = []
    var start = 0
    var turn = 0
    while start < sound.frameCount.count {
      let count = min(cuts[turn % cuts.count], sound.frameCount.count - start)
      gatherer.gather(sound.buffer(start..<start + count), into: &peaks)
      start += count
      turn += 1
    }
    gatherer.finish(into: &peaks)
    return peaks
  }

  @Test(arguments: [1, 2, 8], [1, 16, 100, 256, 5000])
  func `peaks are those of the samples`(channelCount: Int, stretch: Int) {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: channelCount)
    let sound = TestSound.noise(format, frames: 12_345)
    let peaks = peaks(sound, stretch: stretch)
    #expect(peaks.count == (12_345 + stretch - 1) / stretch * channelCount)
    for (index, peak) in peaks.enumerated() {
      let start = index / channelCount * stretch
      let samples = sound.channels[index % channelCount][start..<min(start + stretch, 12_345)]
      #expect(peak.lowest == samples.min() && peak.highest == samples.max())
      let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
      #expect(abs(Double(peak.energy) - energy) < 1e-6 * energy + 1e-12)
    }
  }

  @Test func `the cut into blocks makes no difference`() {
    let sound = TestSound.babble(
      AudioFormat(sampleRate: Hertz(44_100), channelCount: 2), frames: 20_011)
    let reference = peaks(sound, stretch: 300, cuts: [20_011])
    for cuts in [[1], [7, 300, 1, 1024], [299, 301]] {
      #expect(peaks(sound, stretch: 300, cuts: cuts) == reference)
    }
  }

  @Test func `a gatherer goes on from a snapshot`() throws {
    let format = AudioFormat(sampleRate: Hertz(44_100), channelCount: 2)
    let sound = TestSound.babble(format, frames: 5000)
    let reference = peaks(sound, stretch: 256)
    for frame in [0, 1, 255, 256, 257, 3333, 5000] {
      let first = PeakGatherer(format: format, stretch: Frames(256))
      let second = PeakGatherer(format: format, stretch: Frames(256))
      var peaks: [Peak] = []
      first.gather(sound.buffer(0..<frame), into: &peaks)
      try second.restore(first.snapshot)
      #expect(second.frames == Frames(frame))
      second.gather(sound.buffer(frame..<5000), into: &peaks)
      second.finish(into: &peaks)
      #expect(peaks == reference)
    }
    let other = PeakGatherer(
      format: AudioFormat(sampleRate: Hertz(44_100), channelCount: 1), stretch: Frames(256))
    let snapshot = PeakGatherer(format: format, stretch: Frames(256)).snapshot
    #expect(throws: SnapshotError.self) { try other.restore(snapshot) }
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity])
  func `a sample that is no number counts as 0`(value: Float) {
    var sound = TestSound.constant(
      0.5, AudioFormat(sampleRate: Hertz(8000), channelCount: 1), frames: 64)
    sound.channels[0][21] = value
    #expect(peaks(sound, stretch: 64) == [Peak(lowest: 0, highest: 0.5, energy: 63 * 0.25)])
  }

  // The head of the example in the format's description: 2 channels, 48 kHz, 512 samples per pixel,
  // 8 bits, 3 points.
  @Test func `the head is the one that the format's description shows`() {
    let data = WaveformData(
      format: AudioFormat(sampleRate: Hertz(48_000), channelCount: 2), framesPerPoint: 512,
      pointCount: 3, bits: .eight)
    #expect(
      data.binaryHead == [
        2, 0, 0, 0, 1, 0, 0, 0, 0x80, 0xbb, 0, 0, 0, 2, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0,
      ])
    #expect(
      data.textHead == #"{"version":2,"channels":2,"sample_rate":48000,"samples_per_pixel":512,"#
        + #""bits":8,"length":3,"data":["#)
  }

  @Test
  func `values are those of samples of 16 bits, and of their upper eight without the fraction`() {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
    func value(_ sample: Float, _ bits: WaveformData.Bits) -> Int {
      WaveformData(format: format, framesPerPoint: 1, pointCount: 1, bits: bits).scaled(sample)
    }
    for whole in [-32768, -32767, -257, -256, -255, -1, 0, 1, 255, 256, 32767] {
      #expect(value(Float(whole) / 32768, .sixteen) == whole)
      #expect(value(Float(whole) / 32768, .eight) == whole / 256)
    }
    #expect(value(1, .sixteen) == 32767 && value(7, .eight) == 127 && value(-7, .eight) == -128)
    var bytes: [UInt8] = []
    WaveformData(format: format, framesPerPoint: 1, pointCount: 1, bits: .sixteen)
      .appendBinary(Peak(lowest: -1, highest: 0.5, energy: 0), to: &bytes)
    #expect(bytes == [0, 0x80, 0, 0x40])
  }
}
