import Foundation
import Platform
@testable import Proof
import TestSupport
import Testing

@Suite("Keys are the user's alone, and openssl's as well")
struct KeyTests {
  private let scratch: ScratchFolder
  private let folder: KeyFolder

  init() throws {
    scratch = try ScratchFolder()
    folder = KeyFolder(scratch.file("a/keys"))
  }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test("a key is read the same however often, and whatever other threads do with memory meanwhile")
  func readAtOnce() async {
    let key = SigningKey()
    let wrong = await withTaskGroup(of: Int.self) { group in
      for number in 0..<8 {
        group.addTask {
          (0..<400).count { round in
            let other = [UInt8](repeating: UInt8(number), count: 100 + round)
            return SigningKey(pem: key.pem)?.pem != key.pem || other.count != 100 + round
          }
        }
      }
      return await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }

  @Test("the signature of RFC 8032's third test is the published one")
  func vector() throws {
    // Wrapped as RFC 8410 has it.
    let der: [UInt8] = [
      0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04,
      0x20,
    ]
    let seed = try #require(
      Digest(hex: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"))
    let pem =
      "-----BEGIN PRIVATE KEY-----\n" + Data(der + seed.bytes).base64EncodedString()
      + "\n-----END PRIVATE KEY-----\n"
    let key = try #require(SigningKey(pem: pem))
    #expect(key.pem == pem)
    #expect(
      Digest(bytes: key.verifyingKey.bytes)?.hex
        == "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
    let signature = key.signature(of: [0xAF, 0x82])
    #expect(
      signature.map { String(format: "%02x", $0) }.joined()
        == "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a")
    #expect(key.verifyingKey.isValid(signature, of: [0xAF, 0x82]))
    #expect(!key.verifyingKey.isValid(signature, of: [0xAF, 0x83]))
    #expect(!key.verifyingKey.isValid([], of: [0xAF, 0x82]))
  }

  @Test("the first use makes a key that nobody else can read, and the next one finds it")
  func firstUse() throws {
    #expect(try folder.existingSigningKey() == nil)
    #expect(try folder.knownKeys().isEmpty)
    let key = try folder.signingKey()
    #expect(try mode(folder.path + "/signing.pem") == 0o600)
    #expect(try mode(folder.path) == 0o700)
    #expect(try folder.signingKey().verifyingKey == key.verifyingKey)
    #expect(try folder.knownKeys() == [key.verifyingKey])
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(files == ["known", "signing.pem"], "nothing is left behind")
  }

  @Test("openssl reads both keys, and names the public one as Spool does")
  func openssl() throws {
    let openssl = try #require(Program(named: "openssl"))
    let key = try folder.signingKey().verifyingKey
    let secret = folder.path + "/signing.pem"
    let derived = try openssl.run(["pkey", "-in", secret, "-pubout"])
    #expect(derived.text == key.pem)
    let der = try openssl.run(["pkey", "-in", secret, "-pubout", "-outform", "DER"])
    #expect(SHA256.digest(of: Array(der.output)) == key.id)
    let made = try openssl.run(["genpkey", "-algorithm", "ed25519"])
    #expect(SigningKey(pem: made.text)?.pem == made.text)
    let other = try openssl.run(["genpkey", "-algorithm", "x25519"])
    #expect(SigningKey(pem: other.text) == nil, "a key of another kind")
  }

  @Test("many first uses at once make one key")
  func race() async throws {
    let folder = folder
    let ids = try await withThrowingTaskGroup(of: Digest.self) { group in
      for _ in 0..<16 { group.addTask { try folder.signingKey().verifyingKey.id } }
      return try await group.reduce(into: Set<Digest>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(try folder.knownKeys().map(\.id) == Array(ids))
  }

  @Test(
    "a signing key that others may read is refused, with what to do", arguments: [0o640, 0o604])
  func permissions(mode: Int) throws {
    _ = try folder.signingKey()
    let path = folder.path + "/signing.pem"
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    #expect(
      throws: SpoolError(
        "the signing key \(path) is not used",
        reason: "others may have read it: its permissions are 0\(String(mode, radix: 8))",
        advice: "chmod 600 \(path), or make a new key with spool proof key rotate after that",
        cause: .blocked)
    ) { try folder.signingKey() }
  }

  @Test(
    "no flipped bit of the signing key's file makes another key of it", arguments: [false, true])
  func flippedSigningKey(hasPublicPart: Bool) throws {
    let key = try folder.signingKey()
    let path = folder.path + "/signing.pem"
    let url = URL(fileURLWithPath: path)
    let whole = hasPublicPart ? try Data(contentsOf: url) : Data(key.pem.utf8)
    var refusals = 0
    for bit in 0..<whole.count * 8 {
      var bytes = whole
      bytes[bit / 8] ^= 1 << (bit % 8)
      try bytes.write(to: url)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      do throws(SpoolError) {
        let found = try folder.existingSigningKey()
        #expect(found?.pem == key.pem, "bit \(bit)")
      } catch {
        refusals += 1
        #expect(error.message == "cannot use the signing key \(path)", "bit \(bit)")
      }
    }
    #expect(refusals > 400, "every bit of the key's own 32 bytes counts")
  }

  @Test("no flipped bit of its file goes unseen, in neither of its halves")
  func flippedText() throws {
    let key = try folder.signingKey()
    let path = folder.path + "/signing.pem"
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    for bit in 0..<whole.count * 8 {
      var bytes = whole
      bytes[bit / 8] ^= 1 << (bit % 8)
      try bytes.write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      let refusal = #expect(throws: SpoolError.self, "bit \(bit)") { try folder.signingKey() }
      #expect(refusal?.message.contains(path) == true)
    }
    for text in [whole + Data("\n".utf8), Data("\n".utf8) + whole, whole + whole] {
      try text.write(to: URL(fileURLWithPath: path))
      #expect(throws: SpoolError.self) { try folder.signingKey() }
    }
    // As openssl writes a private key, without the public one after it, it is whole too.
    try Data(key.pem.utf8).write(to: URL(fileURLWithPath: path))
    #expect(try folder.signingKey().verifyingKey == key.verifyingKey)
  }

  @Test("a private key that others may have read is not imported, and a public one may be read")
  func looseImport() throws {
    let path = try scratch.write(SigningKey().pem, to: "loose.pem")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let refusal = #expect(throws: SpoolError.self) { try folder.take(fileAt: path) }
    #expect(refusal?.advice?.hasPrefix("chmod 600 \(path)") == true)
    #expect(try folder.existingSigningKey() == nil)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try folder.take(fileAt: path).isSigning)
    let open = try scratch.write(SigningKey().verifyingKey.pem, to: "open.pub")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
    #expect(try !folder.take(fileAt: open).isSigning)
  }

  @Test("a folder of keys that others can write to is refused", arguments: ["", "/known"])
  func looseFolder(below: String) throws {
    _ = try folder.signingKey()
    let path = folder.path + below
    for mode in [0o777, 0o770, 0o702] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      for use in [
        { _ = try folder.signingKey() }, { _ = try folder.knownKeys() },
        { _ = try folder.take(SecretBytes(SigningKey().verifyingKey.pem.utf8)) },
      ] {
        let refusal = #expect(throws: SpoolError.self) { try use() }
        #expect(refusal?.advice?.hasPrefix("chmod 700 \(path),") == true)
      }
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    #expect(throws: Never.self) { try folder.signingKey() }
  }

  @Test("a link, a folder and a damaged key are no keys")
  func damage() throws {
    _ = try folder.signingKey()
    let path = folder.path + "/signing.pem"
    let kept = scratch.file("kept.pem")
    try FileManager.default.moveItem(atPath: path, toPath: kept)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: kept)
    #expect(throws: SpoolError.self) { try folder.signingKey() }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(throws: SpoolError.self) { try folder.signingKey() }
    try FileManager.default.removeItem(atPath: path)
    try scratch.write("no key", to: "a/keys/signing.pem")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(throws: SpoolError.self) { try folder.signingKey() }
  }

  @Test("after rotating, the old public key is still trusted and the old private one is gone")
  func rotating() throws {
    let first = try folder.signingKey().verifyingKey
    let (old, new) = try folder.rotate()
    #expect(old == first)
    #expect(try folder.signingKey().verifyingKey == new)
    #expect(Set(try folder.knownKeys()) == [first, new])
  }

  @Test("one's own earlier keys are told from those of others, whichever way they were left")
  func earlier() throws {
    let first = try folder.signingKey()
    let friend = SigningKey().verifyingKey
    _ = try folder.take(SecretBytes(friend.pem.utf8))
    #expect(try folder.earlierKeys() == [])
    let second = try folder.rotate().new
    let brought = SigningKey()
    _ = try folder.take(SecretBytes(brought.pem.utf8))
    #expect(try Set(folder.earlierKeys()) == [first.verifyingKey, second])
    #expect(try folder.knownKeys().count == 4)
    // Whoever trusts it no more takes it out of the known ones.
    try FileManager.default.removeItem(
      atPath: "\(folder.path)/known/\(second.id.hex).pub")
    #expect(try folder.earlierKeys() == [first.verifyingKey])
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: folder.path + "/earlier")
    #expect(throws: SpoolError.self) { try folder.earlierKeys() }
  }

