import Foundation
@testable import Platform
import Testing

@Suite("Reading a stranger's JSON")
struct JSONReaderTests {
  private func read(_ text: String) throws -> JSONValue {
    try JSONReader.value(of: Array(text.utf8), depthLimit: 32).value
  }

  @Test(
    "gives what Foundation's own parser gives",
    arguments: [
      #"{"a":[1,-2.5e+3,0,1E9],"b":{"c":null},"d":true,"e":false,"f":"x\n\"\\\/\b\f\r\t"}"#,
      #"["\u00e4\ud83d\ude00", "ä😀", ""]"#, " [ ] ", "\n{\t}\r\n", #"{"":{"":""}}"#,
      #"[[[[1]]],{"x":[{}]}]"#,
    ])
  func agrees(text: String) throws {
    let ours = try read(text).compact
    let expected = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let again = try JSONSerialization.jsonObject(with: Data(ours.utf8))
    #expect((expected as? NSObject) == (again as? NSObject), "\(ours)")
  }

  @Test(
    "refuses what is no JSON, and says where",
    arguments: [
      ("", 1, 1), ("{", 1, 2), ("[1,]", 1, 4), (#"{"a" 1}"#, 1, 6), ("[01]", 1, 3), ("nul", 1, 1),
      ("[1] x", 1, 5), ("[\n 1,\n +2]", 3, 2), (#"["a"#, 1, 4), (#"["\x"]"#, 1, 4), ("[1.]", 1, 4),
      ("{a:1}", 1, 2), ("[-]", 1, 3), ("\"a\nb\"", 1, 3), (#"["\u12g4"]"#, 1, 7), ("[1}", 1, 3),
    ])
  func refuses(text: String, line: Int, column: Int) {
    do throws(JSONSyntaxError) {
      _ = try JSONReader.value(of: Array(text.utf8), depthLimit: 32)
      Issue.record("\(text) is no JSON")
    } catch {
      #expect(error.line == line && error.column == column, "\(text): \(error)")
    }
  }

  @Test("goes as deep as it may, and no deeper")
  func depth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(try read(nested(32)) != .null)
    #expect(throws: JSONSyntaxError.self) { try read(nested(33)) }
    #expect(throws: JSONSyntaxError.self) { try read(nested(500_000)) }
  }

  @Test("mends what is no text: bytes that are no UTF-8, halves of pairs; skips a byte order mark")
  func mended() throws {
    let bytes: [UInt8] = [0xef, 0xbb, 0xbf, 0x22, 0x61, 0xe4, 0x22]
    #expect(try JSONReader.value(of: bytes, depthLimit: 1).value == .text("a\u{fffd}"))
    #expect(try read(#""\ud800x""#) == .text("\u{fffd}x"))
    #expect(try read(#""\ud800\u0041""#) == .text("\u{fffd}A"))
    #expect(try read(#""\udc00""#) == .text("\u{fffd}"))
  }

  @Test("keeps every digit, sorts names, and says which came twice")
  func kept() throws {
    let text = #"{"b":1.10,"a":12345678901234567890123,"b":2,"é":[],"A":"\u0001/"}"#
    let (value, repeated) = try JSONReader.value(of: Array(text.utf8), depthLimit: 9)
    #expect(value.compact == #"{"A":"\u0001/","a":12345678901234567890123,"b":2,"é":[]}"#)
    #expect(repeated == ["b"])
  }

  @Test("survives every cut and every changed byte of a text")
  func damaged() {
    let bytes = Array(#"{"a":[1,-2.5e3,"ä\u00e4\n"],"b":{"c":null,"d":true}}"#.utf8)
    var accepted = 0
    for index in bytes.indices {
      for byte: UInt8 in [0, 0x22, 0x5c, 0x7b, 0x5d, 0x2c, 0xff] {
        var damaged = bytes
        damaged[index] = byte
        if (try? JSONReader.value(of: damaged, depthLimit: 9)) != nil { accepted += 1 }
      }
      #expect((try? JSONReader.value(of: Array(bytes[..<index]), depthLimit: 9)) == nil)
    }
    #expect(accepted < bytes.count * 7)
  }
}
