@testable import Speech
import TestSupport
import Testing

@Suite("Versions of the speech libraries") struct LibraryVersionTests {
  @Test("libespeak-ng tells the version that its program prints")
  func espeak() throws {
    let program = try #require(Program(named: "espeak-ng"))
    let version = try #require(SpeechLibraries.espeakVersion)
    #expect(try program.run(["--version"]).text.contains(": \(version) "))
  }

  @Test("libpocketsphinx has the upstream version of its package")
  func sphinx() throws {
    let dpkg = try #require(Program(named: "dpkg-query"))
    let package = try dpkg.run(["-W", "-f", "${Version}", "libpocketsphinx3"]).text
    let version = try #require(SpeechLibraries.sphinxVersion)
    #expect(!version.isEmpty && package.hasPrefix(version) && !version.contains("-"))
  }

  @Test(
    "an upstream version has no epoch, no revision and no count of repacks",
    arguments: [
      ("0.8+5prealpha+1-15", "0.8+5prealpha"), ("1:5.0.3-2", "5.0.3"),
      ("1.51+dfsg-10", "1.51+dfsg"),
    ])
  func upstream(version: String, expected: String) {
    let status = """
      Package: libfirst
      Version: 9-1

      Package: libwanted
      Status: install ok installed
      Version: \(version)

      """
    let found = SpeechLibraries.upstreamVersion(of: "libwanted", in: Array(status.utf8)[...])
    #expect(found == expected)
    #expect(SpeechLibraries.upstreamVersion(of: "libother", in: Array(status.utf8)[...]) == nil)
  }
}
