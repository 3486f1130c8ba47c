import Search
import Store
import Testing

/// The same sound in several files, whose words were found in different ways.
@Suite("Of a sound in several files, the words that count are found") struct SameSoundTests {
  private let bench: SearchBench

  init() throws { bench = try SearchBench() }

  private func save(
    _ text: String, of recording: String, _ kind: String, pipeline: String = "words"
  ) throws {
    try bench.store.runs.save(
      bench.run(text, of: recording, pipeline: pipeline, soundingLike: "a.wav", kind: kind))
  }

  @Test("words that were recognised later in a copy do not hide the aligned ones")
  func aligned() throws {
    try save("fellow citizens of the north", of: "a.wav", "align")
    try save("fellow america brain can do", of: "copy.wav", "recognize", pipeline: "guess")
    #expect(try bench.hits("fellow").map(\.name) == ["a.wav"])
    #expect(try bench.hits("brain").isEmpty)
    #expect(try bench.hits("brain", pipeline: "guess").map(\.name) == ["copy.wav"])
    // Another recording of the same words has a sound of its own.
    try bench.tell("brain of another", of: "other.wav")
    #expect(try bench.hits("brain").map(\.name) == ["other.wav"])
  }

  @Test("of words that were found in the same way, the newest count, whatever file they are of")
  func newest() throws {
    try save("alpha old", of: "a.wav", "recognize")
    try save("alpha new", of: "copy.wav", "recognize")
    #expect(try bench.hits("alpha").map(\.words) == ["alpha"])
    #expect(try bench.hits("old").isEmpty)
    #expect(try bench.hits("new").map(\.name) == ["copy.wav"])
    try save("alpha newest", of: "a.wav", "recognize")
    #expect(try bench.hits("new").isEmpty)
    #expect(try bench.hits("newest").map(\.name) == ["a.wav"])
  }
}
