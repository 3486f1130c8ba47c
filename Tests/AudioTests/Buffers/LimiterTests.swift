import Audio
import Foundation
import TestSupport
import Testing

@Suite struct LimiterTests {
  private static let rate = Hertz(48_000)
  private let mono = AudioFormat(sampleRate: rate, channelCount: 1)
  private let stereo = AudioFormat(sampleRate: rate, channelCount: 2)

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance { Limiter(.init(ceiling: Decibels(-2)), format: $0) }
  }

  @Test func `sound under the ceiling keeps every bit`() {
    // A tone whose samples and wave both reach −1.5 dB.
    let amplitude = pow(10, -1.5 / 20)
    let sound = TestSound.sine(Hertz(997), amplitude: amplitude, stereo, frames: 6000)
    let limiter = Limiter(.init(ceiling: Decibels(-1.4)), format: stereo)
    #expect(sound.processed(by: limiter).isBitIdentical(to: sound))
  }

  @Test(
    .enabled(if: Program(named: "sox") != nil, "sox is not installed"),
    arguments: Demanding.allCases)
  func `the true peak found by sox at 8 times the rate is at most 0.1 dB above the ceiling`(
    kind: Demanding
  ) throws {
    let sound = kind.sound(stereo, frames: 6000)
    let result = sound.processed(by: Limiter(.init(ceiling: Decibels(-3)), format: stereo))
    let peak = try #require(try result.truePeakBySox())
    #expect(peak.value <= -3 + 0.1)
    #expect(peak.value > -3 - 0.5, "limited more than it needs")
  }

  @Test(
    .enabled(if: Program(named: "ffmpeg") != nil, "ffmpeg is not installed"),
    arguments: Demanding.allCases)
  func `the true peak found by ffmpeg is at most 0.1 dB above the ceiling`(
    kind: Demanding
  ) throws {
    // With silence around it: ffmpeg's resampler takes the mirror image for what came before.
    let result = kind.sound(stereo, frames: 6000).surroundedBySilence(2000)
      .processed(by: Limiter(.init(ceiling: Decibels(-2)), format: stereo))
    let peak = try #require(try result.loudnessByFFmpeg()?.truePeak)
    #expect(peak <= -2 + 0.1)
  }

  @Test(arguments: FullBand.allCases)
  func `sound up to half the sample rate holds the ceiling within 0.1 dB`(kind: FullBand) throws {
    // 2¹⁵ frames with the silence around them.
    let result = kind.sound(stereo, frames: 28_768).surroundedBySilence(2000)
      .processed(by: Limiter(.init(ceiling: Decibels(-1)), format: stereo))
    if Program(named: "ffmpeg") != nil {
      let peak = try #require(try result.loudnessByFFmpeg()?.truePeak)
      #expect(peak <= -1 + 0.1)
    }
    let ideal = 20 * log10(idealPeak(of: result.channels[0], factor: 8))
    #expect(ideal <= -1 + 0.1, "\(ideal) dB")
    #expect(ideal > -2, "limited more than it needs")
  }

  @Test func `catches what no sample shows`() throws {
    // A quarter of the rate, 45° off: the samples stay 3 dB under the wave.
    let sound = TestSound.sine(Hertz(12_000), phase: .pi / 4, stereo, frames: 4000)
    #expect(sound.peak.value < -3)
    let result = sound.processed(by: Limiter(.init(ceiling: Decibels(-1)), format: stereo))
    #expect(abs(result[1000..<3000].peak.value - (sound.peak.value - 1)) < 0.1)
  }

  @Test func `the gain bends down ahead of a peak and never jumps`() {
    var sound = TestSound.constant(0.2, mono, frames: 6000)
    for frame in 5000..<5100 { sound.channels[0][frame] = 1 }
    let result = sound.processed(by: Limiter(.init(ceiling: Decibels(-12)), format: mono))
    let gains = zip(result.channels[0], sound.channels[0]).map { Double($0 / $1) }
    let steps = zip(gains, gains.dropFirst()).map { abs($1 - $0) }
    // To a quarter within 5 ms, on a curve twice as steep in the middle as on average.
    #expect((steps.max() ?? 1) < 0.75 * 2 / 242 * 1.05)
    let bends = zip(steps, steps.dropFirst()).map { abs($1 - $0) }
    #expect((bends.max() ?? 1) < 4 * 0.75 * 2 / 242 / 240 * 1.5)
    let first = gains.firstIndex { $0 < 1 } ?? 0
    #expect((4640...4760).contains(first))
  }

  @Test func `recovers with its time constant`() {
    var sound = TestSound.constant(0.1, mono, frames: 30_000)
    for frame in 5000..<5010 { sound.channels[0][frame] = 1 }
    let settings = Limiter.Settings(ceiling: Decibels(-12), release: Seconds(0.1))
    let result = sound.processed(by: Limiter(settings, format: mono))
    let gains = zip(result.channels[0], sound.channels[0]).map { Double($0 / $1) }
    // Between two points of the recovery, so that the hold and the smoothing drop out.
    let (a, b) = (8000, 8000 + 4800)
    #expect(abs(log((1 - gains[a]) / (1 - gains[b])) - 1) < 0.05)
  }

  @Test func `both channels get the same gain`() {
    let sound = TestSound(stereo, frames: 3000) { channel, _ in channel == 0 ? 0.9 : 0.09 }
    let result = sound.processed(by: Limiter(.init(ceiling: Decibels(-6)), format: stereo))
    #expect(abs(result.channels[0][1500] / result.channels[1][1500] - 10) < 1e-4)
    #expect(result.channels[1][1500] < 0.051)
  }

  @Test func `absurd settings give finite sound`() {
    for extreme in [1e12, -1e12] {
      let settings = Limiter.Settings(
        ceiling: Decibels(extreme), lookAhead: Seconds(extreme), release: Seconds(extreme))
      let result = TestSound.noise(mono, frames: 500)
        .processed(by: Limiter(settings, format: mono))
      #expect(result.isFinite && result.frameCount == Frames(500))
    }
  }
}

