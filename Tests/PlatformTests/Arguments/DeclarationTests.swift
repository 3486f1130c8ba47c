import Testing
import Platform

@Suite("A declaration that contradicts itself stops the program")
struct DeclarationTests {
  @Test("when two options of a command share a letter")
  func sharedLetter() async {
    await #expect(processExitsWith: .failure) {
      let one: Option<Bool> = .flag("one", short: "o", help: "")
      let other: Option<Bool> = .flag("other", short: "o", help: "")
      let command = CommandDeclaration(
        name: "run", group: "", summary: "", options: [one, other])
      _ = ProgramDeclaration(name: "p", summary: "", version: "", commands: [command])
    }
  }

  @Test("when an option has the name of a global one")
  func sharedName() async {
    await #expect(processExitsWith: .failure) {
      let json: Option<Bool> = .flag("json", help: "")
      let command = CommandDeclaration(name: "run", group: "", summary: "", options: [json])
      _ = ProgramDeclaration(
        name: "p", summary: "", version: "", commands: [command], globalOptions: [json])
    }
  }

  @Test("when an argument stands behind one that takes every place")
  func unreachableArgument() async {
    await #expect(processExitsWith: .failure) {
      let many: Positional<[String]> = .repeated("MANY", help: "")
      let one: Positional<String> = .required("ONE", help: "")
      _ = CommandDeclaration(name: "run", group: "", summary: "", positionals: [many, one])
    }
  }

  @Test("and so does a look-up of what the command does not declare")
  func undeclared() async {
    await #expect(processExitsWith: .failure) {
      let arguments = try #require(try Fixture.arguments("show"))
      _ = arguments[Fixture.out]
    }
    await #expect(processExitsWith: .failure) {
      let arguments = try #require(try Fixture.arguments("show"))
      _ = arguments[Fixture.pipeline]
    }
  }

  @Test("but one that is sound does not")
  func sound() async {
    await #expect(processExitsWith: .success) {
      let arguments = try #require(try Fixture.arguments("show"))
      _ = arguments[Fixture.run]
    }
  }
}
