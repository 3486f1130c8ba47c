import PipelineModel
@testable import Stages
import Testing

@Suite("Words of a command: braces that name something, and braces that mean something else")
struct CommandWordTests {
  @Test(
    "names are found and filled",
    arguments: [
      ("{input}", ["input"], "/a b"),
      ("if={input}", ["input"], "if=/a b"),
      ("{input}{model}", ["input", "model"], "/a b-rf"),
      ("{model}", ["model"], "-rf"),
      ("plain", [], "plain"),
      ("", [], ""),
      ("{print $1}", [], "{print $1}"),
      ("{}", [], "{}"),
      ("{ input }", [], "{ input }"),
      ("{{input}}", [], "{input}"),
      ("{{input}} is {input}", ["input"], "{input} is /a b"),
      (".[] | {a: {b: .c}}", [], ".[] | {a: {b: .c}}"),
      ("{{{input}}}", [], "{{input}}"),
      ("{input", [], "{input"),
      ("{Input}", [], "{Input}"),
    ])
  func filling(text: String, names: [String], filled: String) {
    let word = CommandWord(text)
    #expect(word.names == names)
    #expect(word.filled(["input": "/a b", "model": "-rf"]) == filled)
  }

  @Test("a word whose name has no path is none")
  func missing() {
    #expect(CommandWord("--text={words}").filled(["input": "/a"]) == nil)
  }

  @Test("a path is put in as it is, braces and all")
  func once() {
    #expect(
      CommandWord("{input} {model}").filled(["input": "{model}", "model": "m"]) == "{model} m")
  }

  @Test("to try a command alone, files have their paths and the rest stands for one's own files")
  func trial() throws {
    let order = try CommandStage.Order(
      .group([
        "run": .list([.text("cat"), .text("{model}"), .text("--in={input}")]),
        "files": .group(["model": .text("/m/a b")]),
      ]))
    #expect(
      order.trial == "try it alone, with files of yours for INPUT: cat '/m/a b' --in=INPUT")
  }
}
