import Audio
import Foundation
import TestSupport
import Testing

@Suite struct PanLawTests {
  @Test(arguments: [
    (PanLaw.flat, 0.0), (.constantPower, -3.0103), (.compromise, -4.5154), (.linear, -6.0206),
  ])
  func `each law has its name's gain in the middle`(law: PanLaw, middle: Double) {
    let gains = law.gains(pan: 0)
    #expect(abs(Decibels(amplitude: gains.left).value - middle) < 1e-3)
    #expect(gains.left == gains.right)
    #expect(abs(middle - (Double(law.rawValue.dropLast(3)) ?? .nan)) < 0.03)
  }

  @Test(arguments: PanLaw.allCases)
  func `hard to a side nothing is lost there, and nothing stays on the other`(law: PanLaw) {
    let (left, right) = (law.gains(pan: -1), law.gains(pan: 1))
    #expect([left.left, left.right] == [1, 0])
    #expect([right.left, right.right] == [0, 1])
    let beyond = law.gains(pan: 3)
    #expect([beyond.left, beyond.right] == [right.left, right.right])
    let (aside, mirrored) = (law.gains(pan: 0.3), law.gains(pan: -0.3))
    #expect(abs(aside.left - mirrored.right) < 1e-15 && abs(aside.right - mirrored.left) < 1e-15)
  }

  @Test func `power, amplitude and their mean stay as the laws promise, everywhere`() {
    for step in -20...20 {
      let pan = Double(step) / 20
      let angle = (pan + 1) * .pi / 4
      let power = PanLaw.constantPower.gains(pan: pan)
      #expect(abs(power.left - cos(angle)) < 1e-12 && abs(power.right - sin(angle)) < 1e-12)
      let linear = PanLaw.linear.gains(pan: pan)
      #expect(abs(linear.left + linear.right - 1) < 1e-12)
      let between = PanLaw.compromise.gains(pan: pan)
      #expect(abs(between.left * between.left - power.left * linear.left) < 1e-12)
      let flat = PanLaw.flat.gains(pan: pan)
      #expect(max(flat.left, flat.right) == 1)
      #expect(abs(min(flat.left, flat.right) - (1 - abs(pan))) < 1e-12)
    }
  }
}

@Suite struct MixBusTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func take(_ bus: MixBus, _ count: Int, gain: Double = 1) -> TestSound {
    var buffer = AudioBuffer(channelCount: bus.channelCount, capacity: bus.capacity)
    bus.take(Frames(count), gain: gain, into: &buffer)
    var sound = TestSound(
      sampleRate: Hertz(48_000), channels: Array(repeating: [], count: bus.channelCount))
    sound.append(buffer)
    return sound
  }

  @Test func `a track and its inverse leave nothing, whatever lies between them`() {
    let bus = MixBus(channelCount: 1, capacity: Frames(1000))
    let sounds = (1...24).map { TestSound.noise(seed: $0, stereo, frames: 1000) }
    for sound in sounds {
      bus.add(sound.buffer(0..<1000), channel: 1, to: 0, at: .zero, gain: 0.7)
    }
    for sound in sounds.reversed() {
      bus.add(sound.buffer(0..<1000), channel: 1, to: 0, at: .zero, gain: -0.7)
    }
    #expect(take(bus, 1000).peakAmplitude < 1e-14)
    let one = TestSound.noise(stereo, frames: 1000)
    bus.add(one.buffer(0..<1000), channel: 0, to: 0, at: .zero, gain: 0.3)
    bus.add(one.map { -$0 }.buffer(0..<1000), channel: 0, to: 0, at: .zero, gain: 0.3)
    #expect(take(bus, 1000).peakAmplitude == 0)
  }

  @Test func `one channel at full level comes through bit for bit, at its place`() {
    let bus = MixBus(channelCount: 2, capacity: Frames(64))
    let sound = TestSound.noise(stereo, frames: 20)
    bus.add(sound.buffer(0..<20), channel: 1, to: 0, at: Frames(30), gain: 1)
    let mix = take(bus, 64)
    #expect(Array(mix.channels[0][30..<50]) == sound.channels[1])
    #expect(mix.channels[0][..<30].allSatisfy { $0 == 0 })
    #expect(mix.channels[0][50...].allSatisfy { $0 == 0 })
    #expect(mix.channels[1].allSatisfy { $0 == 0 })
    #expect(bus.peak == sound.channels[1].map(\.magnitude).max())
    // What was taken is gone.
    #expect(take(bus, 64).peakAmplitude == 0)
  }

  @Test func `a curve shapes a track frame by frame`() {
    let bus = MixBus(channelCount: 1, capacity: Frames(8))
    let sound = TestSound.constant(0.5, stereo, frames: 4)
    let curve: [Float] = [9, 9, 1, 0.5, 0.25, 0, 9, 9]
    bus.add(sound.buffer(0..<4), channel: 0, to: 0, at: Frames(2), gain: 0.5, curve: curve)
    #expect(take(bus, 8, gain: 2).channels[0] == [0, 0, 0.5, 0.25, 0.125, 0, 0, 0])
  }

  @Test func `samples that are no numbers count as silence`() {
    let bus = MixBus(channelCount: 1, capacity: Frames(4))
    var sound = TestSound.constant(0.5, stereo, frames: 4)
    sound.channels[0][1] = .nan
    sound.channels[0][2] = .infinity
    bus.add(sound.buffer(0..<4), channel: 0, to: 0, at: .zero, gain: 1)
    #expect(take(bus, 4).channels[0] == [0.5, 0, 0, 0.5])
  }
}

