import Platform
import Testing

@Suite("Manual pages")
struct ManPageTests {
  private let program = ProgramDeclaration(
    name: "spool", summary: "Take recordings in.", version: "1.0",
    commands: [
      CommandDeclaration(
        name: "run", group: "Work", summary: "Run a pipeline's stages.",
        discussion: "One.\n\n.two and a \\ in it",
        positionals: [Positional<String>.required("PIPELINE", help: "The file.")],
        options: [
          Option<String?>.value(
            "out", "DIR", short: "o", help: "The folder.", defaultText: "exports")
        ], examples: [Example("Run it", "spool run a.yaml --set x='1'")])
    ])

  @Test("of a command show what help shows, and text stays text")
  func command() throws {
    let run: CommandDeclaration = try #require(program.command(named: "run"))
    let page = program.manPage(for: .command(run))
    let lines = page.split(separator: "\n").map(String.init)
    for line in [
      ".TH SPOOL\\-RUN 1 \"\" \"spool 1.0\"", "spool\\-run \\- Run a pipeline\\(aqs stages",
      "\\fBspool run\\fR \\fIPIPELINE\\fR [options]", "\\&.two and a \\e in it",
      "\\fB\\-o, \\-\\-out DIR\\fR", "The folder. (default: exports)",
      "spool run a.yaml \\-\\-set x=\\(aq1\\(aq", ".BR spool (1)",
    ] { #expect(lines.contains(line), "\(line)") }
  }

  @Test("of the program name the pages of all commands")
  func whole() {
    let page = program.manPage(for: .program)
    #expect(page.hasSuffix(".SH SEE ALSO\n.BR spool\\-run (1)\n"))
    #expect(page.contains(".SS Work\n.TP\n\\fBrun\\fR\nRun a pipeline\\(aqs stages.\n"))
  }

  @Test("of a family list its commands, and that of the program names the page")
  func family() throws {
    let family = try #require(Fixture.grouped.families.first { $0.name == "runs" })
    let page = Fixture.grouped.manPage(for: .family(family))
    let lines = page.split(separator: "\n").map(String.init)
    for line in [
      ".TH SPOOL\\-RUNS 1 \"\" \"spool 1.2.3\"", "spool\\-runs \\- Look at runs",
      "\\fBspool runs\\fR \\fICOMMAND\\fR [options]", "\\fBshow\\fR", "Give up a run.",
      ".BR spool\\-runs\\-list (1),", ".BR spool\\-runs\\-forget (1)",
    ] { #expect(lines.contains(line), "\(line)") }
    let whole = Fixture.grouped.manPage(for: .program)
    #expect(whole.contains(".SH SEE ALSO\n.BR spool\\-runs (1),\n.BR spool\\-store (1),\n"))
  }
}
