import Audio
import Foundation
import TestSupport
import Testing

@Suite struct TruePeakMeterTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func peaks(of sound: TestSound, cuts: [Int] = [4096]) -> TruePeakMeter.Finding {
    let meter = TruePeakMeter(format: sound.format)
    sound.analysed(by: meter, cuts: cuts)
    return meter.finding()
  }

  @Test(arguments: [0, 0.3, .pi / 4, 1.2])
  func `finds the top of a wave between its samples`(phase: Double) throws {
    // Faded in and out, because a tone that begins at once has overshoots of its own.
    var sound = TestSound.sine(Hertz(12_000), amplitude: 0.5, phase: phase, stereo, frames: 4000)
    for frame in 0..<4000 {
      let fade = Float(min(1, Double(min(frame, 3999 - frame)) / 1000))
      for channel in 0...1 { sound.channels[channel][frame] *= fade }
    }
    let peak = try #require(peaks(of: sound).truePeak)
    // BS.1770-4: 4-fold oversampling reads at most 0.17 dB too little at a quarter of the rate.
    #expect(peak.value < -6.02 + 0.03 && peak.value > -6.02 - 0.17)
  }

  @Test func `agrees with a sum of sines computed between the samples`() throws {
    let partials = [(1234.5, 0.3, 0.1), (5432.1, 0.25, 2), (10_111, 0.2, 1), (250, 0.2, 0.7)]
    func wave(_ time: Double) -> Double {
      partials.reduce(0) { $0 + $1.1 * sin(2 * .pi * $1.0 * time / 48_000 + $1.2) }
        * 0.5 * (1 - cos(2 * .pi * time / 6000))
    }
    let sound = TestSound(stereo, frames: 6000) { _, frame in Float(wave(Double(frame))) }
    let top = stride(from: 0, to: 6000, by: 1.0 / 16).reduce(0) { max($0, abs(wave($1))) }
    let peak = try #require(peaks(of: sound).truePeak)
    #expect(abs(peak.value - 20 * log10(top)) < 0.06)
  }

  @Test(
    .enabled(if: Program(named: "ffmpeg") != nil, "ffmpeg is not installed"), arguments: 1...3)
  func `agrees with ffmpeg within 0.2 dB`(seed: UInt64) throws {
    let sound = TestSound.babble(seed: seed, stereo, frames: 24_000)
    let theirs = try #require(try sound.loudnessByFFmpeg())
    let ours = peaks(of: sound)
    #expect(abs(try #require(ours.truePeak).value - (try #require(theirs.truePeak))) < 0.2)
    #expect(abs(try #require(ours.samplePeak).value - (try #require(theirs.samplePeak))) < 0.06)
  }

  @Test func `leaving out what cannot be a peak changes nothing`() throws {
    // With the loudest part first, everything after it is left out; backwards, nothing before it.
    var sound = TestSound.noise(amplitude: 0.5, stereo, frames: 3000)
    for channel in 0...1 {
      for frame in 1000..<1100 { sound.channels[channel][frame] *= 2 }
    }
    let backwards = TestSound(
      sampleRate: stereo.sampleRate, channels: sound.channels.map { Array($0.reversed()) })
    let (a, b) = (peaks(of: sound).truePeak, peaks(of: backwards).truePeak)
    #expect(abs(try #require(a).value - (try #require(b)).value) < 1e-4)
  }

  @Test func `does not depend on the cut of blocks`() {
    let sound = TestSound.noise(stereo, frames: 5000)
    #expect(peaks(of: sound) == peaks(of: sound, cuts: [1, 63, 0, 500, 64]))
  }

  @Test func `hears the last sample`() {
    let sound = TestSound.impulse(stereo, frames: 129, at: 128)
    #expect(peaks(of: sound).samplePeak == Decibels(0))
  }

  @Test func `silence and damaged samples have no level`() {
    let silence = TruePeakMeter.Finding(truePeak: nil, samplePeak: nil)
    #expect(peaks(of: .silence(stereo, frames: 100)) == silence)
    #expect(peaks(of: .constant(.nan, stereo, frames: 100)) == silence)
  }
}
