import Foundation
import Platform
import Testing

@Suite struct SHA256Tests {
  /// The examples of NIST's FIPS 180-4 and its SHA-256 long-message test.
  @Test(
    "gives the digests that NIST publishes",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        String(repeating: "a", count: 1_000_000),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
      ),
    ])
  func published(message: String, expected: String) {
    #expect(SHA256.digest(of: message).hex == expected)
  }

  private static let program = "/usr/bin/sha256sum"

  @Test(
    "agrees with the sha256sum program on every length around its block size",
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: program), "needs \(program)"))
  func agreesWithProgram() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "spool-hash-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    var expected: [String: String] = [:]
    for length in Array(0...130) + [4095, 4096, 4097, 1_000_003] {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ length) }
      try Data(bytes).write(to: folder.appending(path: "\(length)"))
      expected["\(length)"] = SHA256.digest(of: bytes).hex
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.program)
    process.currentDirectoryURL = folder
    process.arguments = expected.keys.sorted()
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    var found: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", omittingEmptySubsequences: true)
      found[String(parts[1])] = String(parts[0])
    }
    #expect(found == expected)
  }

  @Test("does not depend on how the bytes are cut", arguments: [1, 2, 63, 64, 65, 1000])
  func pieces(pieceLength: Int) {
    let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var hash = SHA256()
    for start in stride(from: 0, to: bytes.count, by: pieceLength) {
      hash.update(Array(bytes[start..<min(start + pieceLength, bytes.count)]))
      hash.update([])
    }
    #expect(hash.finalize() == SHA256.digest(of: bytes))
  }
}
