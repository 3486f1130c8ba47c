@testable import Delivery
import Platform
import TestSupport
import Testing

@Suite("A path at a destination leads nowhere else")
struct RemotePathTests {
  @Test(
    "what is no relative path is refused",
    arguments: [
      "", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a\0b", "a\nb", "a\u{7F}b",
      "a\u{85}b", String(repeating: "x", count: 256), String(repeating: "abc/", count: 300) + "d",
      "note.wav.part-0123abcd",
    ])
  func refused(text: String) {
    let error = #expect(throws: SpoolError.self) { try RemotePath(text) }
    #expect(error?.remedy == .giveUp)
  }

  @Test("other names are kept as they are, and parts and probes are known")
  func names() throws {
    let path = try RemotePath("2026/Grüße… 100 %/ünï.part-x.m4a")
    #expect(path.names == ["2026", "Grüße… 100 %", "ünï.part-x.m4a"])
    let state = UploadState()
    #expect(path.part(state.token).description == "\(path).part-\(state.token)")
    #expect(throws: SpoolError.self) { try RemotePath(path.part(state.token).description) }
    #expect(RemotePath.probe(state.token).isProbe)
    #expect(!path.isProbe)
    let text = try state.jsonText()
    #expect(try UploadState(jsonText: text) == state)
  }

  @Test("a secret is read from a variable, a private file or a credential, and never shown")
  func secrets() throws {
    let scratch = try ScratchFolder()
    let path = try scratch.write("s3cret\n", to: "key")
    let exposed = #expect(throws: SpoolError.self) { try Secret.file(path).text([:]) }
    #expect(exposed?.why == "others can read it")
    #expect(exposed?.remedy == .hold)
    try FileOperations.uncounted.setMode(0o600, at: path)
    #expect(try Secret.file(path).text([:]) == "s3cret")
    #expect(try Secret.variable("KEY").text(["KEY": "s3cret"]) == "s3cret")
    let folder = ["CREDENTIALS_DIRECTORY": scratch.path]
    #expect(try Secret.credential("key").text(folder) == "s3cret")
    for secret in [Secret.variable("NONE"), .credential("../key"), .file("/nowhere")] {
      #expect(throws: SpoolError.self) { try secret.text(folder) }
    }
    for bad in ["", "\n", "two\nlines\n", "a\0b"] {
      let other = try scratch.write(bad, to: "bad")
      try FileOperations.uncounted.setMode(0o600, at: other)
      #expect(throws: SpoolError.self) { try Secret.file(other).text([:]) }
    }
  }

  @Test("addresses are read strictly, and a password in one is not repeated")
  func addresses() throws {
    let address = try WebAddress(
      "https://anna@cloud.example:8443/remote.php/Gr%C3%BC%C3%9Fe%20x", schemes: ["https"])
    #expect(address.user == "anna")
    #expect(address.origin == "https://cloud.example:8443")
    #expect(address.names == ["remote.php", "Grüße x"])
    #expect(
      address.appending(["a&b"]).path == "/remote.php/Gr%C3%BC%C3%9Fe%20x/a%26b")
    #expect(try WebAddress("http://[::1]:80/", schemes: ["http"]).host == "[::1]")
    for bad in [
      "ftp://a/b", "https://", "https:///x", "https://a b/", "https://a/../b", "https://a/%zz",
      "https://a/%2e%2e/b", "https://a/%2F", "https://a/?q", "https://a/#f", "https://a:0/",
      "https://a:99999/", "https://a:x/", "https://@a/", "https://a/%00",
    ] {
      #expect(throws: SpoolError.self, "\(bad)") { try WebAddress(bad, schemes: ["https"]) }
    }
    let error = #expect(throws: SpoolError.self) {
      try WebAddress("https://anna:s3cret@a/", schemes: ["https"])
    }
    #expect(error?.description.contains("s3cret") == false)
  }
}
