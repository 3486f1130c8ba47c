import Foundation
import Platform
@testable import Proof
import TestSupport
import Testing

/// What somebody may do to a bundle, who the culprit is, and how it is done.
struct Tampering: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let culprit: String
  let change: @Sendable (SampleQuote) throws -> Void

  init(
    _ description: String, names culprit: String,
    _ change: @escaping @Sendable (SampleQuote) throws -> Void
  ) {
    testDescription = description
    self.culprit = culprit
    self.change = change
  }

  static let all = clips + quotes + receipts

  private static let clips = [
    Tampering("a flipped sample", names: "clip.wav") { sample in
      try sample.change("clip.wav") { $0[44 + 777] ^= 1 }
    },
    Tampering("a truncated clip", names: "clip.wav") { sample in
      try sample.change("clip.wav") { $0.removeLast(6) }
    },
    Tampering("a clip of fewer blocks whose header fits", names: "clip.wav") { sample in
      let clip = QuotedClip(3..<6, of: sample.extent)
      try sample.write((clip?.header ?? []) + sample.samples(of: 3..<6), to: "clip.wav")
    },
    Tampering("a longer clip", names: "clip.wav") { sample in
      try sample.change("clip.wav") { $0 += sample.samples(of: 7..<8) }
    },
    Tampering("another chunk behind the samples", names: "clip.wav") { sample in
      try sample.change("clip.wav") { $0 += Array("LIST".utf8) + [4, 0, 0, 0, 1, 2, 3, 4] }
    },
    Tampering("a header that has it played twice as fast", names: "clip.wav") { sample in
      try sample.change("clip.wav") { $0[24] = 200 }
    },
    Tampering("blocks that changed places", names: "clip.wav") { sample in
      let clip = QuotedClip(3..<7, of: sample.extent)
      let blocks = [3..<4, 5..<6, 4..<5, 6..<7].flatMap { sample.samples(of: $0) }
      try sample.write((clip?.header ?? []) + blocks, to: "clip.wav")
    },
    Tampering("no clip", names: "clip.wav") { sample in
      try FileManager.default.removeItem(atPath: sample.folder + "/clip.wav")
    },
    Tampering("a link to a clip elsewhere", names: "clip.wav") { sample in
      let clip = sample.folder + "/clip.wav"
      try FileManager.default.moveItem(atPath: clip, toPath: sample.scratch.file("clip.wav"))
      try FileManager.default.createSymbolicLink(
        atPath: clip, withDestinationPath: "../clip.wav")
    },
  ]

  private static let quotes = [
    Tampering("siblings that changed places", names: "clip.wav") { sample in
      try sample.rewrite {
        guard case .list(var list) = $0["siblings"] else { return }
        list.swapAt(0, 1)
        $0["siblings"] = .list(list)
      }
    },
    Tampering("a sibling too few", names: "quote.json") { sample in
      try sample.rewrite { $0["siblings"] = .list(($0["siblings"]?.list ?? []).dropLast()) }
    },
    Tampering("a sibling too many", names: "quote.json") { sample in
      try sample.rewrite {
        let list = $0["siblings"]?.list ?? []
        $0["siblings"] = .list(list + list.prefix(1))
      }
    },
    // Blocks 4 to 7 are a part of the tree by themselves: they want fewer siblings.
    Tampering("a range that is shifted by a second, and its blocks with it", names: "quote.json") {
      sample in
      try sample.rewrite {
        $0["range"] = .object(["from": .integer(420), "to": .integer(750)])
        $0["blocks"] = .object(["first": .integer(4), "count": .integer(4)])
      }
    },
    // Blocks 1 to 4 want as many siblings as blocks 3 to 6.
    Tampering("a range that is shifted by two seconds, and its blocks with it", names: "clip.wav") {
      sample in
      try sample.rewrite {
        $0["range"] = .object(["from": .integer(120), "to": .integer(450)])
        $0["blocks"] = .object(["first": .integer(1), "count": .integer(4)])
      }
    },
    Tampering("blocks that are shifted, and the range not", names: "quote.json") { sample in
      try sample.rewrite { $0["blocks"] = .object(["first": .integer(4), "count": .integer(4)]) }
    },
    Tampering("a range beyond the end", names: "quote.json") { sample in
      try sample.rewrite { $0["range"] = .object(["from": .integer(320), "to": .integer(1235)]) }
    },
    Tampering("a range that ends before it begins", names: "quote.json") { sample in
      try sample.rewrite { $0["range"] = .object(["from": .integer(650), "to": .integer(320)]) }
    },
    Tampering("a root of one's own", names: "quote.json") { sample in
      try sample.rewrite {
        guard case .object(var samples) = $0["samples"] else { return }
        samples["root"] = .text(SHA256.digest(of: "mine").hex)
        $0["samples"] = .object(samples)
      }
    },
    Tampering("an export of ../", names: "quote.json") { sample in
      try sample.rewrite { $0["export"] = .text("../quote/note.wav") }
    },
    Tampering("an export whose sound is not signed", names: "quote.json") { sample in
      try sample.rewrite { $0["export"] = .text("other.wav") }
    },
    Tampering("a member of ../ that no quote has", names: "quote.json") { sample in
      try sample.rewrite { $0["clip"] = .text("../../clip.wav") }
    },
    Tampering("a duplicated key", names: "quote.json") { sample in
      let text = String(decoding: try sample.bytes("quote.json"), as: UTF8.self)
      let twice = text.replacingOccurrences(
        of: "\"range\":", with: "\"range\":{\"from\":0,\"to\":1},\"range\":")
      try sample.write(Array(twice.utf8), to: "quote.json")
    },
    Tampering("white space", names: "quote.json") { sample in
      try sample.change("quote.json") { $0.insert(UInt8(ascii: " "), at: 1) }
    },
    Tampering("a hundred megabytes", names: "quote.json") { sample in
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: sample.folder + "/quote.json"))
      try file.truncate(atOffset: 100_000_000)
    },
    Tampering("brackets without end", names: "quote.json") { sample in
      try sample.write([UInt8](repeating: UInt8(ascii: "["), count: 900_000), to: "quote.json")
    },
    Tampering("no quote", names: "quote.json") { sample in
      try FileManager.default.removeItem(atPath: sample.folder + "/quote.json")
    },
  ]

  private static let receipts = [
    Tampering("another recording's receipt by the same key", names: "receipt.json") { sample in
      let extent = sample.extent
      let leaves = sample.tree.leaves.reversed()
      let other = try #require(SampleTree(extent, leaves: Array(leaves)))
      try sample.write(
        Array(sample.receipt(of: ["note.wav": other.summary]).utf8), to: "receipt.json")
    },
    Tampering("a flipped bit in the statement", names: "receipt.json") { sample in
      try sample.change("receipt.json") { $0[400] = $0[400] == 65 ? 66 : 65 }
    },
    Tampering("a flipped bit in the signature", names: "receipt.json") { sample in
      try sample.change("receipt.json") { bytes in
        let place = bytes.count - 30
        bytes[place] = bytes[place] == 65 ? 66 : 65
      }
    },
    Tampering("a duplicated key in the envelope", names: "receipt.json") { sample in
      let text = String(decoding: try sample.bytes("receipt.json"), as: UTF8.self)
      try sample.write(
        Array(("{\"payload\":\"e30=\"," + text.dropFirst()).utf8), to: "receipt.json")
    },
    Tampering("a hundred megabytes of receipt", names: "receipt.json") { sample in
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: sample.folder + "/receipt.json"))
      try file.truncate(atOffset: 100_000_000)
    },
    Tampering("a public key of one's own", names: "spool.pub") { sample in
      try sample.write(Array(SigningKey().verifyingKey.pem.utf8), to: "spool.pub")
    },
    Tampering("a flipped bit in the public key", names: "spool.pub") { sample in
      try sample.change("spool.pub") { $0[50] = $0[50] == 65 ? 66 : 65 }
    },
  ]
}

