import Foundation
import Platform
@testable import Proof
import TestSupport
import Testing

@Suite(
  "A quote is proven by Spool and by its script",
  .enabled(if: Program(named: "python3") != nil && Program(named: "openssl") != nil))
struct QuoteTests {
  @Test(
    "whatever it is of: the beginning, the end, everything, less than a second, every format",
    arguments: [0..<1, 0..<100, 99..<101, 320..<650, 1200..<1234, 1233..<1234, 0..<1234],
    SampleFormat.allCases)
  func proven(range: Range<Int>, format: SampleFormat) throws {
    let sample = try SampleQuote(format: format, channels: format == .s24le ? 1 : 2, range: range)
    let found = try #require(sample.check())
    #expect(found.problems == [])
    #expect(found.quote?.range == range)
    let script = try sample.script()
    #expect(script.exitCode == 0, "\(script.text)\(script.errorOutput)")
    #expect(script.errorOutput == "")
    #expect(script.text.contains("lead to the signed root"))
    #expect(script.text.contains(sample.key.verifyingKey.id.hex))
  }

  @Test("the script says which times of which export were proven")
  func times() throws {
    let script = try SampleQuote().script()
    #expect(script.text.contains("clip.wav is 00:00:03.000 to 00:00:07.000 of 'note.wav'"))
    #expect(
      script.text.contains("00:00:03.200 to 00:00:06.500 of it, 00:00:00.200 into the clip"))
  }

  @Test("a key that came another way is taken in place of the one in the folder")
  func keys() throws {
    let sample = try SampleQuote()
    let own = try sample.scratch.write(sample.key.verifyingKey.pem, to: "own.pub")
    let script = try sample.script([own])
    #expect(script.exitCode == 0, "\(script.text)")
    #expect(!script.text.contains("Whose key it is"))
    let other = SigningKey().verifyingKey
    let refused = try sample.script([try sample.scratch.write(other.pem, to: "other.pub")])
    #expect(refused.exitCode == 4)
    #expect(refused.text.contains("other.pub: it is not the key that the receipt names"))
    let found = try #require(sample.check(keys: [other]))
    #expect(found.problems.map(\.reason) == ["it was not signed by a key that is trusted here"])
  }

  @Test("the clip is a WAV file that other programs read, with the samples of its blocks")
  func clip() throws {
    let sample = try SampleQuote()
    let program = """
      import sys, wave
      clip = wave.open(sys.argv[1])
      assert clip.getparams()[:4] == (2, 3, 100, 400), clip.getparams()
      sys.stdout.buffer.write(clip.readframes(500))
      """
    let result = try #require(Program(named: "python3")).run(
      ["-c", program, sample.folder + "/clip.wav"])
    #expect(Array(result.output) == sample.samples(of: 3..<7), "\(result.errorOutput)")
  }

  @Test("a bundle is refused where something is, and nothing is left of one that was not finished")
  func folder() throws {
    let sample = try SampleQuote()
    #expect(throws: SpoolError.self) { try QuoteBundle(at: sample.folder) }
    var bundle: QuoteBundle? = try QuoteBundle(at: sample.scratch.file("half"))
    try bundle?.append("half", to: "quote.json")
    bundle = nil
    #expect(Workspace.names(in: sample.scratch.path) == ["quote"])
    // An empty folder is as good as none.
    try FileManager.default.createDirectory(
      atPath: sample.scratch.file("empty"), withIntermediateDirectories: false)
    let other = try QuoteBundle(at: sample.scratch.file("empty/"))
    try other.append("whole", to: "quote.json")
    try other.finish()
    #expect(Workspace.names(in: sample.scratch.file("empty")) == ["quote.json"])
  }

  @Test("quotes are found in folders, those that lack something too")
  func found() throws {
    let sample = try SampleQuote()
    #expect(ReceiptSearch(below: sample.folder).quotes == [sample.folder])
    #expect(ReceiptSearch(below: sample.scratch.path).quotes == [sample.folder])
    #expect(ReceiptSearch(below: sample.scratch.path).receipts == [])
    try FileManager.default.removeItem(atPath: sample.folder + "/quote.json")
    #expect(ReceiptSearch(below: sample.scratch.path + "/").quotes == [sample.folder])
    #expect(sample.check()?.problems.map(\.name) == ["quote.json"])
    #expect(try sample.script().exitCode == 4)
  }

  @Test("what a process left that was killed is taken away by the next, and nothing else")
  func leftovers() throws {
    let scratch = try ScratchFolder()
    let files = FileManager.default
    // No process has this number: it is beyond what Linux gives.
    for name in ["quote.new-4194305", "quote.new-1", "quote.new-4194306", "other.new-4194305"] {
      try files.createDirectory(
        atPath: scratch.file(name), withIntermediateDirectories: false)
      try scratch.write("half", to: name + "/clip.wav")
    }
    try scratch.write("the user's", to: "quote.new-4194306/letter.txt")
    let bundle = try QuoteBundle(at: scratch.file("quote"))
    try bundle.append("whole", to: QuoteBundle.clipName)
    try bundle.finish()
    #expect(
      try files.contentsOfDirectory(atPath: scratch.path).sorted()
        == ["other.new-4194305", "quote", "quote.new-1", "quote.new-4194306"])
    #expect(
      try files.contentsOfDirectory(atPath: scratch.file("quote.new-4194306")) == ["letter.txt"])
  }
}
