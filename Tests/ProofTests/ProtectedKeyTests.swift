import Foundation
import Platform
@testable import Proof
import Synchronization
import TestSupport
import Testing

@Suite("A passphrase protects the signing key, and openssl knows it as well")
struct ProtectedKeyTests {
  private let scratch: ScratchFolder
  private let openssl: Program

  init() throws {
    scratch = try ScratchFolder()
    openssl = try #require(Program(named: "openssl"))
  }

  /// Always gives the same answer, and counts how often it was asked.
  private final class Person: PassphraseSource {
    private let answer: String
    private let questions = Mutex<[String]>([])
    var asked: [String] { questions.withLock { $0 } }

    init(_ answer: String) { self.answer = answer }

    func passphrase(of key: String) throws(SpoolError) -> SecretBytes {
      questions.withLock { $0.append(key) }
      return SecretBytes(answer.utf8)
    }
  }

  private static let words = "grün ist die Heide"

  private var path: String { scratch.file("keys/signing.pem") }

  private func folder(_ person: Person? = nil) -> KeyFolder {
    KeyFolder(scratch.file("keys"), passphrases: person)
  }

  @discardableResult
  private func protect(_ words: String? = words, knowing old: String = "") throws -> VerifyingKey {
    try folder(Person(old)).protect { () throws(SpoolError) in
      words.map { SecretBytes($0.utf8) }
    }
  }

  private func secret(_ text: String, named name: String = "passphrase") throws -> String {
    let path = try scratch.write(text, to: name)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    return path
  }

  @Test("openssl reads the file with the passphrase alone, and finds scrypt and AES-256 in it")
  func readByOpenSSL() throws {
    let key = try protect()
    let right = try secret(Self.words + "\n")
    let wrong = try secret("grau ist die Heide\n", named: "wrong")
    let read = try openssl.run(["pkey", "-in", path, "-passin", "file:" + right, "-pubout"])
    #expect(read.text == key.pem, "\(read.errorOutput)")
    #expect(
      try openssl.run(["pkey", "-in", path, "-passin", "file:" + wrong, "-noout"]).exitCode != 0)
    let structure = try openssl.run(["asn1parse", "-in", path]).text
    for name in ["PBES2", "scrypt", "aes-256-cbc"] { #expect(structure.contains(name)) }
    #expect(!structure.contains("ED25519"), "what is inside does not show")
  }

  @Test("what it signs is what it signed without a passphrase, whose own file is as it was")
  func roundTrip() throws {
    let plain = try folder().signingKey()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    try protect()
    #expect(try folder().isProtected())
    let person = Person(Self.words)
    let key = try folder(person).signingKey()
    #expect(key.signature(of: [1, 2, 3]) == plain.signature(of: [1, 2, 3]))
    #expect(person.asked == ["the signing key \(path)"])
    try protect("another one", knowing: Self.words)
    #expect(throws: SpoolError.self) { try folder(Person(Self.words)).signingKey() }
    try protect(nil, knowing: "another one")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test("a wrong passphrase is refused, and nothing is asked for or written after that")
  func wrong() throws {
    try protect()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let refusal = SpoolError(
      "cannot use the signing key \(path)",
      reason: "the passphrase is wrong, or the file is damaged",
      advice: "give the right one, in its file if it has one; spool proof key passphrase changes "
        + "it, if the old one is known",
      cause: .blocked)
    let folder = folder(Person("grün ist die Heid"))
    #expect(throws: refusal) { try folder.signingKey() }
    #expect(throws: refusal) { try folder.rotate() }
    #expect(throws: refusal) {
      try folder.protect { () throws(SpoolError) in
        Issue.record("the new one is asked for")
        return nil
      }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test("where nobody can be asked, the error says how to name a file")
  func nobody() throws {
    try protect()
    let refusal = #expect(throws: SpoolError.self) { try folder().signingKey() }
    #expect(refusal?.message == "the signing key \(path) is protected by a passphrase")
    #expect(refusal?.advice?.contains("--passphrase-file") == true)
  }

  @Test("the public key is told without the passphrase, and one that was put there is found out")
  func publicPart() throws {
    let key = try protect()
    #expect(try folder().existingVerifyingKey() == key)
    let stranger = SigningKey().verifyingKey
    let text = try String(contentsOfFile: path, encoding: .utf8)
    _ = try secret(text.replacingOccurrences(of: key.pem, with: stranger.pem), named: "keys/x")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: scratch.file("keys/x"), toPath: path)
    let refusal = #expect(throws: SpoolError.self) {
      try folder(Person(Self.words)).signingKey()
    }
    #expect(refusal?.reason?.contains("the file was changed") == true)
  }

  @Test("one flipped bit anywhere in the encrypted part ends in a refusal, and never in a key")
  func flipped() throws {
    let key = try protect()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let end = try #require(whole.firstRange(of: Data("-----END ENC".utf8))).lowerBound
    for place in stride(from: 40, to: end, by: 29) {
      var bytes = whole
      bytes[place] ^= 1
      let read = SigningKey(pem: SecretBytes(bytes), passphrase: SecretBytes(Self.words.utf8))
      // A changed letter of base64 may be one that says nothing.
      #expect(read == nil || read?.verifyingKey == key, "byte \(place)")
    }
  }

