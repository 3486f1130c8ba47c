import TestSupport
import Testing

/// The pieces of a split are counted only when the sound is heard, but their names are looked after
/// before.
@Suite("A split shares no name with another step, however many pieces there will be")
struct SplitNameTests {
  @Test(arguments: ["{stem}-07", "{stem}-99", "{stem}-007", "{stem}-150", "{stem}-999"])
  func taken(name: String) throws {
    let place = try Workspace()
    let run = try run(name, in: place)
    #expect(run.exitCode == 2, "\(run.errorOutput)")
    #expect(run.errorOutput.contains("export writes files of the same names as split"))
    #expect(place.exports == [])
  }

  @Test(arguments: ["{stem}-7", "{stem}-1000", "{stem}"])
  func free(name: String) throws {
    let place = try Workspace()
    let run = try run(name, in: place)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports.count == 2, "\(place.exports)")
  }

  private func run(_ name: String, in place: Workspace) throws -> SpoolRun {
    let pipeline = try place.pipeline(
      """
      pipeline: pieces
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - split: { by: silence, formats: [wav] }
        - export: { formats: [wav], name: "\(name)" }
      """)
    return try place.run(pipeline, [PackageFiles.sample("take.flac")])
  }
}
