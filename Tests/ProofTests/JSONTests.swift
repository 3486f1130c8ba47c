import Testing

@testable import Proof

@Suite("JSON has one text")
struct JSONTests {
  @Test(
    "numbers are written as RFC 8785 has them",
    arguments: [
      // RFC 8785, appendix B.
      (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"),
      (0x0000_0000_0000_0001, "5e-324"), (0x8000_0000_0000_0001, "-5e-324"),
      (0x7FEF_FFFF_FFFF_FFFF, "1.7976931348623157e+308"),
      (0xFFEF_FFFF_FFFF_FFFF, "-1.7976931348623157e+308"),
      (0x4340_0000_0000_0000, "9007199254740992"), (0xC340_0000_0000_0000, "-9007199254740992"),
      (0x4430_0000_0000_0000, "295147905179352830000"),
      (0x44B5_2D02_C7E1_4AF5, "9.999999999999997e+22"), (0x44B5_2D02_C7E1_4AF6, "1e+23"),
      (0x44B5_2D02_C7E1_4AF7, "1.0000000000000001e+23"),
      (0x444B_1AE4_D6E2_EF4E, "999999999999999700000"),
      (0x444B_1AE4_D6E2_EF4F, "999999999999999900000"), (0x444B_1AE4_D6E2_EF50, "1e+21"),
      (0x3EB0_C6F7_A0B5_ED8C, "9.999999999999997e-7"), (0x3EB0_C6F7_A0B5_ED8D, "0.000001"),
      (0x41B3_DE43_5555_5553, "333333333.3333332"), (0x41B3_DE43_5555_5554, "333333333.33333325"),
      (0x41B3_DE43_5555_5555, "333333333.3333333"),
      (0xBECB_F647_612F_3696, "-0.0000033333333333333333"),
      (0x4314_3FF3_C1CB_0959, "1424953923781206.2"),
    ] as [(UInt64, String)])
  func numbers(bits: UInt64, text: String) {
    #expect(JSON.number(Double(bitPattern: bits)).canonicalText == text)
  }

  @Test("members are sorted by UTF-16 code units, and strings escaped no more than they must be")
  func strings() {
    // RFC 8785, 3.2.3 and 3.2.2.2.
    let json = JSON.group([
      "\u{20AC}": .text("Euro Sign"), "\r": .text("Carriage Return"),
      "\u{FB33}": .text("Hebrew Letter Dalet With Dagesh"), "1": .text("One"),
      "\u{1F600}": .text("Emoji: Grinning Face"), "\u{80}": .text("Control"),
      "\u{F6}": .text("Latin Small Letter O With Diaeresis"),
    ])
    let order = [
      "Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis", "Euro Sign",
      "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh",
    ]
    var rest = json.canonicalText[...]
    for word in order {
      guard let range = rest.firstRange(of: word) else {
        Issue.record("\(word) is not in its place")
        return
      }
      rest = rest[range.upperBound...]
    }
    #expect(
      JSON.text("\u{20AC}$\u{F}\nA'B\"\\\\\"/\u{8}\u{C}\t\r").canonicalText
        == #""€$\u000f\nA'B\"\\\\\"/\b\f\t\r""#)
  }

  @Test("what was written is read back")
  func roundTrip() throws {
    let json = JSON.group([
      "a": .list([.null, .flag(true), .flag(false), .number(-0.5), .integer(1 << 53)]),
      "b": .group([:]), "c": .list([]), "d": .text("\u{1}é\u{1F600}\\\""),
    ])
    #expect(try JSONReader.readCanonical(json.canonicalBytes) == json)
  }

  @Test(
    "what has another form, or no meaning, is refused and says where",
    arguments: [
      (#"{"a":1,"b":2,"a":3}"#, "the field \"a\" occurs twice", 13),
      (#"{"b":1,"a":2}"#, "its fields are not in the canonical order or form", 2),
      (#"{"a": 1}"#, "its fields are not in the canonical order or form", 5),
      (#"{"a":1.0}"#, "its fields are not in the canonical order or form", 6),
      (#"{"a":1}x"#, "something follows its end", 7),
      (#"{"a":"\ud800"}"#, "half a character is escaped", 12),
      (#"["#, "a value is missing", 1), (#"["a""#, "a comma or a closing bracket is missing", 4),
      (#"["\x"]"#, "an escape means nothing", 4), (#""abc"#, "a string has no end", 4),
      (#"[1e999]"#, "a number cannot be read", 1), (#"{"a"}"#, "a colon is missing", 4),
      ("", "a value is missing", 0),
    ])
  func hostile(text: String, reason: String, offset: Int) {
    #expect(throws: JSONReader.Problem(reason: reason, offset: offset)) {
      try JSONReader.readCanonical(Array(text.utf8))
    }
  }

  @Test("a thousand arrays inside each other do not end the program")
  func depth() {
    let text = String(repeating: "[", count: 100_000)
    #expect(throws: JSONReader.Problem(reason: "it is nested too deeply", offset: 64)) {
      try JSONReader.read(Array(text.utf8))
    }
  }

  @Test("bytes that are not UTF-8 are refused")
  func encoding() {
    #expect(throws: JSONReader.Problem(reason: "a string is not UTF-8", offset: 3)) {
      try JSONReader.read([0x22, 0xFF, 0x22])
    }
  }
}