/// Sounds that are hard to limit.
enum Demanding: CaseIterable, Sendable {
  case loudVoice, square, nearNyquist, quarterRate, clippedNoise, clicks

  func sound(_ format: AudioFormat, frames: Int) -> TestSound {
    switch self {
    case .loudVoice: TestSound.babble(amplitude: 4, format, frames: frames)
    case .square: TestSound.square(half: 53, format, frames: frames)
    case .nearNyquist: TestSound.sine(Hertz(20_000), amplitude: 1.5, format, frames: frames)
    case .quarterRate:
      TestSound.sine(Hertz(12_000), amplitude: 1.4, phase: .pi / 4, format, frames: frames)
    case .clippedNoise:
      // Up to 20 kHz: what lies closer to half the rate, every oversampler cuts elsewhere.
      TestSound.noise(amplitude: 3, format, frames: frames).map { min(max($0, -1), 1) }
        .lowPassed(below: Hertz(20_000))
    case .clicks:
      TestSound(format, frames: frames) { channel, frame in
        (frame + channel * 11) % 1777 == 0 ? 1 : 0.05 * Float(frame % 40 - 20) / 20
      }
    }
  }
}

/// Sound that reaches up to half the sample rate, where interpolators end in different places.
enum FullBand: CaseIterable, Sendable {
  case whiteNoise, noiseAndImpulses, clippedNoise, uniformNoise, signs, squareSweep, clippedMusic

  func sound(_ format: AudioFormat, frames: Int) -> TestSound {
    // Twelve uniform numbers make a nearly Gaussian one, of 0.7 here.
    let noises = (1...12).map {
      TestSound.noise(amplitude: 0.7, seed: UInt64($0), format, frames: frames)
    }
    let noise = TestSound(format, frames: frames) { channel, frame in
      noises.reduce(0) { $0 + $1.channels[channel][frame] } / 2
    }
    switch self {
    case .whiteNoise: return noise
    case .clippedNoise: return noise.map { min(max($0, -1), 1) }
    case .uniformNoise: return noises[0].map { $0 / 0.7 }
    case .signs: return noises[0].map { $0 < 0 ? -1 : 1 }
    case .squareSweep:
      // From 20 Hz to 20 kHz.
      return TestSound(format, frames: frames) { _, frame in
        let octaves = log(1000) * Double(frame) / Double(frames)
        let turns = 20 / format.sampleRate.value * Double(frames) / log(1000) * expm1(octaves)
        return turns.truncatingRemainder(dividingBy: 1) < 0.5 ? 1 : -1
      }
    case .clippedMusic:
      return TestSound(format, frames: frames) { channel, frame in
        let time = Double(frame) / format.sampleRate.value
        let chord = [110.0, 220, 331, 440, 663, 1320, 2640].reduce(0) {
          $0 + 0.5 * sin(2 * .pi * $1 * time)
        }
        return min(max(Float(chord) + noise.channels[channel][frame], -1), 1)
      }
    case .noiseAndImpulses:
      return TestSound(format, frames: frames) { channel, frame in
        noise.channels[channel][frame] + ((frame + 11 * channel) % 4801 == 4000 ? 3 : 0)
      }
    }
  }
}

