import Testing
@testable import Platform

@Suite("The lexer cuts a command line into tokens")
struct ArgumentLexerTests {
  private func tokens(_ words: String...) -> [ArgumentLexer.Token] {
    var lexer = ArgumentLexer(words)
    var tokens: [ArgumentLexer.Token] = []
    while let token = lexer.next() { tokens.append(token) }
    return tokens
  }

  @Test("of three kinds")
  func kinds() {
    #expect(
      tokens("a", "--long", "--out=x=y", "--empty=", "-abc", "-") == [
        .value("a"), .long("long", attached: nil), .long("out", attached: "x=y"),
        .long("empty", attached: ""), .short("a"), .short("b"), .short("c"), .value("-"),
      ])
  }

  @Test("and takes a double dash for the end of options, once")
  func doubleDash() {
    #expect(
      tokens("-a", "--", "-b", "--", "--c") == [
        .short("a"), .value("-b"), .value("--"), .value("--c"),
      ])
  }

  @Test("and cuts at an equals sign whatever follows it")
  func combiningCharacters() {
    #expect(tokens("--out=\u{301}e") == [.long("out", attached: "\u{301}e")])
  }

  @Test("and gives an option what belongs to it")
  func values() {
    var lexer = ArgumentLexer(["-oDIR", "-p=x", "-q", "next", "--r", "-s", "--t="])
    #expect(lexer.next() == .short("o"))
    #expect(lexer.takeValue() == "DIR")
    #expect(lexer.next() == .short("p"))
    #expect(lexer.takeValue() == "x")
    #expect(lexer.next() == .short("q"))
    #expect(lexer.takeValue() == "next")
    #expect(lexer.next() == .long("r", attached: nil))
    #expect(lexer.takeValue() == nil)
    #expect(lexer.next() == .short("s"))
    #expect(lexer.next() == .long("t", attached: ""))
    #expect(lexer.takeValue() == "")
    #expect(lexer.takeValue() == nil)
    #expect(lexer.next() == nil)
  }

  @Test("and takes a negative number behind an option for its value, and nothing else with a dash")
  func negativeNumbers() {
    var lexer = ArgumentLexer(["-t", "-16", "--to", "-1:30", "--gain", "-.5dB", "-n", "-x"])
    for value in ["-16", "-1:30", "-.5dB", nil] {
      _ = lexer.next()
      #expect(lexer.takeValue() == value)
    }
    #expect(lexer.next() == .short("x"))
  }
}
