import Platform
import TestSupport
import Testing

@Suite("Words for a shell")
struct ShellWordsTests {
  private static let words = [
    "plain", "a b", "it's", "", "a\nb", "\t'\\\r", "\u{1B}[31m", "x\u{202E}y", "Käse.wav", "$HOME",
    "\u{301}x '\u{301}", "a\u{9F}b'\u{2029}",
  ]

  @Test("are what bash reads of them, and can be printed", arguments: words)
  func bash(word: String) throws {
    let line = ShellWords.line([word])
    #expect(!line.unicodeScalars.contains { $0.isSteering })
    let bash = try #require(Program(named: "bash"))
    let read = try bash.run(["-c", "printf %s \(line)"], environment: ["LC_ALL": "C.UTF-8"])
    #expect(read.text == word)
    #expect(ShellWords.words(of: line).map { $0.map(ExactText.init) } == [ExactText(word)])
  }

  @Test("names in a path are parted at each slash, even one with an accent")
  func pathNames() {
    #expect("/a//b/".pathNames == ["a", "b"])
    #expect("../\u{301}b".pathNames.map(ExactText.init) == ["..", "\u{301}b"].map(ExactText.init))
    #expect("".pathNames == [])
  }

  @Test("a path is shown as it is, unless it would steer the terminal")
  func paths() {
    #expect(ShellWords.visible(path: "/a b/it's.wav") == "/a b/it's.wav")
    #expect(ShellWords.visible(path: "a\nb.wav") == #"$'a\nb.wav'"#)
  }

  @Test("are found in a line again, and none is where a quotation is open")
  func reading() {
    let plain = ["spool", "run", "a b", "it's", "--set", "x=1", ""]
    #expect(ShellWords.words(of: ShellWords.line(plain)) == plain)
    #expect(ShellWords.words(of: "  a  b ") == ["a", "b"])
    #expect(ShellWords.words(of: "a 'b") == nil)
    #expect(ShellWords.first(of: "a 'b") == "a")
    #expect(ShellWords.first(of: "'a b' c") == "a b")
    #expect(ShellWords.first(of: " ") == nil)
  }
}
