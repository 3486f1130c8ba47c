import PipelineModel
import Platform
import Testing

@testable import Delivery

@Suite("The path of a file at a destination comes from a template")
struct DeliveryPathTests {
  private let values = [
    "date": "2025-03-01", "noteId": "n/1", "title": " ..Walk: by the sea? ", "name": "a/b.wav",
    "ext": "wav", "what": "exports",
  ]

  @Test("values become parts of names that every system takes")
  func filled() throws {
    #expect(
      DeliveryPath.fill("{date}/{noteId}-{title}.{ext}", values)
        == "2025-03-01/n-1- ..Walk- by the sea- .wav")
    #expect(DeliveryPath.fill("{title}/{name}", values) == "Walk- by the sea-/a/b.wav")
    #expect(DeliveryPath.fill("{time}/{name}", values) == "unnamed/a/b.wav")
    let long = DeliveryPath.fill(
      "{title}.{ext}", ["title": String(repeating: "ä", count: 300), "ext": "wav"])
    #expect(long.utf8.count <= 200 && long.hasSuffix("ä.wav"))
    for template in ["{date}/{name}", "{what}/{title}.{ext}", DeliveryRequest.usualPath] {
      _ = try RemotePath(DeliveryPath.fill(template, values))
    }
  }

  @Test("a file keeps its own name, which receipts and lists speak of")
  func names() throws {
    for name in ["Who was there?.flac", "Side A: childhood.wav", ".a", "b. ", "\"x\" <y>.wav"] {
      let path = DeliveryPath.fill("{date}/{name}", ["date": "d", "name": name])
      #expect(path == "d/\(name)")
      #expect(try RemotePath(path).names == ["d", name])
    }
    let long = String(repeating: "x", count: 250) + ".json"
    #expect(DeliveryPath.fill("{name}", ["name": long]) == long)
    let path = try RemotePath(long)
    #expect(path.part("0123abcd").names[0].utf8.count == 255)
    #expect(throws: SpoolError.self) { try RemotePath(path.part("0123abcd").description) }
    #expect(DeliveryPath.fill("{date}-{name}", ["date": "d", "name": "a/b?"]) == "d-a/b-")
  }

  @Test(
    "the folder of a version is the innermost that a recording has for itself",
    arguments: [
      (DeliveryRequest.usualPath, 2), ("{date}/{name}", nil), ("{noteId}/{what}/{name}", 1),
      ("{name}", nil), ("{title}.{ext}", nil), ("a/{stem}/b/{title}/{name}", 4),
    ])
  func versions(template: String, depth: Int?) {
    #expect(DeliveryPath.versionDepth(of: template, [:]) == depth)
  }

  @Test(
    "a template that is none is refused with the reason",
    arguments: [
      ("{date}/{nme}.{ext}", "{nme}"), ("{date/{name}", "{date/{name}"), ("a}/{name}", "brace"),
      ("/{name}", "empty"), ("a//{name}", "empty"), ("../{name}", ".."), ("{date}", "{name}"),
      ("a\n{name}", "control"),
    ])
  func refused(template: String, word: String) throws {
    let fault = try #require(DeliveryPath.fault(of: template))
    #expect(fault.contains(word), "\(fault)")
  }

  @Test("the usual template is right")
  func usual() { #expect(DeliveryPath.fault(of: DeliveryRequest.usualPath) == nil) }

  @Test("the folders of a collection stay, and lead nowhere else")
  func folders() throws {
    let template = "{folder}/{date}/{title}/{name}"
    func values(_ folder: String) -> [String: String] {
      ["folder": folder, "date": "1974-03-02", "title": "Weber", "name": "a.wav"]
    }
    for (folder, path, depth) in [
      ("", "1974-03-02/Weber/a.wav", 2), ("box 7", "box 7/1974-03-02/Weber/a.wav", 3),
      ("box 7/side: b", "box 7/side- b/1974-03-02/Weber/a.wav", 4),
      ("../.x", "unnamed/x/1974-03-02/Weber/a.wav", 4),
    ] {
      #expect(DeliveryPath.fill(template, values(folder)) == path)
      #expect(DeliveryPath.versionDepth(of: template, values(folder)) == depth)
      _ = try RemotePath(path)
    }
    #expect(DeliveryPath.fault(of: template) == nil)
    #expect(DeliveryPath.fault(of: "{folder}-{name}") != nil)
  }
}
