import PipelineModel
import Platform
import Testing

@Suite("The damage of a recording")
struct RecordingDamageTests {
  private func damage(_ shortfall: RecordingDamage.Shortfall?) throws -> RecordingDamage {
    // The second place touches the first and counts as one with it.
    let places = [
      RecordingDamage.Place(
        frame: 6000, filledFrames: 22, byteOffset: 18_044, reason: "invalid data"),
      RecordingDamage.Place(frame: 6022, filledFrames: 0, byteOffset: nil, reason: "cut off"),
    ]
    return try #require(RecordingDamage(places, sampleRate: 1000, shortfall: shortfall))
  }

  @Test("says what the file promises, and what is missing at the end")
  func shortfall() throws {
    let damage = try damage(.init(decodedFrames: 6022, declaredFrames: 11_550))
    #expect(
      "\(damage)" == "damaged at 6.0 s (byte 18044), 0.022 s of silence in place of what is lost: "
        + "invalid data; 6.022 s of the 11.55 s that the file promises were decoded, 5.528 s are "
        + "missing at the end")
    #expect(
      damage.json["shortfall"]
        == .object(["decodedFrames": .integer(6022), "declaredFrames": .integer(11_550)]))
    let text = JSONText.of(damage.json)
    let read = try RecordingDamage(jsonText: text)
    #expect(read.shortfall == damage.shortfall && read.places == damage.places)
  }

  @Test("says nothing of the end where nothing is missing")
  func whole() throws {
    let damage = try damage(nil)
    #expect(!"\(damage)".contains("promises"))
    #expect(damage.json["shortfall"] == nil)
  }
}
