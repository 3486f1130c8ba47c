package import Audio

/// What every processor promises, tried on one kind of processor: throws at the first promise that
/// is broken, saying which, with which sound.
///
/// Tried are: the same bits however the sound is cut (blocks of 0 and 1 frame included), the same
/// bits after a snapshot was restored into a fresh processor in the middle, as many frames out as
/// in (unless `keepsLength` says no), silence for silence (unless `isSilent` says no), finite
/// samples whatever comes in (full scale, subnormal, NaN and infinite), a sample that cannot be sound
/// counting as 0, and that snapshots of the wrong length are refused; for `channelCounts` channels
/// and 8 to 192 kHz.
package func checkProcessorConformance(
  isSilent: Bool = true, keepsLength: Bool = true, channelCounts: ClosedRange<Int> = 1...8,
  make: @escaping (AudioFormat) -> any Processor
) throws(ConformanceFailure) {
  let rates = [48_000.0, 8000, 192_000, 22_050]
  for channelCount in channelCounts {
    // Every rate for stereo; for the others one each, to keep the suite quick.
    for rate in channelCount == 2 ? rates : [rates[channelCount % rates.count]] {
      let format = AudioFormat(sampleRate: Hertz(rate), channelCount: channelCount)
      try ProcessorConformance(format: format, make: make)
        .check(isSilent: isSilent, keepsLength: keepsLength)
    }
  }
}

/// A promise that a processor broke.
package struct ConformanceFailure: Error, CustomStringConvertible, Sendable {
  /// Which promise, with which sound.
  package let description: String
}

/// The promises of `Processor` for one format.
private struct ProcessorConformance {
  let format: AudioFormat
  let make: (AudioFormat) -> any Processor

  /// Long enough for every group, chunk and look-ahead to be crossed; odd, so that none fits.
  private let frames = 2003

  func check(isSilent: Bool, keepsLength: Bool) throws(ConformanceFailure) {
    for (name, sound) in sounds {
      let reference = sound.processed(by: make(format), cuts: [frames])
      try expect(
        !keepsLength || reference.frameCount == sound.frameCount,
        "\(name): \(reference.frameCount.count) frames out, \(sound.frameCount.count) in")
      try expect(reference.isFinite, "\(name): a sample is not finite")
      try checkCuts(name, sound, reference)
      try checkSnapshot(name, sound, reference)
    }
    if isSilent {
      let silence = TestSound.silence(format, frames: frames)
      let result = silence.processed(by: make(format))
      try expect(result.peakAmplitude == 0, "silence: became \(result.peak.value) dB")
    }
    try checkDamage()
    try checkEmpty()
    try checkWrongSnapshot()
  }

  /// All kinds of sound for stereo; for other channel counts those that differ between channels.
  private var sounds: [(String, TestSound)] {
    let odd: [Float] = [.nan, .infinity, -.infinity, .leastNonzeroMagnitude, -0.0, 1e-38 / 7, 0.5]
    let telling: [(String, TestSound)] = [
      ("babble", .babble(format, frames: frames)),
      (
        "numbers that are none",
        TestSound(format, frames: frames) { odd[($0 * 3 + $1) % odd.count] }
      ),
    ]
    guard format.channelCount == 2 else { return telling }
    return telling + [
      ("noise", .noise(format, frames: frames)),
      ("full-scale square", .square(half: 37, format, frames: frames)),
      ("subnormal noise", .noise(amplitude: 1e-38 / 7, format, frames: frames)),
    ]
  }

  private func checkCuts(
    _ name: String, _ sound: TestSound, _ reference: TestSound
  ) throws(ConformanceFailure) {
    var random = SeededRandom(seed: UInt64(format.channelCount))
    let cuts = (0..<40).map { _ in Int.random(in: 0...700, using: &random) }
    for cuts in [[1, 0, 63, 64, 1, 65, 1023], cuts] {
      let result = sound.processed(by: make(format), cuts: cuts)
      if let difference = result.firstDifference(from: reference) {
        throw failure("\(name) cut into \(cuts.prefix(7))…: \(difference)")
      }
    }
  }

  private func checkSnapshot(
    _ name: String, _ sound: TestSound, _ reference: TestSound
  ) throws(ConformanceFailure) {
    let middle = 1311
    let first = make(format)
    let second = make(format)
    var result = reference[0..<0]
    result.appendOutput(of: first, given: sound[0..<middle], cuts: [300])
    do {
      try second.restore(first.snapshot)
    } catch {
      throw failure("\(name): the processor refuses its own snapshot")
    }
    result.appendOutput(of: second, given: sound[middle..<frames], cuts: [477])
    result.appendRemains(of: second)
    if let difference = result.firstDifference(from: reference) {
      throw failure("\(name), restored at frame \(middle): \(difference)")
    }
  }

  /// A sample that is no number must count as 0, and nothing else may change.
  private func checkDamage() throws(ConformanceFailure) {
    let sound = TestSound.babble(format, frames: frames)
    for value in [Float.nan, .infinity, -.greatestFiniteMagnitude] {
      var (damaged, zeroed) = (sound, sound)
      for channel in damaged.channels.indices {
        damaged.channels[channel][700] = value
        zeroed.channels[channel][700] = 0
      }
      let result = damaged.processed(by: make(format))
      if let difference = result.firstDifference(from: zeroed.processed(by: make(format))) {
        throw failure("\(value) is not taken as 0: \(difference)")
      }
    }
  }

  private func checkEmpty() throws(ConformanceFailure) {
    let nothing = TestSound.silence(format, frames: 0).processed(by: make(format))
    try expect(nothing.frameCount == .zero, "no sound became \(nothing.frameCount.count) frames")
  }

  private func checkWrongSnapshot() throws(ConformanceFailure) {
    var snapshot = make(format).snapshot
    snapshot.bytes.append(0)
    do {
      try make(format).restore(snapshot)
    } catch {
      return
    }
    throw failure("a snapshot that is too long is accepted")
  }

  private func expect(_ isKept: Bool, _ promise: String) throws(ConformanceFailure) {
    if !isKept { throw failure(promise) }
  }

  private func failure(_ text: String) -> ConformanceFailure {
    ConformanceFailure(description: "\(format): \(text)")
  }
}
