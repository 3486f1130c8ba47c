import Intake
import PipelineModel
import Platform
import Testing
@testable import spool

@Suite("How good the words of a run are is said in a line, and in a section")
struct WordQualityTests {
  private static let findings = #"""
    {"extraWords":12,"heardShare":0.98,"quality":{"charactersPerSecond":14.23,"coverage":0.969,
    "interpolated":0.025,"longestWord":{"endTime":752.4,"startTime":751,"text":"thermo\u202Edynamics"},
    "longestUntranscribed":{"from":62,"speech":12.3,"to":80},"loops":[],"lowConfidence":0.015,
    "outsideSpeech":0.004,"rateOutliers":[],"timed":0.975,"untimed":0,"words":1240}}
    """#

  private func run(_ findings: String?...) -> RunRecord {
    var run = RunRecord(
      id: RunID("r"), pipeline: "words", pipelinePath: "/words.yaml", inputs: [:], overrides: [:],
      startedAt: 0)
    run.steps = findings.enumerated().map { index, text in
      StepRecord(
        id: StepID(index == 0 ? "align" : "align-\(index + 1)"), kind: "align", outcome: .made,
        findings: text)
    }
    return run
  }

  @Test("counts, the longest word, and how much of the speech has words")
  func line() {
    #expect(
      WordQuality.all(of: run(Self.findings)).map(\.line) == [
        "1,209 timed · 31 interpolated · 19 unsure · longest 1.4 s (thermo\u{202E}dynamics) · "
          + "speech covered 97 %"
      ])
  }

  @Test("where there is no speech, none of it is covered")
  func silence() {
    let nothing = #"{"quality":{"speech":0,"outsideSpeech":0,"timed":1,"words":0}}"#
    #expect(WordQuality.all(of: run(nothing)).map(\.line) == ["no speech was heard"])
    let words = #"{"quality":{"speech":0,"outsideSpeech":1,"timed":1,"words":2}}"#
    #expect(
      WordQuality.all(of: run(words)).map(\.line) == [
        "2 timed · 0 interpolated · 0 unsure · no speech was heard"
      ])
    #expect(RunSummary(run(words)).fullLines.contains("  speech covered  no speech was heard"))
  }

  @Test("a run's summary has the line, steers no terminal, and names steps where there are several")
  func summary() {
    let one = RunSummary(run(Self.findings)).lines
    #expect(one.contains { $0.hasPrefix("words  1,209 timed") && $0.contains("o\u{FFFD}d") })
    let two = RunSummary(run(Self.findings, Self.findings)).lines
    #expect(two.contains { $0.hasPrefix("words of align-2  1,209 timed") })
    #expect(
      !RunSummary(run(nil, #"{"integratedLoudness":-16}"#, "no JSON")).lines.joined()
        .contains("timed"))
  }

  @Test("the section has a figure a line")
  func section() {
    let lines = RunSummary(run(Self.findings)).fullLines
    #expect(lines.contains("words of align"))
    #expect(lines.contains("  interpolated           31      3 %"))
    #expect(lines.contains("  without words   12.3 s of speech at most, from 1:02"))
    #expect(lines.contains("  outside speech  0.4 % of the words’ time"))
    #expect(lines.contains("  not in the text 12 words heard"))
  }

  @Test("as JSON, what steps found out is an object beside the run's own members")
  func json() {
    let text = JSONText.of(run(Self.findings).line)
    #expect(text.contains(#""findings":{"align":{"extraWords":12,"#))
    #expect(text.contains(#""pipeline":"words""#))
  }

  @Test("the log of a watch has the line behind the files")
  func watch() throws {
    let findings = run(Self.findings).findings
    let news = WatchEvent(
      .uploaded, at: 0, file: "walk.m4a", exports: ["/a", "/b"], findings: findings, seconds: 1.2)
    let line = WatchLog.line(news)
    #expect(line.contains("walk.m4a: 2 files, 1,209 timed · 31 interpolated"))
    #expect(line.hasSuffix("speech covered 97 %, in 1.2 s"))
    #expect(JSONText.of(news).contains(#""findings":{"align":{"extraWords":12"#))
  }

  @Test("a batch adds its files up, and names the one with the most doubt")
  func tally() {
    var tally = WordTally()
    let reports = WordQuality.all(of: run(Self.findings))
    tally.add(reports, of: "a.wav")
    #expect(tally.line == nil)
    tally.add(reports + reports, of: "b.wav")
    #expect(
      tally.line == "words  3,627 timed · 93 interpolated · 57 unsure, in 2 files; "
        + "the least sure is a.wav (4 % in doubt)")
    #expect(Count.grouped(1_234_567) == "1,234,567" && Count.grouped(12) == "12")
    #expect(Count.grouped(-123) == "-123")
  }
}
