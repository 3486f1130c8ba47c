import Platform
import Testing
@testable import spool

@Suite("What errors recommend exists")
struct AdviceTests {
  @Test(
    "every command that an error names is a command, or a verb of one",
    arguments: CommandName.allCases)
  func command(name: CommandName) throws {
    let words = name.rawValue.split(separator: " ").map(String.init)
    if case .family? = Spool.program.helpSubject(words) { return }
    let whole = Spool.program.command(named: name.rawValue)
    // A verb is the last word: inbox show, proof key import.
    let declaration = try #require(
      whole ?? Spool.program.command(named: words.dropLast().joined(separator: " ")))
    if whole == nil {
      let help = Spool.program.help(for: .command(declaration), width: 80)
      #expect(help.contains(try #require(words.last)), "\(name.rawValue)")
    }
    #expect("\(command: name)" == "spool " + name.rawValue)
  }

  @Test("every option that an error names is an option", arguments: OptionName.allCases)
  func option(name: OptionName) {
    let declared = Spool.program.commands.flatMap(\.options).map(\.name)
    #expect(name == .help || declared.contains(name.rawValue), "\(name.rawValue)")
    #expect("\(option: name)" == "--" + name.rawValue)
  }
}
