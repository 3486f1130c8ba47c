import Platform
import Testing

@Suite("Small XML documents of servers are read, and nothing that grows")
struct XMLElementTests {
  private func read(_ text: String) -> XMLElement? { XMLElement(Array(text.utf8)) }

  @Test("elements, text, attributes, comments and entities")
  func reads() throws {
    let root = try #require(
      read(
        """
        \u{FEFF}<?xml version="1.0" encoding="UTF-8"?><!-- <x> -->
        <D:multistatus xmlns:D='DAV:' note="a > b"><D:response>
          <D:href>/a%20b/&amp;&#x41;&#66;</D:href><D:empty/><D:c><![CDATA[<&>]]></D:c>
        </D:response></D:multistatus>
        """))
    #expect(root.name == "multistatus")
    #expect(root["response"]?["href"]?.text == "/a%20b/&AB")
    #expect(root["response"]?["empty"]?.children == [])
    #expect(root["response"]?["c"]?.text == "<&>")
    #expect(root["nothing"] == nil)
  }

  @Test(
    "what is no such document is refused",
    arguments: [
      "", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a>&z;</a>", "<a>&amp</a>", "<a", "<>",
      "<!DOCTYPE a [<!ENTITY z 'x'>]><a>&z;</a>", "<a/>text", "<a b='></a>", "<a>&#xD800;</a>",
      String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40),
    ])
  func refuses(text: String) { #expect(read(text) == nil) }

  @Test("dates of HTTP")
  func dates() {
    #expect(HTTPDate.seconds(of: "Fri, 27 Nov 2026 19:27:12 GMT") == 1_795_807_632)
    for text in ["", "Friday, 27-Nov-26 19:27:12 GMT", "Fri, 31 Feb 2026 19:27:12 GMT"] {
      #expect(HTTPDate.seconds(of: text) == nil)
    }
  }
}
