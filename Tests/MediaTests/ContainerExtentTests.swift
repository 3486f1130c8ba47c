import Foundation
import Media
import TestSupport
import Testing

@Suite("A container says itself whether something is missing")
struct ContainerExtentTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func extent(_ bytes: Data) throws -> ContainerExtent {
    let path = scratch.file("x")
    try bytes.write(to: URL(fileURLWithPath: path))
    return ContainerExtent(ofFileAt: path)
  }

  private func isIncomplete(_ extent: ContainerExtent) -> Bool {
    if case .incomplete = extent { true } else { false }
  }

  @Test(
    "every real file is whole, and no beginning of an MP4 or WAV file is",
    arguments: ["mp4", "wav", "aiff"])
  func beginnings(format: String) throws {
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let path = scratch.file("tone.\(format)")
    let made = try ffmpeg.run(
      [
        "-v", "error", "-f", "lavfi", "-i", "sine=440:duration=0.4", "-movflags", "+faststart",
        path,
      ])
    #expect(made.exitCode == 0, "\(made.errorOutput)")
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(try extent(whole) == .whole)
    for length in stride(from: 32, to: whole.count - 2, by: 97) {
      #expect(isIncomplete(try extent(whole.prefix(length))), "\(length) of \(whole.count)")
    }
  }

  @Test("an index that is still to be written is missed")
  func lateIndex() throws {
    var bytes = Data([0, 0, 0, 16])
    bytes += Data("ftypisom".utf8) + Data(repeating: 1, count: 4)
    bytes += Data([0, 0, 0, 12]) + Data("mdat".utf8) + Data(repeating: 7, count: 4)
    #expect(isIncomplete(try extent(bytes)))
    bytes += Data([0, 0, 0, 8]) + Data("moov".utf8)
    #expect(try extent(bytes) == .whole)
  }

  @Test("what was written to a pipe declares no length, and what is unknown declares nothing")
  func undeclared() throws {
    var bytes = Data("RIFF".utf8) + Data(repeating: 0xff, count: 4)
    bytes += Data("WAVE".utf8) + Data(repeating: 9, count: 40)
    #expect(try extent(bytes) == .whole)
    #expect(try extent(Data("no container at all".utf8)) == .whole)
  }

  @Test("nothing, and zeros, are a beginning at most; what is not there cannot be read")
  func nothing() throws {
    #expect(isIncomplete(try extent(Data())))
    #expect(isIncomplete(try extent(Data(count: 5000))))
    let absent = ContainerExtent(ofFileAt: scratch.file("absent"))
    let isUnreadable = if case .unreadable = absent { true } else { false }
    #expect(isUnreadable)
  }
}