@Suite(
  "A quote that was tampered with fails, and the culprit is named",
  .enabled(if: Program(named: "python3") != nil && Program(named: "openssl") != nil))
struct HostileQuoteTests {
  @Test(arguments: Tampering.all)
  func tampered(_ tampering: Tampering) throws {
    let sample = try SampleQuote()
    try tampering.change(sample)
    let found = try #require(sample.check())
    #expect(found.problems.contains { $0.name == tampering.culprit }, "\(found.problems)")
    let script = try sample.script()
    #expect(script.exitCode == 4, "\(script.text)\(script.errorOutput)")
    #expect(script.text.contains("BROKEN   \(tampering.culprit): "), "\(script.text)")
    #expect(script.errorOutput == "")
  }

  @Test("no flipped bit in any file that proves anything gets past either")
  func flipped() throws {
    let sample = try SampleQuote()
    for name in ["clip.wav", "quote.json", "receipt.json"] {
      let whole = try sample.bytes(name)
      for place in stride(from: 0, to: whole.count, by: max(1, whole.count / 40)) {
        var bytes = whole
        bytes[place] ^= 1 << UInt8(place % 7)
        try sample.write(bytes, to: name)
        #expect(sample.check()?.isSound == false, "\(name), byte \(place)")
        #expect(try sample.script().exitCode == 4, "\(name), byte \(place)")
      }
      try sample.write(whole, to: name)
    }
    #expect(sample.check()?.isSound == true)
  }

  @Test("a receipt that another key signed does not have its clip read")
  func strange() throws {
    let sample = try SampleQuote()
    try sample.change("clip.wav") { $0[50] ^= 1 }
    let found = try #require(sample.check(keys: []))
    #expect(found.problems.map(\.reason) == ["it was not signed by a key that is trusted here"])
  }
}
