import Platform
import Testing
@testable import spool

@Suite("An error that ends a command")
struct ErrorTextTests {
  private let console = Console()

  @Test("decides the exit code by its kind")
  func exitCodes() {
    #expect(SpoolError("no").exitCode == .failed)
    #expect(SpoolError("no", kind: .missing).exitCode == .failed)
    #expect(SpoolError("no", kind: .broken).exitCode == .verificationFailed)
    #expect(SpoolError("no", kind: .invalid).exitCode == .usage)
    #expect(SpoolError.usage("no").exitCode == .usage)
    #expect(SpoolError("no", kind: .denied).asUsage.exitCode == .usage)
  }

  @Test("has three parts, and control characters in none")
  func parts() {
    let error = SpoolError("write", "/a\u{1B}b", reason: "it is full", advice: "free some space")
    #expect(
      error.text(console)
        == "error: cannot write $'/a\\eb'\nwhy:   it is full\nhelp:  free some space")
    #expect(SpoolError.usage("no such note").text(console) == "error: no such note")
  }

  @Test("of a file shows its problems, and their number last")
  func problems() {
    let error = SpoolError("2 problems in p.yaml", reason: "p.yaml:1:1: …\n", kind: .invalid)
    #expect(error.text(console) == "p.yaml:1:1: …\n\n2 problems in p.yaml")
  }

  @Test("of a command line shows the others with it")
  func others() {
    let errors = [SpoolError.usage("one"), SpoolError("two", advice: "three")]
    let error = SpoolError.all(errors)
    #expect(error?.text(console) == "error: one\nerror: two\nhelp:  three")
  }
}

@Suite("An object of JSON")
struct JSONLineTests {
  @Test("has the members that are not nil, by name")
  func members() {
    let none: String? = nil
    let line = JSONLine("reused", ["step": "eq", "done": 1.5, "kind": none, "files": ["a"]])
    #expect(JSONText.of(line) == #"{"done":1.5,"event":"reused","files":["a"],"step":"eq"}"#)
    #expect(JSONText.of(JSONLine(["summary": JSONLine([:])])) == #"{"summary":{}}"#)
  }
}
