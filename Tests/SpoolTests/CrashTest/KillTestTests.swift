import Foundation
import Platform
import TestSupport
import Testing
@testable import spool

/// Programs that do what they should not, each in a shell script that is called like `spool`.
@Suite("A crash test finds what is wrong")
struct KillTestTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// What a script says before its own words: it goes on in a store, and takes half a second or so.
  private static let opening = """
    while [ "$1" != --store ]; do shift; done
    store=$2 out=$4
    mkdir -p "$store" "$out"
    echo '{"event":"pass","steps":["all"]}'
    echo '{"event":"progress","step":"all","done":1}'
    first=$store/first; [ -e "$first" ] && again=yes; touch "$first"

    """

  private func carryOut(
    _ script: String, _ plan: KillPlan = .atRandom(kills: 6, seed: 1), keeps: Bool = false,
    shouldStop: @escaping () -> Bool = { false }
  ) throws -> KillTestResult {
    try test(script, keeps: keeps, shouldStop: shouldStop).carryOut(plan)
  }

  private func test(
    _ script: String, keeps: Bool = false, shouldStop: @escaping () -> Bool = { false }
  ) throws -> KillTest {
    let program = try scratch.write(Self.opening + script, to: "program")
    let run = TestedRun(
      program: ["/bin/sh", program], pipeline: "p", inputs: ["i"], overrides: ["a=b"])
    return KillTest(
      of: run, scratch: scratch.path, keepsEverything: keeps, shouldStop: shouldStop
    ) { _ in }
  }

  private var leftovers: [String] {
    Workspace.names(in: scratch.path).filter { $0.hasPrefix("spool-crashtest-") }
  }

  @Test("a program that writes beside and renames is found sound, and nothing stays")
  func sound() throws {
    let result = try carryOut(
      """
      rm -f "$out"/.spool-*
      echo half > "$out/.spool-1.part"; sleep 0.1
      echo whole >> "$out/.spool-1.part"; mv "$out/.spool-1.part" "$out/a"
      """)
    #expect(result.differences == [])
    #expect(result.kills == 6)
    #expect(result.outputs == result.series && result.identicalOutputs == result.series)
    #expect(result.checks >= result.kills + result.series)
    #expect(result.keptFolder == nil)
    #expect(leftovers == [])
  }

  @Test("what a program complains of is taken apart, however many lines it has")
  func complaint() {
    let parts = ScratchStore.complaint(
      in: "error: cannot read a.wav\nwhy:   it is: gone\nhelp:  check the path\n")
    #expect(parts.reason == "cannot read a.wav: it is: gone" && parts.advice == "check the path")
    let other = ScratchStore.complaint(in: "Fatal\n  at line 3\n")
    #expect(other.reason == "Fatal: at line 3" && other.advice == nil)
    #expect(ScratchStore.complaint(in: "").reason == "")
  }

  @Test("a half file under its final name is found, and both files are kept")
  func halfFile() throws {
    let result = try carryOut(
      #"echo half > "$out/a"; sleep 0.2; echo whole >> "$out/a""#)
    let difference = try #require(result.differences.first)
    #expect(difference.kind == .bytes(offset: 5))
    #expect(FileManager.default.fileExists(atPath: difference.path))
    #expect(FileManager.default.fileExists(atPath: try #require(difference.referencePath)))
    #expect(result.keptFolder.map { difference.path.hasPrefix($0) } == true)
  }

  @Test("a run that goes on differently from how it began is found")
  func otherBytes() throws {
    let result = try carryOut(
      #"sleep 0.2; echo "again=$again" > "$out/.spool-1.part"; mv "$out/.spool-1.part" "$out/a""#)
    #expect(result.differences.contains { $0.kind == .bytes(offset: 6) })
    #expect(result.identicalOutputs < result.outputs)
  }

  @Test("a file that a run forgets, adds or leaves behind is found")
  func wrongNames() throws {
    let forgets = try carryOut(#"sleep 0.2; : > "$out/b"; [ $again ] || : > "$out/a""#)
    #expect(forgets.differences.contains { $0.kind == .missing && $0.path.hasSuffix("/out/a") })
    let adds = try carryOut(#"sleep 0.2; : > "$out/a"; [ $again ] && : > "$out/b"; true"#)
    #expect(adds.differences.contains { $0.kind == .unexpected })
    let leaves = try carryOut(
      #": > "$out/.spool-$$.part"; sleep 0.2; : > "$out/a"; rm "$out/.spool-$$.part""#)
    #expect(leaves.differences.contains { $0.kind == .leftover })
  }

  @Test("a run that cannot go on is found, with its exit code and its words")
  func failure() throws {
    let result = try carryOut(
      #"[ $again ] && { echo locked >&2; exit 3; }; sleep 0.2; : > "$out/a""#)
    let difference = try #require(result.differences.first)
    #expect(difference.kind == .failedRun(exitCode: 3))
    #expect(try String(contentsOfFile: difference.path, encoding: .utf8) == "locked\n")
  }

  @Test("an undisturbed run that fails or leaves nothing is no test at all")
  func noReference() throws {
    let test = try test("echo bad >&2; exit 2")
    let failed = #expect(throws: SpoolError.self) {
      try test.carryOut(.atRandom(kills: 6, seed: 1))
    }
    #expect(test.referenceExitCode == 2)
    #expect(failed?.reason?.contains("bad") == true)
    #expect(throws: SpoolError.self) { try carryOut("true") }
    #expect(leftovers == [])
  }

  @Test(
    "a crash is chosen through the environment, and every operation is tried until none is left")
  func operations() throws {
    // A program with five operations that obeys the variable.
    let result = try carryOut(
      """
      for n in 1 2 3 4 5; do [ "$SPOOL_CRASH_BEFORE" = $n ] && kill -9 $$; done; : > "$out/a"
      """, .beforeOperations(stride: 1))
    #expect(result.kills == 5 && result.operations == 5)
    #expect(result.series == 6)
    #expect(result.differences == [])
    let sparse = try carryOut(
      """
      [ "${SPOOL_CRASH_BEFORE:-99}" -le 23 ] && kill -9 $$; : > "$out/a"
      """, .beforeOperations(stride: 10))
    // 1, 11 and 21 die; 31 lives; 26 lives, 23 dies, 24 lives.
    #expect(sparse.kills == 4 && sparse.operations == 23)
    #expect(sparse.series == 7)
  }

  @Test("the same seed kills at the same moments, another at others")
  func seeds() throws {
    func moments(_ seed: UInt64) -> [Double] {
      var generator = SeededGenerator(seed: seed)
      return (0..<5).map { _ in Double.random(in: 0..<1, using: &generator) }
    }
    #expect(moments(1) == moments(1))
    #expect(moments(1) != moments(2))
  }

  @Test("a test that is asked to stop says so, kills its child and cleans up")
  func stopped() throws {
    let beginning = ContinuousClock.now
    var asked = 0
    let result = try carryOut(
      #"sleep 30; : > "$out/a""#,
      shouldStop: {
        asked += 1
        return asked > 5
      })
    #expect(result.isStopped)
    #expect(result.kills == 0)
    #expect(beginning.duration(to: .now) < .seconds(10))
    #expect(leftovers == [])
  }

  @Test("--keep keeps everything")
  func keeps() throws {
    let result = try carryOut(
      #"sleep 0.05; : > "$out/a""#, .atRandom(kills: 1, seed: 1), keeps: true)
    let folder = try #require(result.keptFolder)
    #expect(Workspace.names(in: folder).contains("reference"))
    #expect(Workspace.names(in: folder).contains("series-1"))
  }
}
