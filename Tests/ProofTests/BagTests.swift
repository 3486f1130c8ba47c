import Foundation
import Platform
@testable import Proof
import TestSupport
import Testing

@Suite("A bag is whole, or what is wrong with it is named")
struct BagTests {
  private let scratch: ScratchFolder
  private var bag: String { scratch.file("bag") }

  /// Names that have to be encoded, and some that have not.
  private static let names = ["note.wav", "50 % less.txt", "a\nb\rc.txt", "deep/er/ü.txt", "%41"]

  init() throws {
    scratch = try ScratchFolder()
    var payload: [(String, Digest)] = []
    for name in Self.names {
      let path = "data/" + name
      let url = URL(fileURLWithPath: bag + "/" + path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("what is in \(name)".utf8).write(to: url)
      payload.append((path, SHA256.digest(of: "what is in \(name)")))
    }
    try seal(Bag.manifest(payload))
  }

  /// Writes tag files around the payload, with this manifest.
  private func seal(_ manifest: String) throws {
    let bytes = Self.names.reduce(0) { $0 + "what is in \($1)".utf8.count }
    let information = Bag.information([
      ("Source-Organization", "Haus\nund\tHof"), ("Bag-Software-Agent", "spool 0.1.0"),
      ("Payload-Oxum", "\(bytes).\(Self.names.count)"),
    ])
    let texts = [
      Bag.informationName: information, Bag.manifestName: manifest,
      Bag.declarationName: Bag.declaration,
    ]
    for (name, text) in texts { try write(text, name) }
    try write(
      Bag.manifest(texts.map { ($0.key, SHA256.digest(of: $0.value)) }), Bag.tagManifestName)
  }

  private func write(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: bag + "/" + name))
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: bag + "/" + name, encoding: .utf8)
  }

  private func check() throws -> VerificationResult {
    let found = Verification(keys: [], threadCount: 2).check(receipts: [], bags: [bag])
    return try #require(found?.bags.first)
  }

  /// The culprits, without what is wrong with them.
  private func culprits() throws -> [String] { try check().problems.map(\.name) }

  @Test("what was written is valid, and its figures are told")
  func whole() throws {
    let found = try check()
    #expect(found.problems == [])
    #expect(found.fileCount == Self.names.count)
    #expect(found.byteCount == Self.names.reduce(0) { $0 + "what is in \($1)".utf8.count })
    #expect(ReceiptSearch(below: scratch.path).bags == [bag])
  }

  @Test("only CR, LF and the percent sign are encoded, and what else stands there stays")
  func encoding() throws {
    #expect(Bag.encoded("a\r\nb%c d") == "a%0D%0Ab%25c d")
    for name in Self.names + ["%0A", "%2525", "%", "%2"] {
      #expect(Bag.decoded(Bag.encoded(name).utf8) == Array(name.utf8))
    }
    #expect(Bag.decoded("%0a%0d%41%".utf8) == Array("\n\r%41%".utf8))
    #expect(try text(Bag.informationName).hasPrefix("Source-Organization: Haus und Hof\n"))
  }

  @Test("one flipped bit is found in the payload, the manifest and the tag manifest")
  func flipped() throws {
    for name in Self.names.map({ "data/" + $0 }) + [
      Bag.manifestName, Bag.tagManifestName, Bag.informationName, Bag.declarationName,
    ] {
      let url = URL(fileURLWithPath: bag + "/" + name)
      let whole = try Data(contentsOf: url)
      for place in stride(from: 0, to: whole.count, by: max(1, whole.count / 23)) {
        var bytes = whole
        bytes[place] ^= 1
        try bytes.write(to: url)
        #expect(try !check().isSound, "\(name), byte \(place)")
      }
      try whole.write(to: url)
    }
    #expect(try check().isSound)
  }

  @Test("a file too many, one too few, a link and a pipe are named")
  func files() throws {
    try write("more", "data/more.txt")
    #expect(try culprits() == ["data/more.txt"])
    try FileManager.default.removeItem(atPath: bag + "/data/more.txt")
    try FileManager.default.moveItem(
      atPath: bag + "/data/note.wav", toPath: scratch.file("note.wav"))
    #expect(try Set(culprits()) == ["data/note.wav", Bag.informationName])
    try FileManager.default.createSymbolicLink(
      atPath: bag + "/data/note.wav", withDestinationPath: scratch.file("note.wav"))
    #expect(try check().problems.contains { $0.reason.contains("link") })
    try FileManager.default.removeItem(atPath: bag + "/data/note.wav")
    #expect(unsafe mkfifo(bag + "/data/note.wav", 0o600) == 0)
    #expect(try check().problems.contains { $0.name == "data/note.wav" })
  }

  @Test("what the payload has is told without what is missing")
  func shortPayload() throws {
    try FileManager.default.removeItem(atPath: bag + "/data/note.wav")
    let bytes = Self.names.dropFirst().reduce(0) { $0 + "what is in \($1)".utf8.count }
    let said = try check().problems.first { $0.name == Bag.informationName }
    #expect(said?.reason.hasSuffix("the payload has \(bytes).\(Self.names.count - 1)") == true)
  }

  @Test("each tag file that is missing is named")
  func tagFiles() throws {
    for name in [Bag.declarationName, Bag.manifestName, Bag.tagManifestName] {
      let whole = try text(name)
      try FileManager.default.removeItem(atPath: bag + "/" + name)
      #expect(try culprits().contains(name))
      #expect(ReceiptSearch(below: scratch.path).bags == [bag])
      try write(whole, name)
    }
    try FileManager.default.removeItem(atPath: bag + "/data")
    #expect(try check().problems.count >= Self.names.count)
  }

  @Test("a bag of another program may do without a tag manifest, and that is told")
  func withoutTagManifest() throws {
    try write(
      text(Bag.informationName).replacing("spool 0.1.0", with: "bagit.py 1.8"), Bag.informationName)
    try FileManager.default.removeItem(atPath: bag + "/" + Bag.tagManifestName)
    #expect(try check().problems == [])
    #expect(try check().notes.map(\.name) == [Bag.tagManifestName])
  }

  @Test(
    "a path that leads out of the bag is refused and not looked at",
    arguments: [
      "../secret", "data/../../secret", "/etc/passwd", "data//x", "data/./note.wav", "data/",
      "data/../../\u{301}secret",
      "bagit.txt", "data/a/../note.wav",
    ])
  func leadingOut(path: String) throws {
    try Data("secret".utf8).write(to: URL(fileURLWithPath: scratch.file("secret")))
    let manifest = try text(Bag.manifestName)
    try seal(manifest + "\(SHA256.digest(of: "secret").hex)  \(path)\n")
    let problems = try check().problems
    #expect(problems.map(\.name) == ["\(Bag.manifestName), line 6"])
  }

  @Test("a line that comes twice, and one that is none, are named with their numbers")
  func lines() throws {
    let manifest = try text(Bag.manifestName)
    let first = try #require(manifest.split(separator: "\n").first)
    try seal("\(manifest)\(first)\n\nrubbish\n\(first.prefix(63))  data/x\n")
    #expect(
      try culprits() == [6, 8, 9].map { "\(Bag.manifestName), line \($0)" })
    try seal(manifest + String(repeating: "rubbish\n", count: 1000))
    #expect(try check().problems.count == 21, "no more than twenty, and how many more")
  }

  @Test("two names that look alike and are not the same bytes are two files")
  func lookalikes() throws {
    let names = ["data/\u{E9}", "data/e\u{301}"]
    for name in names { try write(name, name) }
    let more = names.map { "\(SHA256.digest(of: $0).hex)  \($0)\n" }.joined()
    try seal(try text(Bag.manifestName) + more)
    #expect(try culprits() == [Bag.informationName], "only the figure is another")
    try write("changed", names[1])
    let problems = try check().problems.filter { $0.name != Bag.informationName }
    #expect(problems.map { Array($0.name.utf8) } == [Array(names[1].utf8)])
  }

  @Test("a manifest of 100 MB is refused as too long, and none of its lines is read")
  func huge() throws {
    #expect(unsafe truncate(bag + "/" + Bag.manifestName, 100_000_000) == 0)
    let problems = try check().problems.filter { $0.name.hasPrefix(Bag.manifestName) }
    #expect(
      problems.map(\.reason) == [
        "it has 100000000 bytes, and no more than 67108864 are read",
        "it holds other bytes than tagmanifest-sha256.txt says: one of them changed",
      ])
  }

  @Test(
    "another version and another encoding are no bag of ours",
    arguments: [
      "BagIt-Version: 2.0\nTag-File-Character-Encoding: UTF-8\n",
      "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-16\n", "",
      "\u{FEFF}BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
      "BagIt-Version: 1.0\n",
    ])
  func declaration(text: String) throws {
    try write(text, Bag.declarationName)
    #expect(try culprits().contains(Bag.declarationName))
  }

  @Test(
    "a line of fetch.txt is a URL, a length and a path that the manifests name",
    arguments: [
      ("http://x/y 3 data/../../x", "leads out of the bag"),
      ("http://x/y 3 /etc/passwd", "leads out of the bag"),
      ("http://x/y 3 data/x.wav", "not every manifest names data/x.wav"),
      ("http://x/y 3 bagit.txt", "is not in data/"),
      ("http://x/y three data/note.wav", "neither a length nor a hyphen"),
      ("http://x/y data/note.wav", "neither a length nor a hyphen"),
      ("x/y 3 data/note.wav", "does not begin with a URL"), ("rubbish", "a length"),
      ("http://x/y 3", "its path is no UTF-8, or missing"),
    ])
  func fetch(line: String, reason: String) throws {
    try write("http://x/y - data/note.wav\n\(line)\n", Bag.fetchName)
    let problems = try check().problems
    #expect(problems.count == 1)
    #expect(
      ["fetch.txt, line 2"] == problems.map(\.name)
        && problems[0].reason.contains(reason.hasSuffix("a length") ? "URL" : reason),
      "\(problems)")
  }

  @Test("what is still to be fetched is missing, and what is there already is not")
  func fetched() throws {
    try write(
      "http://x/y\t9 \tdata/note.wav\r\nhttp://x/50 - data/50 %25 less.txt\r\n", "fetch.txt")
    #expect(try check().isSound)
    try FileManager.default.removeItem(atPath: bag + "/data/note.wav")
    let problems = try check().problems
    #expect(problems.map(\.name) == ["data/note.wav", Bag.informationName])
    #expect(problems[0].reason.contains("fetch.txt says where"), "\(problems)")
    #expect(unsafe truncate(bag + "/fetch.txt", 100_000_000) == 0)
    #expect(try culprits().contains("fetch.txt"))
  }

  /// The manifest of the payload by another algorithm, as the program of that name makes it.
  private func manifest(_ algorithm: String) throws -> String {
    let sums = try #require(Program(named: "\(algorithm)sum"))
    return try Self.names.map { name in
      let line = try sums.run(["data/" + name], folder: bag).text
      let digest = line.drop { $0 == "\\" }.prefix { $0 != " " }.uppercased()
      return "\(digest)  \(Bag.encoded("data/" + name))\n"
    }.joined()
  }

  /// Writes the tag manifest anew, with all manifests that there are.
  private func sealTags() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: bag)
      .filter { $0.hasSuffix(".txt") && !$0.hasPrefix("tagmanifest") }
    try write(
      Bag.manifest(names.map { ($0, SHA256.digest(of: try text($0))) }), Bag.tagManifestName)
  }

  @Test(
    "manifests of other algorithms are checked as well",
    arguments: ["md5", "sha1", "sha224", "sha384", "sha512"])
  func algorithms(algorithm: String) throws {
    let name = "manifest-\(algorithm).txt"
    let right = try manifest(algorithm)
    try write(right, name)
    #expect(try culprits() == [Bag.tagManifestName], "it does not name the new one")
    try sealTags()
    #expect(try check().problems == [])
    #expect(try check().byteCount == Self.names.reduce(0) { $0 + "what is in \($1)".utf8.count })

    // The digests of two files that took each other's places.
    var lines = right.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let digits = try #require(lines[0].firstIndex(of: " "))
    let (one, other) = (lines[0][..<digits], lines[1][..<digits])
    (lines[0], lines[1]) = (
      String(other + lines[0][digits...]), String(one + lines[1][digits...])
    )
    try write(lines.joined(separator: "\n"), name)
    try sealTags()
    #expect(try Set(culprits()) == [name], "the files are as the other manifest says")

    try write(String(right.drop { $0 != "\n" }.dropFirst()), name)
    try sealTags()
    #expect(try culprits() == [name], "one that every manifest has to name is not there")
    try write(Bag.declaration.replacingOccurrences(of: "1.0", with: "0.97"), Bag.declarationName)
    try sealTags()
    #expect(try check().problems == [], "of 0.97, each file is in one of them")

    // It alone is enough, and then finds what is changed.
    try write(right, name)
    try FileManager.default.removeItem(atPath: bag + "/" + Bag.manifestName)
    try sealTags()
    #expect(try check().problems == [])
    try write("changed", "data/note.wav")
    #expect(try Set(culprits()) == ["data/note.wav", Bag.informationName])
    try write(right.replacingOccurrences(of: "0", with: "x"), name)
    #expect(try culprits().contains { $0.hasPrefix("\(name), line") })
  }

  @Test("a tag manifest of another algorithm is checked as well")
  func otherTagManifest() throws {
    let sums = try #require(Program(named: "sha512sum"))
    let names = [Bag.declarationName, Bag.informationName, Bag.manifestName]
    let right = try sums.run(names, folder: bag).text
    try write(right, "tagmanifest-sha512.txt")
    #expect(try check().problems == [])
    let line = try #require(right.split(separator: "\n").first)
    try write(
      right.replacingOccurrences(of: line, with: String(line.reversed())), "tagmanifest-sha512.txt")
    #expect(try !check().isSound)
    try write(
      right.replacingOccurrences(of: line.prefix(3), with: line.hasPrefix("000") ? "111" : "000"),
      "tagmanifest-sha512.txt")
    #expect(try culprits() == ["tagmanifest-sha512.txt"], "the file is as the other one says")
  }

  @Test("a manifest that cannot be checked is said to be, and alone is not enough")
  func unknownAlgorithm() throws {
    try write("00  data/note.wav\n", "manifest-whirlpool.txt")
    try sealTags()
    let found = try check()
    #expect(found.problems == [])
    #expect(found.notes.map(\.name) == ["manifest-whirlpool.txt"])
    try FileManager.default.removeItem(atPath: bag + "/" + Bag.manifestName)
    try sealTags()
    #expect(try culprits() == ["manifest-whirlpool.txt"])
  }

  @Test("Python says the same: valid as it is, and not with one bit flipped")
  func reference() throws {
    guard let reference = BagReference() else { return }
    #expect(try reference.isValid(bag))
    let url = URL(fileURLWithPath: bag + "/data/%41")
    let whole = try Data(contentsOf: url)
    var bytes = whole
    bytes[0] ^= 1
    try bytes.write(to: url)
    #expect(try !reference.isValid(bag))
    #expect(try !check().isSound)
  }
}
