import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite("A script's first line names what reads it")
struct ScriptLineTests {
  @Test(
    "as the kernel and env take it",
    arguments: [
      ("#!/opt/a b\nrest", "/opt/a", false),
      ("#! \t/bin/sh -e  \n", "/bin/sh", false),
      ("#!python3", "python3", false),
      ("#!/usr/bin/env python3\n", "python3", true),
      ("#!/usr/bin/env python3\r\n", "python3\r", true),
      // One word to env, which looks for a program of that name.
      ("#!/usr/bin/env python3 -u\n", "python3 -u", true),
      ("#!/usr/bin/env -S A=1 python3 -u\n", "python3", true),
      ("#!/usr/bin/env ./mine\n", "./mine", false),
      // What env is asked for besides is left to env.
      ("#!/usr/bin/env -i python3\n", "/usr/bin/env", false),
    ])
  func lines(text: String, named: String, isSearched: Bool) {
    let line = ScriptLine(Array(text.utf8))
    #expect(line?.named == named && line?.isSearched == isSearched)
  }

  @Test func `other files name nothing`() {
    for text in ["", "#", "# !/bin/sh", "#!", "#! \n/bin/sh"] {
      #expect(ScriptLine(Array(text.utf8)) == nil)
    }
  }

  @Test("interpreters of interpreters are found, and one that is missing is told")
  func chain() throws {
    let folder = try ScratchFolder()
    try folder.write("#!/usr/bin/env sh\n", to: "shim")
    try folder.write("#!\(folder.file("shim"))\n", to: "script")
    try folder.write("#!/usr/bin/env no-such-python\r\n", to: "broken")
    unsafe chmod(folder.file("shim"), 0o755)
    let found = ScriptLine.interpreters(of: folder.file("script")).map(\.program)
    #expect(Array(found.prefix(2)) == [folder.file("shim"), try #require(Plugin.find("sh"))])
    #expect(ScriptLine.flaw(of: folder.file("script"), called: "s") == nil)
    let flaw = ScriptLine.flaw(of: folder.file("broken"), called: "./broken")
    #expect(flaw?.message == "./broken wants no-such-python\r, which is not on PATH")
    #expect(flaw?.allowed.contains("carriage return") == true)
  }
}
