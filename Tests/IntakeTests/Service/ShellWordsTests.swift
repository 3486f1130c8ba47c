@testable import Intake
import PipelineModel
import Platform
import Testing

@Suite struct ShellWordsTests {
  @Test("words are quoted where a shell would take them apart, and only there")
  func quoting() {
    #expect(
      ShellWords.line(["spool", "batch", "/a b/c.yaml", "--name", "{album}/it's", ""])
        == "spool batch '/a b/c.yaml' --name '{album}/it'\\''s' ''")
  }
}

@Suite struct FirstWordTests {
  @Test("the first word of a line is found as a shell finds it")
  func first() {
    #expect(ShellWords.first(of: "  whisper-cli -m x") == "whisper-cli")
    #expect(ShellWords.first(of: "'/my tools'/\"a b\"\\ c -m x") == "/my tools/a b c")
    #expect(ShellWords.first(of: "''") == "")
    #expect(ShellWords.first(of: " ") == nil)
    #expect(ShellWords.first(of: "'open -m x") == nil)
  }
}

@Suite struct StoreOptionTests {
  @Test("a command names the store where it is not the usual one, as a shell takes it")
  func naming() {
    #expect(StoreOption.usual.completing("spool status") == "spool status")
    #expect(
      StoreOption("/my disk/store").completing("spool inbox retry 1")
        == "spool inbox retry 1 --store '/my disk/store'")
  }
}
