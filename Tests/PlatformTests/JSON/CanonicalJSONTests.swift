@testable import Platform
import Testing

@Suite("JSON has one text")
struct CanonicalJSONTests {
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
    #expect(JSONValue.decimal(Double(bitPattern: bits)).compact == text)
  }

  @Test("members are sorted by UTF-16 code units, and strings escaped no more than they must be")
  func strings() {
    // RFC 8785, 3.2.3 and 3.2.2.2.
    let json = JSONValue.object([
      "\u{20AC}": .text("Euro Sign"), "\r": .text("Carriage Return"),
      "\u{FB33}": .text("Hebrew Letter Dalet With Dagesh"), "1": .text("One"),
      "\u{1F600}": .text("Emoji: Grinning Face"), "\u{80}": .text("Control"),
      "\u{F6}": .text("Latin Small Letter O With Diaeresis"),
    ])
    let order = [
      "Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis", "Euro Sign",
      "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh",
    ]
    var rest = json.compact[...]
    for word in order {
      guard let range = rest.firstRange(of: word) else {
        Issue.record("\(word) is not in its place")
        return
      }
      rest = rest[range.upperBound...]
    }
    #expect(
      JSONValue.text("\u{20AC}$\u{F}\nA'B\"\\\\\"/\u{8}\u{C}\t\r").compact
        == #""€$\u000f\nA'B\"\\\\\"/\b\f\t\r""#)
  }

  @Test("what was written is read back")
  func roundTrip() throws {
    let json = JSONValue.object([
      "a": .list([.null, .boolean(true), .boolean(false), .decimal(-0.5), .integer(1 << 53)]),
      "b": .object([:]), "c": .list([]), "d": .text("\u{1}é\u{1F600}\\\""),
    ])
    #expect(try JSONReader.canonicalValue(of: Array(json.compact.utf8), depthLimit: 9) == json)
  }

  @Test(
    "what has another form, or no meaning, is refused and says where",
    arguments: [
      (#"{"a":1,"b":2,"a":3}"#, "each name once", 14),
      (#"{"b":1,"a":2}"#, "the canonical order and form", 3),
      (#"{"a": 1}"#, "the canonical order and form", 6),
      (#"{"a":1.0}"#, "the canonical order and form", 7),
      (#"{"a":1}x"#, "the end of the file", 8),
      (#"{"a":"\ud800"}"#, "both halves of a character", 9),
      (#"["#, "a value", 2), (#"["a""#, "a comma or a closing bracket", 5),
      (#"["\x"]"#, "an escape", 4), (#""abc"#, "a closing quote", 5),
      (#"[1e999]"#, "the canonical order and form", 1), (#"{"a"}"#, "a colon", 5),
      ("", "a value", 1),
    ])
  func hostile(text: String, expected: String, column: Int) throws {
    let error = try #require(throws: JSONSyntaxError.self) {
      try JSONReader.canonicalValue(of: Array(text.utf8), depthLimit: 64)
    }
    #expect(error.expected == expected && error.column == column, "\(error)")
  }

  @Test("a thousand arrays inside each other do not end the program")
  func depth() throws {
    let text = String(repeating: "[", count: 100_000)
    let error = try #require(throws: JSONSyntaxError.self) {
      try JSONReader.canonicalValue(of: Array(text.utf8), depthLimit: 64)
    }
    #expect(error.column == 65)
  }

  @Test("a Codable value is one line with sorted names, and comes back from it")
  func codable() throws {
    struct Row: Codable, Equatable {
      var path = "/a/\"b\""
      var byteCount = 3
      var a: Double? = 0.1
      var none: Int?
    }
    let text = try Row().jsonText()
    #expect(text == #"{"a":0.1,"byteCount":3,"path":"/a/\"b\""}"#)
    #expect(try Row(jsonText: text) == Row())
    #expect(throws: (any Error).self) { try [Double.nan].jsonText() }
    #expect(throws: (any Error).self) { try Row(jsonText: "{") }
  }

  @Test("bytes that are not UTF-8 are refused")
  func encoding() throws {
    let error = try #require(throws: JSONSyntaxError.self) {
      try JSONReader.canonicalValue(of: [0x22, 0xFF, 0x22], depthLimit: 64)
    }
    #expect(error.expected == "a text in UTF-8")
  }
}
