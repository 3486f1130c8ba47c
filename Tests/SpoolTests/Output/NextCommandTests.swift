import Intake
@testable import Store
import Testing
@testable import spool

@Suite("A line that begins with next: is a command to paste")
struct NextCommandTests {
  @Test(
    "what Spool does not take is none, and so is text for people",
    arguments: [
      "spool resume goes on with all of it", "free some space", "name a file",
      "spool runs lists them",
      "spool", "spool --help", "ls", "spool resume 'x",
    ])
  func prose(text: String) { #expect(NextCommand(text) == nil) }

  @Test(
    "a recorded command stays as it is",
    arguments: [
      "spool resume 20261125-223105-9c58", "spool runs forget --failed", "spool proof stamp",
      "spool watch p.yaml '/my inbox' --store /s", "spool inbox list --state failed", "spool runs",
      "spool store repair", "spool store gc",
    ])
  func command(line: String) { #expect(NextCommand(line)?.text == "next:  " + line) }

  @Test("text among the words of a command is one quoted word of it")
  func words() {
    let command = NextCommand(["spool", "verify", "a b; goes on", "c\nd"])
    #expect(command.text == #"next:  spool verify 'a b; goes on' $'c\nd'"#)
  }

  @Test("what recordings and their tally offer are commands", arguments: RecordingState.allCases)
  func offered(state: RecordingState) {
    var tally = RecordingTally()
    tally.counts[state] = RecordingTally.Count(count: 1, since: 0)
    for line in tally.nextCommands {
      #expect(NextCommand(StoreOption("/a store").completing(line)) != nil, "\(line)")
    }
  }
}
