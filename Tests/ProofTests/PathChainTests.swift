import Platform
@testable import Proof
import Testing

@Suite("The digest over paths is the one that a few lines of Python reckon")
struct PathChainTests {
  /// `h = sha256(b"").digest()`, and for each path `h = sha256(h + sha256(path).digest()).digest()`.
  @Test("each path changes it, and so does their order")
  func golden() {
    var chain = PathChain()
    #expect(chain.digest == SHA256.digest(of: ""))
    chain.append("/a/b.receipt.json")
    #expect(
      chain.digest.hex == "26115ebba90004ab430e1da065485384d84677e281152770e673a408c08280a4")
    chain.append("/ü")
    #expect(
      chain.digest.hex == "a796ceafdd599e4cd509b44e72bdf5a2eb32e40c20cd0aafb6fa93e2a60df6fe")
    #expect(PathChain(["/a/b.receipt.json", "/ü"]) == chain)
    #expect(PathChain(["/ü", "/a/b.receipt.json"]) != chain)
  }

  @Test("a head says what it was made with, and one without paths is read too")
  func head() throws {
    let key = SigningKey()
    let (root, paths) = (SHA256.digest(of: "root"), PathChain(["/a"]).digest)
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
