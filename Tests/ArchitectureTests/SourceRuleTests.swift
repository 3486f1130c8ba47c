import Testing

@Suite("Source files keep the rules of the house")
struct SourceRuleTests {
  @Test("no file is longer than 400 lines")
  func length() throws {
    for file in try Package.swiftSources() {
      let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
      #expect(count <= 400, "\(file.path) has \(count) lines: make it two files")
    }
  }

  @Test("a comment beside every @unchecked Sendable proves it")
  func uncheckedSendable() throws {
    for file in try Package.swiftSources() {
      for (index, line) in file.lines.enumerated() where isUnchecked(line) {
        #expect(
          isExplained(file.lines, at: index),
          "\(file.place(index)): say in a comment beside it why this may cross threads")
      }
    }
  }

  @Test("a comment counts as proof beside the declaration, and neither far away nor as its summary")
  func proof() {
    let bare = ["/// A thing.", "struct A: @unchecked Sendable {", "  let a: Int", "}"]
    #expect(!isExplained(bare, at: 1))
    #expect(isExplained(["// One owner."] + bare, at: 2))
    #expect(isExplained(["struct A: @unchecked Sendable {", "  // One owner.", "}"], at: 0))
    #expect(!isExplained(["struct A: @unchecked Sendable {", "", "", "", "  // Far."], at: 0))
    #expect(!isUnchecked("// as @unchecked Sendable would"))
  }

  @Test("nothing speaks of the machine it was written on")
  func machinePaths() throws {
    // Put together here, so that this file does not speak of it either.
    let forbidden = ["/" + "work/", "/" + "root/", "/" + "home/"]
    for folder in ["Sources", "Tests", "Pipelines", "Plugins", "samples"] {
      for file in try Package.files(in: folder) {
        for (index, line) in file.lines.enumerated() {
          for path in forbidden {
            #expect(!line.contains(path), "\(file.place(index)) mentions \(path)")
          }
        }
      }
    }
  }

  @Test("only a command can be offered in a line that begins with next:")
  func offers() throws {
    // Put together here, so that this file has no such line either.
    let label = "next" + ":  "
    let writers = try Package.files(in: "Sources").filter { file in
      file.path.hasSuffix(".swift")
        && file.lines.contains { $0.contains("\"\(label)") || $0.contains("\\n\(label)") }
    }
    #expect(writers.map(\.path) == ["Sources/spool/Output/Console.swift"])
  }

  @Test("an error words its own sentence: its action may be a whole one")
  func sentences() throws {
    // Put together here, so that this file has no such line either.
    let own = "cannot \\(error." + "action)"
    for file in try Package.files(in: "Sources") {
      for (index, line) in file.lines.enumerated() {
        #expect(!line.contains(own), "\(file.place(index)): use the error's message or account")
      }
    }
  }

  private func isUnchecked(_ line: String) -> Bool {
    line.split(separator: "//", omittingEmptySubsequences: false)[0].contains("@unchecked Sendable")
  }

  // A documentation comment says what the type is for, and a plain one why it may do this.
  private func isExplained(_ lines: [String], at index: Int) -> Bool {
    lines[max(0, index - 3)...min(lines.count - 1, index + 3)].contains { line in
      let code = line.drop(while: \.isWhitespace)
      return code.hasPrefix("//") && !code.hasPrefix("///")
    }
  }
}
