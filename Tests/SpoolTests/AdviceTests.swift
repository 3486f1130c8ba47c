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
    let declaration = try #require(Spool.program.commands.first { $0.name == words[0] })
    if words.count > 1 {
      let help = Spool.program.help(for: declaration, width: 80)
      #expect(help.contains(words[1]), "\(name.rawValue)")
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
