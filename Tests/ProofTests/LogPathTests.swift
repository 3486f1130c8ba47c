import Platform
@testable import Proof
import Testing

@Suite("The digest over paths is the one that a few lines of Python reckon")
struct LogPathTests {
  /// `h = sha256(b"").digest()`, and for each path `h = sha256(h + sha256(path).digest()).digest()`.
  @Test("each path changes it, and so does their order")
  func golden() {
    let leaf = SHA256.digest(of: "leaf")
    var edge = LogFrontier()
    #expect(edge.paths == SHA256.digest(of: ""))
    edge.append(leaf, at: "/a/b.receipt.json")
    #expect(
      edge.paths.hex == "26115ebba90004ab430e1da065485384d84677e281152770e673a408c08280a4")
    edge.append(leaf, at: "/ü")
    #expect(
      edge.paths.hex == "a796ceafdd599e4cd509b44e72bdf5a2eb32e40c20cd0aafb6fa93e2a60df6fe")
    var other = LogFrontier()
    for path in ["/ü", "/a/b.receipt.json"] { other.append(leaf, at: path) }
    #expect(other.paths != edge.paths)
  }

  @Test("a head says what it was made with, and one without paths is read too")
  func head() throws {
    let key = SigningKey()
    let (root, paths) = (SHA256.digest(of: "root"), SHA256.digest(of: "paths"))
    let text = TreeHead(size: 1, root: root, paths: paths, time: 0).signed(by: key)
    let head = try TreeHead(text, at: "head", keys: [key.verifyingKey])
    #expect(head.root == root && head.paths == paths && head.signer == key.verifyingKey)
    func read(_ json: String) throws -> TreeHead {
      try TreeHead(
        Envelope(Array(json.utf8), type: TreeHead.payloadType, signedBy: key).text, at: "head",
        keys: [key.verifyingKey])
    }
    #expect(try read(#"{"root":"\#(root.hex)","size":1}"#).paths == nil)
    #expect(throws: SpoolError.self) {
      try read(#"{"paths":"none","root":"\#(root.hex)","size":1}"#)
    }
  }
}
