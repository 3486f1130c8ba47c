import Audio
import Foundation
import TestSupport
import Testing

@Suite struct TempoChangerTests {
  private func format(_ rate: Double = 48_000, _ channelCount: Int = 2) -> AudioFormat {
    AudioFormat(sampleRate: Hertz(rate), channelCount: channelCount)
  }

  @Test func `keeps the promises of a processor`() throws {
    for tempo in [0.5, 1.3, 3] {
      try checkProcessorConformance(keepsLength: false) {
        TempoChanger(tempo: tempo, format: $0)
      }
    }
    try checkProcessorConformance(keepsLength: false, channelCounts: 64...64) {
      TempoChanger(tempo: 0.8, format: $0)
    }
  }

  @Test func `cuts and snapshots do not matter over many windows`() throws {
    let sound = TestSound.babble(format(8000, 2), frames: 20_000)
    for tempo in [0.6, 1.7] {
      let make = { TempoChanger(tempo: tempo, format: sound.format) }
      let whole = sound.processed(by: make(), cuts: [20_000])
      #expect(sound.processed(by: make(), cuts: [1, 900, 64]).isBitIdentical(to: whole))
      for middle in [0, 3333, 11_111, 20_000] {
        let (first, second) = (make(), make())
        var result = whole[0..<0]
        result.append(outputOf: first, given: sound[0..<middle])
        try second.restore(first.snapshot)
        result.append(outputOf: second, given: sound[middle..<20_000])
        result.append(remainsOf: second)
        #expect(result.firstDifference(from: whole) == nil)
        #expect(second.report() == make().report(of: sound))
      }
    }
  }

  @Test(arguments: [8000.0, 44_100, 192_000, 384_000])
  func `at its own tempo sound stays as it is, bit for bit`(rate: Double) {
    for sound in [
      TestSound.babble(format(rate), frames: Int(rate / 2)),
      .sine(Hertz(440), format(rate), frames: Int(rate / 2)),
    ] {
      let result = sound.processed(by: TempoChanger(tempo: 1, format: format(rate)))
      #expect(result.firstDifference(from: sound) == nil)
    }
  }

  @Test(arguments: [0.5, 0.8, 1.25, 2, 3], [220.0, 997])
  func `a tone keeps its pitch, and becomes as long as it should`(tempo: Double, pitch: Double) {
    let sound = TestSound.sine(Hertz(pitch), amplitude: 0.5, format(), frames: 96_000)
    let result = sound.processed(by: TempoChanger(tempo: tempo, format: format()))
    let count = result.frameCount.count
    #expect(count == Int((96_000 / tempo).rounded()))
    // Window after window fits: within any four of them it is the same tone, but for the part of
    // a frame that each may be off.
    for start in stride(from: 4000, to: count - 8000, by: 3700) {
      let found = result[start..<start + 3840].tone(of: Hertz(pitch))
      #expect(abs(Decibels(amplitude: found.amplitude / 0.5).value) < 0.1)
      #expect(found.rest.value < -20)
    }
    let other = result[count / 4..<count / 4 + 9600]
    for wrong in [0.98, 1.02] {
      #expect(other.tone(of: Hertz(pitch * wrong)).amplitude < 0.25)
    }
  }

  @Test(arguments: [0.7, 1.5])
  func `what happens is where the timeline says`(tempo: Double) {
    // Bursts at odd times.
    let starts = [10_000, 31_000, 47_500, 80_000]
    let sound = TestSound(format(), frames: 96_000) { _, frame in
      guard let start = starts.last(where: { $0 <= frame }), frame < start + 4800 else { return 0 }
      return Float(0.5 * sin(2 * .pi * 300 * Double(frame - start) / 48_000))
    }
    let changer = TempoChanger(tempo: tempo, format: format())
    let result = sound.processed(by: changer)
    let timeline = changer.report()
    for start in starts {
      let place = timeline.place(of: Frames(start).duration(at: Hertz(48_000)))?.value ?? 0
      let from = max(0, Int((place - 0.1) * 48_000))
      let first = result.channels[0][from...].firstIndex { abs($0) > 0.05 } ?? 0
      #expect(abs(Double(first) / 48_000 - place) < 0.035, "at \(start)")
    }
  }

  @Test func `channels move together`() {
    let mono = TestSound.babble(format(48_000, 1), frames: 48_000).channels[0]
    let sound = TestSound(
      sampleRate: Hertz(48_000), channels: [mono, mono.map { $0 * -0.5 }])
    let result = sound.processed(by: TempoChanger(tempo: 1.4, format: format()))
    for (left, right) in zip(result.channels[0], result.channels[1]) {
      #expect(abs(left * -0.5 - right) < 1e-6)
    }
  }
}

extension TestSound {
  fileprivate mutating func append(outputOf processor: any Processor, given sound: TestSound) {
    let input = sound.buffer(0..<sound.frameCount.count)
    var output = AudioBuffer(
      channelCount: format.channelCount,
      capacity: processor.blockCapacity(for: sound.frameCount))
    processor.process(input, into: &output)
    append(output)
  }

  fileprivate mutating func append(remainsOf processor: any Processor) {
    var output = AudioBuffer(
      channelCount: format.channelCount, capacity: processor.capacity(for: .zero))
    processor.finish(into: &output)
    append(output)
  }
}

extension TempoChanger {
  /// What it reports of a whole sound.
  fileprivate func report(of sound: TestSound) -> Timeline {
    _ = sound.processed(by: self)
    return report()
  }
}
