import PipelineModel
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
}
