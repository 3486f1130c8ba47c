@testable import Intake
import Testing

@Suite("Patterns mean what they mean in a shell")
struct GlobTests {
  @Test(
    "a pattern matches these paths and not those",
    arguments: [
      ("*.wav", ["a.wav", "b/c/a.wav", ".wav"], ["a.wav.part", "a.WAV", "a.wavx"]),
      ("note-?.m4a", ["note-1.m4a", "x/note-é.m4a"], ["note-10.m4a", "note-.m4a"]),
      ("[a-c!]*", ["apple", "x/c", "!"], ["dog", "A"]),
      ("[!a-c]*", ["dog"], ["apple", ""]),
      ("*.{wav,m4{a,b}}", ["x.wav", "x.m4a", "x.m4b"], ["x.m4", "x.m4c", "x.{wav"]),
      ("raw/*", ["raw/a.wav"], ["raw/b/a.wav", "x/raw/a.wav", "raw"]),
      ("raw/**", ["raw/a.wav", "raw/b/c/a.wav"], ["x/raw/a.wav"]),
      ("**/old/*", ["old/a", "x/y/old/a"], ["old/b/a", "older/a"]),
      ("/take.wav", ["take.wav"], ["x/take.wav"]),
      ("a\\*b", ["a*b"], ["axb"]),
      ("[]]", ["]"], ["["]), ("[a-]", ["a", "-"], ["b"]),
      ("a\nb*", ["a\nb.wav"], ["a b.wav"]),
    ] as [(String, [String], [String])])
  func matching(pattern: String, hits: [String], misses: [String]) throws {
    let glob = try #require(Glob(pattern))
    for path in hits { #expect(glob.matches(path), "\(pattern) on \(path)") }
    for path in misses { #expect(!glob.matches(path), "\(pattern) on \(path)") }
  }

  @Test("what is not closed is no pattern", arguments: ["", "[a", "{a,b", "a{b{c}", "[!"])
  func unreadable(pattern: String) { #expect(Glob(pattern) == nil) }

  @Test(
    "a pattern that would branch without end is refused, and stars cost no more than their count")
  func hostile() throws {
    #expect(Glob(String(repeating: "{a,b}", count: 40)) == nil)
    let glob = try #require(Glob(String(repeating: "*a", count: 200) + "b"))
    #expect(!glob.matches(String(repeating: "a", count: 2000)))
  }
}