  @Test("a private key that is imported signs, a public one is trusted, and anything else refused")
  func importing() throws {
    let own = try folder.signingKey().verifyingKey
    let friend = SigningKey()
    #expect(
      try folder.take(SecretBytes(friend.verifyingKey.pem.utf8)) == (friend.verifyingKey, false))
    #expect(try folder.signingKey().verifyingKey == own)
    #expect(Set(try folder.knownKeys()) == [own, friend.verifyingKey])
    let brought = SigningKey()
    #expect(try folder.take(SecretBytes(brought.pem.utf8)) == (brought.verifyingKey, true))
    #expect(try folder.signingKey().verifyingKey == brought.verifyingKey)
    #expect(throws: SpoolError.self) { try folder.take(SecretBytes("no key".utf8)) }
    let openssl = try #require(Program(named: "openssl"))
    let plain = try scratch.write(SigningKey().pem, to: "plain.pem")
    let encrypted = try openssl.run(
      ["pkey", "-in", plain, "-aes256", "-passout", "pass:secret"])
    let refusal = #expect(throws: SpoolError.self) {
      try folder.take(SecretBytes(encrypted.text.utf8))
    }
    #expect(refusal?.message == "the key that is imported is protected by a passphrase")
  }

  @Test("a trusted key that was put under another's name is refused")
  func renamed() throws {
    let own = try folder.signingKey().verifyingKey
    let stranger = SigningKey().verifyingKey
    try scratch.write(stranger.pem, to: "a/keys/known/\(own.id.hex).pub")
    #expect(throws: SpoolError.self) { try folder.knownKeys() }
  }

  @Test("the folder is where the option, the environment or the user's data folder say")
  func location() throws {
    let environment = ["SPOOL_KEYS": "/k", "XDG_DATA_HOME": "/d", "HOME": "/h"]
    #expect(KeyFolder.locate(option: "/o", environment: environment) == "/o")
    #expect(KeyFolder.locate(option: nil, environment: environment) == "/k")
    #expect(
      KeyFolder.locate(option: nil, environment: ["XDG_DATA_HOME": "/d"]) == "/d/spool/keys")
    #expect(
      KeyFolder.locate(option: nil, environment: ["XDG_DATA_HOME": "d", "HOME": "/h"])
        == "/h/.local/share/spool/keys")
    // A store that was moved has them with it.
    let store = scratch.file("a")
    let usual = KeyFolder.locate(option: nil, environment: ["HOME": "/h"], store: store)
    #expect(usual == "/h/.local/share/spool/keys")
    _ = try folder.signingKey()
    let own = KeyFolder.locate(option: nil, environment: ["HOME": "/h"], store: store)
    #expect(own == folder.path)
    #expect(KeyFolder.locate(option: nil, environment: environment, store: store) == "/k")
  }
}