  @Test("one flipped bit anywhere in the public part is found, whoever asks for which part")
  func flippedPublicPart() throws {
    try protect()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let start = try #require(whole.firstRange(of: Data("-----END ENC".utf8))).lowerBound
    for place in start..<whole.count {
      var bytes = whole
      bytes[place] ^= 2
      try bytes.write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      let refusal = #expect(throws: SpoolError.self, "byte \(place)") {
        try folder(Person(Self.words)).existingVerifyingKey()
      }
      #expect(refusal?.message == "cannot use the signing key \(path)", "byte \(place)")
    }
  }

  @Test("a rotated key has the passphrase of the one before it")
  func rotating() throws {
    let first = try protect()
    let (old, new) = try folder(Person(Self.words)).rotate()
    #expect(old == first)
    #expect(try folder().isProtected())
    #expect(try folder(Person(Self.words)).signingKey().verifyingKey == new)
    #expect(Set(try folder().knownKeys()) == [first, new])
  }

  @Test("an exported key stays encrypted, and is imported elsewhere with its passphrase")
  func carried() throws {
    let key = try protect()
    let copy = scratch.file("copy.pem")
    try folder().exportSigningKey(to: copy)
    #expect(
      try String(contentsOfFile: copy, encoding: .utf8).contains("BEGIN ENCRYPTED PRIVATE KEY"))
    let person = Person(Self.words)
    let elsewhere = KeyFolder(scratch.file("elsewhere"), passphrases: person)
    #expect(try elsewhere.take(fileAt: copy) == (key, true))
    #expect(try elsewhere.isProtected())
    #expect(person.asked == ["the key that is imported"])
    #expect(try elsewhere.signingKey().verifyingKey == key)
  }

  @Test(
    "a key that openssl encrypted is used as it is",
    arguments: [
      ["-v2", "aes-256-cbc"], ["-scrypt"], ["-v2", "aes128", "-v2prf", "hmacWithSHA512"],
    ])
  func madeByOpenSSL(scheme: [String]) throws {
    let plain = try folder().signingKey()
    let word = try secret(Self.words + "\nand more")
    let made = try openssl.run(
      ["pkcs8", "-topk8", "-in", path, "-passout", "file:" + word] + scheme)
    try FileManager.default.removeItem(atPath: path)
    _ = try secret(made.text, named: "keys/signing.pem")
    let source = PassphraseFile(word)
    let folder = KeyFolder(scratch.file("keys"), passphrases: source)
    #expect(try folder.signingKey().verifyingKey == plain.verifyingKey)
    #expect(try folder.existingVerifyingKey() == plain.verifyingKey)
  }

  @Test("a passphrase of the greatest length is whole")
  func long() throws {
    let words = String(repeating: "ü", count: 511) + "x"
    let key = try protect(words)
    let file = try secret(words + "\n")
    #expect(
      try KeyFolder(scratch.file("keys"), passphrases: PassphraseFile(file)).signingKey()
        .verifyingKey == key)
    let read = try openssl.run(["pkey", "-in", path, "-passin", "file:" + file, "-pubout"])
    #expect(read.text == key.pem, "\(read.errorOutput)")
    #expect(throws: SpoolError.self) { try folder(Person(String(words.dropLast()))).signingKey() }
  }

  @Test("only the first line of a file counts, and only of one that nobody else can read")
  func files() throws {
    func reason(_ path: String, isCredential: Bool = false) -> String? {
      do throws(SpoolError) {
        _ = try PassphraseFile(path, isCredential: isCredential).passphrase(of: "the key")
        return nil
      } catch {
        return error.reason
      }
    }
    var path = ""
    for text in ["one\r\ntwo\r\n", "one\ntwo\n"] {
      path = try secret(text)
      #expect(
        try PassphraseFile(path).passphrase(of: "the key").isSame(as: SecretBytes("one".utf8)))
    }
    for mode in [0o640, 0o604, 0o620] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      #expect(
        reason(path)
          == "others may have read it: its permissions are 0\(String(mode, radix: 8))")
    }
    // An access list of systemd's shows as permissions of the group.
    try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: path)
    #expect(reason(path, isCredential: true) == nil)
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
    #expect(reason(path, isCredential: true) != nil)
    #expect(reason(try secret("\nsecond", named: "empty")) == "its first line is empty")
    #expect(reason(try secret("a\0b", named: "zero")) == "there is a zero byte in it")
    let long = String(repeating: "x", count: 1024)
    #expect(
      reason(try secret(long, named: "long")) == "no passphrase has more than 1023 bytes")
    #expect(reason(try secret(String(long.dropLast()) + "\n", named: "fits")) == nil)
    #expect(reason(scratch.file("none")) == "No such file or directory")
    #expect(reason(scratch.file("keys/..")) != nil)
  }

  @Test("what is secret shows neither in print nor in a reflection")
  func silence() {
    let secret = SecretBytes("open sesame".utf8)
    var text = "\(secret)"
    dump(secret, to: &text)
    #expect(text.contains("11 secret bytes"))
    #expect(!text.contains("sesame"))
    #expect(!text.contains("115"), "nor as numbers")
  }
}
