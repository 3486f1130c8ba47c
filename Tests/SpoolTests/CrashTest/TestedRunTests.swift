import Testing
@testable import spool

@Suite struct TestedRunTests {
  @Test("it is typed as a user would, with a store and an output folder of its own")
  func commandLine() throws {
    let run = TestedRun(
      pipeline: "p.yaml", inputs: ["a.wav", "text=b.txt"], overrides: ["x=1", "y=2 dB"])
    let place = try ScratchStore(at: ScratchStore.makeRoot(inFolder: "/tmp") + "/series")
    defer { ScratchStore.remove(String(place.path.dropLast("/series".count))) }
    #expect(
      run.commandLine(in: place) == [
        "/proc/self/exe", "run", "p.yaml", "a.wav", "text=b.txt", "--set", "x=1", "--set",
        "y=2 dB", "--json", "--store", place.path + "/store", "--out", place.path + "/out",
      ])
  }
}
