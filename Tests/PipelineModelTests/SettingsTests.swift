import PipelineModel
import Testing

@Suite struct SettingsTests {
  private func problem(_ text: String) -> Problem? {
    let problems = ParsedSettings(text).problems
    return problems.count == 1 ? problems[0] : nil
  }

  @Test func `without a word, sound is kept for 30 days, without a limit of size`() {
    for text in ["retention: {}", "# nothing yet\n"] {
      let parsed = ParsedSettings(text)
      #expect(parsed.problems == [] && parsed.definition == SettingsDefinition())
    }
    #expect(SettingsDefinition().soundAge == 30 * 86_400)
    #expect(SettingsDefinition().size == nil && SettingsDefinition().isAutomatic)
  }

  @Test func `ages, sizes and the switch are read`() {
    let settings = ParsedSettings(
      "retention: { intermediate-sound: 2 weeks, words: forever, size: 50 GB, auto: false }")
    #expect(settings.problems == [])
    #expect(settings.definition.soundAge == 14 * 86_400)
    #expect(settings.definition.size == 50_000_000_000 && !settings.definition.isAutomatic)
    let endless = ParsedSettings("retention: { intermediate-sound: forever, size: unlimited }")
    #expect(endless.problems == [] && endless.definition.soundAge == .infinity)
    #expect(endless.definition.size == nil)
  }

  @Test func `a mistake is named with its line, what is allowed and the nearest word`() {
    let key = problem("retention:\n  intermediate-sund: 3 days\n")
    #expect(key?.location?.line == 2 && key?.suggestion == "intermediate-sound")
    #expect(key?.allowed == "intermediate-sound, words, size, auto")
    #expect(problem("retension: {}")?.suggestion == "retention")
    #expect(problem("retention: { words: 3 days }")?.allowed == "forever")
    #expect(problem("retention: { size: 50 }")?.message == #"size is "50""#)
    #expect(problem("retention: { size: unlimitd }")?.suggestion == "unlimited")
    #expect(problem("retention: { auto: no }")?.suggestion == "false")
    #expect(problem("retention: { intermediate-sound: -1 days }") != nil)
  }
}
