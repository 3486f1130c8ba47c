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

  /// Has a document taken in pieces of a length.
  private func children(of text: String, piece: Int, limit: Int = 1000) -> [XMLElement]? {
    var reader = XMLChildren(limit: limit)
    var rest = Array(text.utf8)[...]
    var found: [XMLElement] = []
    while !rest.isEmpty {
      let bytes = Array(rest.prefix(piece))
      rest = rest.dropFirst(piece)
      guard let next = unsafe reader.take(bytes.span.bytes) else { return nil }
      found += next
    }
    return reader.isComplete ? found : nil
  }

  @Test("the children of a long document come one after the other, however it is cut")
  func streams() throws {
    let text = """
      <?xml version="1.0"?><!-- <x> --><D:m xmlns:D='DAV:' note="a > b"> <D:a>1&amp;<b>x</b></D:a>
      <c/><D:a><![CDATA[</D:a>]]></D:a><!-- </D:m> --></D:m>
      """
    let whole = try #require(XMLElement(Array(text.utf8)))
    for piece in 1...text.utf8.count {
      #expect(children(of: text, piece: piece) == whole.children, "\(piece)")
    }
    let many = "<m>" + String(repeating: "<a>1</a>", count: 5000) + "</m>"
    #expect(children(of: many, piece: 4096, limit: 5000)?.count == 5000)
  }

  @Test(
    "a stream that is no such document is refused",
    arguments: [
      "", "<a>", "</a>", "<a><b></c></a>", "<a/><b/>", "<a><b>&z;</b></a>", "<a><b", "<a><></a>",
      "<!DOCTYPE a [<!ENTITY z 'x'>]><a><b>&z;</b></a>", "<a><b c='></b></a>",
      "<a>" + String(repeating: "<b>", count: 40) + String(repeating: "</b>", count: 40) + "</a>",
      "<a><b>" + String(repeating: "x", count: 2000) + "</b></a>",
    ])
  func refusesStream(text: String) {
    for piece in [1, 7, 100_000] { #expect(children(of: text, piece: piece) == nil, "\(piece)") }
  }

  @Test("lines come as they are complete, and none without end")
  func lines() {
    var splitter = LineSplitter(limit: 5)
    func take(_ text: String) -> [String]? {
      unsafe splitter.take(Array(text.utf8).span.bytes)?.map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(take("a\n\nbc") == ["a", ""])
    #expect(take("d\ne") == ["bcd"])
    #expect(splitter.last == Array("e".utf8))
    #expect(take("\n") == ["e"] && splitter.last == nil)
    #expect(take("123456") == nil)
  }

  @Test("dates of HTTP")
  func dates() {
    #expect(HTTPDate.seconds(of: "Fri, 27 Nov 2026 19:27:12 GMT") == 1_795_807_632)
    for text in ["", "Friday, 27-Nov-26 19:27:12 GMT", "Fri, 31 Feb 2026 19:27:12 GMT"] {
      #expect(HTTPDate.seconds(of: text) == nil)
    }
  }
}
