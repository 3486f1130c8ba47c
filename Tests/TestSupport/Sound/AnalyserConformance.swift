package import Audio

/// What every analyser promises, tried on one kind of analyser: throws at the first promise that is
/// broken, saying which, with which sound.
///
/// Tried are: the same finding however the sound is cut (blocks of 0 and 1 frame included); the
/// same finding, and on the way the same snapshot, after a snapshot was restored into a fresh
/// analyser, at several frames; a sample that is no number counting as 0; and that snapshots of the
/// wrong length are refused. For 1 to 8 channels and 8 to 96 kHz.
package func checkAnalyserConformance<Subject: Analyser>(
  make: @escaping (AudioFormat) -> Subject
) throws(ConformanceFailure) where Subject.Finding: Equatable {
  let rates = [48_000.0, 8000, 96_000, 22_050]
  for channelCount in 1...8 {
    // Every rate for stereo; for the others one each, to keep the suite quick.
    for rate in channelCount == 2 ? rates : [rates[channelCount % rates.count]] {
      let format = AudioFormat(sampleRate: Hertz(rate), channelCount: channelCount)
      try AnalyserConformance(format: format, make: make).check()
    }
  }
}

/// The promises of `Analyser` for one format.
private struct AnalyserConformance<Subject: Analyser> where Subject.Finding: Equatable {
  let format: AudioFormat
  let make: (AudioFormat) -> Subject

  /// Half a second and a few frames, which no block fits.
  private var frames: Int { Int(format.sampleRate.value / 2) + 37 }

  func check() throws(ConformanceFailure) {
    let sounds: [(String, TestSound)] = [
      // Some of it clipped, in runs.
      (
        "babble", TestSound.babble(amplitude: 2, format, frames: frames).map { min(max($0, -1), 1) }
      ),
      ("noise", .noise(amplitude: 0.3, format, frames: frames)),
      ("full-scale square", .square(half: 37, format, frames: frames)),
    ]
    for (name, sound) in sounds {
      let reference = finding(of: sound, cuts: [frames])
      for cuts in [[1, 0, 63, 64, 1, 65, 1023], [300, 7, 4801]] {
        try expect(
          finding(of: sound, cuts: cuts) == reference, "\(name): the cut into \(cuts)… matters")
      }
      for frame in [0, 1, 64, 1311, frames / 5, frames / 2, frames - 1, frames] {
        try checkSnapshot(name, sound, frame, reference)
      }
    }
    try checkDamage()
    try checkWrongSnapshots()
  }

  private func finding(of sound: TestSound, cuts: [Int]) -> Subject.Finding {
    let subject = make(format)
    sound.analysed(by: subject, cuts: cuts)
    return subject.finding()
  }

  private func checkSnapshot(
    _ name: String, _ sound: TestSound, _ frame: Int, _ reference: Subject.Finding
  ) throws(ConformanceFailure) {
    let first = make(format)
    let second = make(format)
    sound[0..<frame].analysed(by: first, cuts: [300])
    do {
      try second.restore(first.snapshot)
    } catch {
      throw failure("\(name): the analyser refuses its own snapshot of frame \(frame)")
    }
    try expect(
      first.snapshot == second.snapshot, "\(name): the state of frame \(frame) is not restored")
    for subject in [first, second] { sound[frame..<frames].analysed(by: subject, cuts: [477]) }
    try expect(
      first.snapshot == second.snapshot, "\(name): restored at frame \(frame), the states differ")
    try expect(second.finding() == reference, "\(name): restored at frame \(frame), it differs")
  }

  /// A sample that is no number must count as 0, and nothing else may change.
  private func checkDamage() throws(ConformanceFailure) {
    for value in [Float.nan, .infinity, -.infinity] {
      var damaged = TestSound.babble(format, frames: frames)
      var zeroed = damaged
      for channel in damaged.channels.indices {
        damaged.channels[channel][1700] = value
        zeroed.channels[channel][1700] = 0
      }
      try expect(
        finding(of: damaged, cuts: [4096]) == finding(of: zeroed, cuts: [4096]),
        "\(value) is not taken as 0")
    }
  }

  private func checkWrongSnapshots() throws(ConformanceFailure) {
    let subject = make(format)
    TestSound.babble(format, frames: frames).analysed(by: subject)
    let snapshot = subject.snapshot
    let wrong = [
      ProcessorSnapshot(bytes: snapshot.bytes + [0]),
      ProcessorSnapshot(bytes: snapshot.bytes.dropLast()),
      ProcessorSnapshot(), ProcessorSnapshot(bytes: Array(repeating: 0xff, count: 64)),
    ]
    for wrong in wrong {
      do {
        try make(format).restore(wrong)
      } catch {
        continue
      }
      throw failure("a snapshot of \(wrong.bytes.count) wrong bytes is accepted")
    }
  }

  private func expect(_ isKept: Bool, _ promise: String) throws(ConformanceFailure) {
    if !isKept { throw failure(promise) }
  }

  private func failure(_ text: String) -> ConformanceFailure {
    ConformanceFailure(description: "\(format): \(text)")
  }
}
