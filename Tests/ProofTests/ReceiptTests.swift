import Foundation
import Platform
@testable import Proof
import TestSupport
import Testing

@Suite("A receipt has one form, and a schema that describes it")
struct ReceiptTests {
  @Test("the envelope signs what DSSE's protocol says")
  func preauthentication() {
    // The example of the protocol's own text.
    #expect(
      Envelope.preauthenticated(Array("hello world".utf8), type: "http://example.com/HelloWorld")
        == Array("DSSEv1 29 http://example.com/HelloWorld 11 hello world".utf8))
  }

  @Test("times are ISO 8601 in UTC with milliseconds")
  func times() {
    #expect(DateTime.text(of: 0) == "1970-01-01T00:00:00.000Z")
    #expect(DateTime.text(of: 1_790_000_000.12) == "2026-09-21T14:13:20.120Z")
  }

  @Test("the same work at another time has the same substance, and other work another")
  func substance() {
    let subject = Receipt.Subject(name: "a", digest: SHA256.digest(of: "a"), byteCount: 1)
    let receipt = SampleReceipt.receipt([subject])
    #expect(
      receipt.json.substance == SampleReceipt.receipt([subject], finishedAt: 5).json.substance)
    #expect(receipt.json.substance != SampleReceipt.receipt([]).json.substance)
    #expect(receipt.json != SampleReceipt.receipt([subject], finishedAt: 5).json)
  }

  @Test("whether the store has a stage's sound, and who did the work, is not what a receipt says")
  func keptSound() {
    func receipt(_ file: (Digest, Int)?, run: String?, version: String, identity: String = "i")
      -> Receipt
    {
      Receipt(
        subjects: [Receipt.Subject(name: "a", digest: SHA256.digest(of: "a"), byteCount: 1)],
        origin: Receipt.origin(
          program: ("spool", version), host: ("h", "s"),
          run: Receipt.run(
            id: "r", pipeline: "p", pipelineDigest: nil, startedAt: 0, finishedAt: 1), sources: []),
        stages: [
          Receipt.stage(
            id: "decode", kind: "decode", revision: 1, parameters: .object([:]), inputs: [:],
            outputs: [
              "sound": Receipt.output(
                kind: "sound", identity: SHA256.digest(of: identity),
                file: file.map { (digest: $0.0, byteCount: $0.1) })
            ], libraries: [:], key: SHA256.digest(of: "k"), isReused: run != nil, run: run)
        ])
    }
    let first = receipt(nil, run: nil, version: "1")
    let again = receipt((SHA256.digest(of: "f"), 7), run: "earlier", version: "2")
    #expect(first.json.substance == again.json.substance)
    #expect(
      first.json.substance != receipt(nil, run: nil, version: "1", identity: "j").json.substance)
  }

  @Test("a receipt that a killed process left is known again by its substance and its signature")
  func status() throws {
    let sample = try SampleReceipt()
    let key = sample.key.verifyingKey
    let file = try #require(ReceiptFile(at: sample.path))
    let later = SampleReceipt.receipt(sample.subjects, finishedAt: 5)
    #expect(file.says(later, signedBy: key))
    #expect(!file.says(later, signedBy: SigningKey().verifyingKey))
    #expect(!file.says(SampleReceipt.receipt([]), signedBy: key))
    #expect(ReceiptFile(at: sample.scratch.file("none")) == nil)
  }

  @Test("a receipt is what its JSON Schema says, and what is not is refused by it")
  func schema() throws {
    let python = try #require(Program(named: "python3"))
    let probe = try python.run(["-c", "import jsonschema"])
    guard probe.exitCode == 0 else {
      return try checkKeys()
    }
    let sample = try SampleReceipt()
    let statement = try sample.scratch.write(sample.statement.compact, to: "statement.json")
    let program = """
      import json, sys, jsonschema
      schema = json.load(open(sys.argv[1]))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      statement = json.load(open(sys.argv[2]))
      for error in validator.iter_errors(statement): print(error.json_path, error.message)
      def objects(value):
          if isinstance(value, dict):
              yield value
              for inner in value.values(): yield from objects(inner)
          elif isinstance(value, list):
              for inner in value: yield from objects(inner)
      for place in list(objects(statement)):
          if not place.keys() - {"sound", "frequency", "bands", "libavcodec"}: continue
          place["unheard-of"] = 1
          if validator.is_valid(statement): print("an unknown member is taken:", sorted(place))
          del place["unheard-of"]
      """
    let result = try python.run(["-c", program, Self.schemaPath, statement])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(result.text == "")
  }

  @Test("the schema that lies beside the article is the shape that receipts are held against")
  func shipped() throws {
    let shipped = try JSONReader.strictValue(
      of: Array(try Data(contentsOf: URL(fileURLWithPath: Self.schemaPath))), depthLimit: 64)
    #expect(shipped == ReceiptForm.schema, "spool pipeline schema receipt prints it anew")
  }

  /// Where there is no validator: every member of a receipt is at least named in the schema.
  private func checkKeys() throws {
    let schema = try JSONReader.strictValue(
      of: Array(try Data(contentsOf: URL(fileURLWithPath: Self.schemaPath))), depthLimit: 64)
    let names = Self.names(in: schema)
    let free: Set<String> = ["frequency", "bands", "sound", "libavcodec"]
    #expect(Self.names(in: try SampleReceipt().statement).subtracting(free).isSubset(of: names))
  }

  private static func names(in json: JSONValue) -> Set<String> {
    switch json {
    case .object(let members):
      members.values.reduce(into: Set(members.keys)) { $0.formUnion(names(in: $1)) }
    case .list(let list): list.reduce(into: []) { $0.formUnion(names(in: $1)) }
    default: []
    }
  }

  private static var schemaPath: String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/spool/Spool.docc/Resources/receipt.schema.json").path
  }

  @Test("Python's cryptography package verifies the signature of an envelope")
  func independentVerifier() throws {
    let python = try #require(Program(named: "python3"))
    guard try python.run(["-c", "import cryptography"]).exitCode == 0 else { return }
    let sample = try SampleReceipt()
    let program = """
      import base64, json, sys
      from cryptography.hazmat.primitives.serialization import load_pem_public_key
      envelope = json.load(open(sys.argv[1]))
      key = load_pem_public_key(open(sys.argv[2], "rb").read())
      payload = base64.b64decode(envelope["payload"], validate=True)
      type = envelope["payloadType"].encode()
      pae = b"DSSEv1 %d %s %d %s" % (len(type), type, len(payload), payload)
      key.verify(base64.b64decode(envelope["signatures"][0]["sig"], validate=True), pae)
      statement = json.loads(payload)
      canonical = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
      assert canonical.encode() == payload
      print(statement["predicateType"])
      """
    let result = try python.run(["-c", program, sample.path, sample.scratch.file("spool.pub")])
    #expect(result.text == "urn:spool:receipt:v1\n", "\(result.errorOutput)")
  }
}
