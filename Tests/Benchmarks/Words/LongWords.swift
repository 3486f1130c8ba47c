import Audio
import Foundation

/// `benchmarks words`, its second part: a long recording, and texts that do not quite fit it.
struct LongWords: Benchmark {
  let workshop: Workshop
  let minutes: Int

  func run() throws(BenchmarkError) -> [Verdict] {
    let recording = try LongSpeech(folder: workshop.folder, minutes: minutes)
    report("Words of a long recording: \(Text.number(recording.seconds / 60, 1)) min")
    report(String(repeating: " ", count: 22) + Text.row(WordErrors.columns))
    var verdicts = try exact(recording)
    for fault in LongSpeech.Fault.allCases {
      let words = recording.words(with: fault)
      let (found, _) = try SpoolAlignment(workshop: workshop)
        .words(of: words.map(\.text).joined(separator: " "), in: recording.path)
      var errors = WordErrors()
      errors.add(found, truth: words)
      show(fault.rawValue, errors)
      verdicts.append(
        .atMost(
          0, "words: \(fault.rawValue): wrong without a flag", Double(errors.silentlyWrong),
          decimals: 0))
    }
    return verdicts
  }

  /// The whole text: on one core and on all.
  private func exact(_ recording: LongSpeech) throws(BenchmarkError) -> [Verdict] {
    let text = recording.words.map(\.text).joined(separator: " ")
    let (found, one) = try SpoolAlignment(workshop: workshop, isOnOneCore: true)
      .words(of: text, in: recording.path)
    let (again, all) = try SpoolAlignment(workshop: workshop).words(of: text, in: recording.path)
    let perMinute = 160
    let ends = [
      ("first minute", 0..<min(perMinute, found.count)),
      ("last minute", max(0, found.count - perMinute)..<found.count), ("all", 0..<found.count),
    ]
    var verdicts: [Verdict] = []
    for (name, range) in ends {
      var errors = WordErrors()
      errors.add(Array(found[range]), truth: Array(recording.words[range]))
      show(name, errors)
      if name == "all" {
        verdicts.append(
          .atMost(0, "words: long: wrong without a flag", Double(errors.silentlyWrong), decimals: 0)
        )
      }
    }
    let speeds = [one, all].map { recording.seconds / $0.wall.value }
    report(
      "  \(Text.number(speeds[0], 1)) x real time on one core "
        + "(\(Text.number(recording.seconds / one.cpu.value, 1)) x by its processor time), "
        + "\(Text.number(speeds[1], 1)) x on all; \(Text.megabytes(all.peakMemory))")
    let isSame = found.map(\.start) == again.map(\.start)
    if !isSame { report("  THE WORDS DEPEND ON THE NUMBER OF CORES") }
    return verdicts + [
      .atLeast(30, "words: long: speed on one core", speeds[0], unit: " x", decimals: 1),
      .atLeast(50, "words: long: speed on all cores", speeds[1], unit: " x", decimals: 1),
      .atMost(150, "words: long: memory", Double(all.peakMemory) / 1e6, unit: " MB", decimals: 1),
    ]
  }

  private func show(_ name: String, _ errors: WordErrors) {
    report(
      name + String(repeating: " ", count: max(0, 22 - name.count)) + Text.row(errors.cells))
  }
}