/// The greatest magnitude of a wave at `factor` times its rate: its spectrum, turned by fractions of a
/// frame. The number of samples is a power of two.
private func idealPeak(of samples: [Float], factor: Int) -> Double {
  let count = samples.count
  var (real, imaginary) = (samples.map(Double.init), [Double](repeating: 0, count: count))
  transform(&real, &imaginary)
  var peak = 0.0
  for phase in 0..<factor {
    // The conjugate of the spectrum, transformed, is the wave backwards.
    var (turned, other) = (real, imaginary)
    for bin in 0..<count {
      let frequency = 2 * bin < count ? bin : bin - count
      let angle = 2 * .pi * Double(frequency * phase) / Double(factor * count)
      // Half the sample rate itself has a cosine only.
      let scale = 2 * bin == count ? cos(angle) : 1
      let (c, s) = 2 * bin == count ? (1, 0) : (cos(angle), sin(angle))
      turned[bin] = scale * (real[bin] * c - imaginary[bin] * s)
      other[bin] = -scale * (real[bin] * s + imaginary[bin] * c)
    }
    transform(&turned, &other)
    peak = turned.reduce(peak) { max($0, abs($1)) }
  }
  return peak / Double(count)
}

/// The discrete Fourier transform in place, by halves.
private func transform(_ real: inout [Double], _ imaginary: inout [Double]) {
  let count = real.count
  guard count > 1 else { return }
  let half = count / 2
  var (evenReal, evenImaginary) = ([Double](), [Double]())
  var (oddReal, oddImaginary) = ([Double](), [Double]())
  for index in 0..<half {
    evenReal.append(real[2 * index])
    evenImaginary.append(imaginary[2 * index])
    oddReal.append(real[2 * index + 1])
    oddImaginary.append(imaginary[2 * index + 1])
  }
  transform(&evenReal, &evenImaginary)
  transform(&oddReal, &oddImaginary)
  for index in 0..<half {
    let angle = -2 * .pi * Double(index) / Double(count)
    let (c, s) = (cos(angle), sin(angle))
    let turnedReal = oddReal[index] * c - oddImaginary[index] * s
    let turnedImaginary = oddReal[index] * s + oddImaginary[index] * c
    real[index] = evenReal[index] + turnedReal
    imaginary[index] = evenImaginary[index] + turnedImaginary
    real[index + half] = evenReal[index] - turnedReal
    imaginary[index + half] = evenImaginary[index] - turnedImaginary
  }
}

extension TestSound {
  /// The sound through a linear-phase filter of 121 taps that ends 1 kHz above `frequency`.
  fileprivate func lowPassed(below frequency: Hertz) -> TestSound {
    let cutoff = (frequency.value + 500) / format.sampleRate.value
    let taps = (-60...60).map { index in
      let window =
        0.42 + 0.5 * cos(.pi * Double(index) / 61) + 0.08 * cos(.pi * Double(index) / 30.5)
      let angle = 2 * .pi * cutoff * Double(index)
      return Float(window * (index == 0 ? 2 * cutoff : 2 * cutoff * sin(angle) / angle))
    }
    let filtered = channels.map { samples in
      let padded =
        Array(repeating: Float.zero, count: 60) + samples
        + Array(repeating: Float.zero, count: 60)
      return samples.indices.map { start in
        var sum: Float = 0
        for tap in 0...120 { sum += padded[start + tap] * taps[tap] }
        return sum
      }
    }
    return TestSound(sampleRate: format.sampleRate, channels: filtered)
  }
}