@Suite struct DuckingGainTests {
  private let rate = Hertz(1000)
  private let settings = DuckingGain.Settings(
    threshold: Decibels(-20), amount: Decibels(-12), attack: Seconds(0.01), hold: Seconds(0.05),
    release: Seconds(0.1))

  private func curve(_ key: [Float], cuts: [Int], fader: Double = 1) -> [Float] {
    var gain = DuckingGain(settings, sampleRate: rate)
    let sound = TestSound(sampleRate: rate, channels: [key, key.map { _ in 0 }])
    var result: [Float] = []
    var turn = 0
    while result.count < key.count {
      let count = min(cuts[turn % cuts.count], key.count - result.count)
      var part = Array(repeating: Float(1), count: count)
      let buffer = sound.buffer(result.count..<result.count + count)
      gain.follow(SharedBuffer(buffer), at: .zero, fader: fader, onto: &part)
      result += part
      turn += 1
    }
    return result
  }

  @Test func `goes down and comes back exponentially, and waits between`() {
    // 200 frames of silence, 300 of sound, and then silence again.
    let key = (0..<1500).map { (200..<500).contains($0) ? Float(0.2) : 0 }
    let curve = curve(key, cuts: [1500])
    let depth = pow(10, -12.0 / 20)
    #expect(curve[..<200].allSatisfy { $0 == 1 })
    for frame in 200..<549 {
      let expected = depth + (1 - depth) * exp(-Double(frame - 199) / 10)
      #expect(abs(Double(curve[frame]) - expected) < 1e-5, "\(frame)")
    }
    for frame in 549..<1500 {
      let expected = 1 - (1 - depth) * exp(-Double(frame - 548) / 100)
      #expect(abs(Double(curve[frame]) - expected) < 1e-5, "\(frame)")
    }
  }

  @Test func `does not depend on how the key is cut`() {
    let key = TestSound.babble(AudioFormat(sampleRate: rate, channelCount: 1), frames: 3000)
      .channels[0]
    let whole = curve(key, cuts: [3000])
    #expect(whole.min() ?? 1 < 0.5 && whole.max() ?? 0 > 0.9)
    #expect(curve(key, cuts: [1, 7, 64]) == whole)
  }

  @Test func `the key counts behind its fader`() {
    let key = Array(repeating: Float(0.15), count: 100)
    #expect(curve(key, cuts: [100]).last ?? 1 < 0.3)
    #expect(curve(key, cuts: [100], fader: 0.5).allSatisfy { $0 == 1 })
    #expect(curve(key, cuts: [100], fader: 0).allSatisfy { $0 == 1 })
  }

  @Test func `silence around a key is silence, and gains multiply`() {
    var gain = DuckingGain(settings, sampleRate: rate)
    let loud = TestSound.constant(1, AudioFormat(sampleRate: rate, channelCount: 1), frames: 10)
    var curve = Array(repeating: Float(0.5), count: 100)
    gain.follow(SharedBuffer(loud.buffer(0..<10)), at: Frames(40), fader: 1, onto: &curve)
    #expect(curve[..<40].allSatisfy { $0 == 0.5 })
    #expect(curve[60] < 0.3)
    var rest = Array(repeating: Float(1), count: 2000)
    gain.follow(nil, at: .zero, fader: 1, onto: &rest)
    #expect(rest[0] < 0.3 && rest[1999] > 0.999)
  }
}
