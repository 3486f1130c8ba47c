import Audio
import Foundation

/// `benchmarks words`: how exactly `align` finds words in speech whose words' times are known.
struct WordsAccuracy: Benchmark {
  let workshop: Workshop

  /// What the speech goes through, with the greatest median error in milliseconds and the least
  /// share of words within a tenth of a second in percent that it may have.
  private static let conditions: [(condition: SpeechCondition, median: Double, share: Double)] = [
    (.clean, 8, 99),
    (.reverberation(30), 20, 95),
    (.noise("pink", decibels: 10), 12, 98),
    (.noise("pink", decibels: 5), 14, 97),
    (.music(decibels: 5), 19, 96),
    (.babble(decibels: 10), 23, 97),
    (.telephone, 18, 99),
  ]

  func run() throws(BenchmarkError) -> [Verdict] {
    report("Words: where align finds the words of six voices of espeak-ng, in milliseconds and %")
    report(
      String(repeating: " ", count: 22) + Text.row(WordErrors.columns + ["x real"]))
    let sox = try SpeechSox(folder: workshop.folder)
    let voices = try SpeakingVoice.all.map { (voice) throws(BenchmarkError) in
      try SpeakingVoice(name: voice).speak(SpeechTexts.sentences.joined(separator: " "))
    }
    var verdicts: [Verdict] = []
    for (condition, median, share) in Self.conditions {
      var measured = Measured()
      for speech in voices {
        let treated = try condition.applied(to: speech, sox)
        let path = workshop.file("words.wav")
        try SpeechFile.write(treated, to: path)
        try measured.add(path, treated.words, seconds: treated.seconds, workshop)
      }
      measured.report(condition.name)
      verdicts += Self.judge(measured.errors, condition.name, median, share)
    }
    verdicts += try handTimed()
    return verdicts
  }

  /// The same for people, where somebody timed their words.
  private func handTimed() throws(BenchmarkError) -> [Verdict] {
    var measured = Measured()
    let recordings = HandTimedSpeech.all()
    guard !recordings.isEmpty else {
      report("  no recordings with words timed by hand are here")
      return []
    }
    for recording in recordings {
      try measured.add(
        recording.path, recording.words, seconds: recording.seconds, workshop)
    }
    measured.report("timed by hand")
    return Self.judge(measured.errors, "timed by hand", 13, 98.6)
  }

  private static func judge(
    _ errors: WordErrors, _ name: String, _ median: Double, _ share: Double
  ) -> [Verdict] {
    var verdicts: [Verdict] = [
      .atMost(median, "words: \(name): median error", errors.median, unit: " ms", decimals: 1),
      .atLeast(
        share, "words: \(name): within 100 ms", errors.share(within: 0.1), unit: " %", decimals: 1),
      .atMost(0, "words: \(name): wrong without a flag", Double(errors.silentlyWrong), decimals: 0),
    ]
    if name == SpeechCondition.clean.name {
      verdicts.append(
        .atLeast(
          99, "words: \(name): within 50 ms", errors.share(within: 0.05), unit: " %", decimals: 1))
    }
    return verdicts
  }

  /// What was measured under one condition.
  private struct Measured {
    var errors = WordErrors()
    var seconds = 0.0
    var cpu = 0.0

    mutating func add(
      _ path: String, _ words: [TimedSpeech.Word], seconds length: Double, _ workshop: Workshop
    ) throws(BenchmarkError) {
      let text = words.map(\.text).joined(separator: " ")
      let (found, usage) = try SpoolAlignment(workshop: workshop).words(of: text, in: path)
      errors.add(found, truth: words)
      seconds += length
      cpu += usage.cpu.value
    }

    func report(_ name: String) {
      let speed = seconds > 0 ? Text.number(seconds / cpu, 1) : "-"
      benchmarks.report(
        name + String(repeating: " ", count: max(0, 22 - name.count))
          + Text.row(errors.cells + [speed]))
    }
  }
}
