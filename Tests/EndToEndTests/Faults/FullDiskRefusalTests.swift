import Foundation
import TestSupport
import Testing

@Suite(
  "A disk that is full already",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"),
  .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
struct FullDiskRefusalTests {
  @Test(
    "a run that has no room for its record, or none at all, is refused with figures, and not called begun",
    arguments: [48 << 10, 0])
  func fullFromTheBeginning(room: Int) throws {
    let place = try Workspace()
    let note = place.file("note.wav")
    let disk = try SmallDisk(byteCount: 64 << 20)
    let store = disk.path + "/store"
    let pipeline = try place.quickPipeline(formats: "wav")
    try Reference.record(note, seconds: 10, rate: 22050, channels: 1)
    try #require(try place.run(pipeline, [note], ["--store", store]).exitCode == 0)
    let other = place.file("other.wav")
    try Reference.record(other, seconds: 60, rate: 22050, channels: 1)
    // Enough to open the database, and not for a record; or not even for that.
    try disk.squeeze(toRoomFor: room)
    let run = try place.run(pipeline, [other], ["--store", store])
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains(fullDiskWords(of: store)), "\(complaint)")
    #expect(
      complaint.why.contains(/store needs about [\d.]+ MB, and [\d.]+ k?B (?:is|are) free/),
      "\(complaint)")
    #expect(
      complaint.next.hasSuffix("frees what no run needs any more"), "\(complaint)")
    #expect(!run.errorOutput.contains("goes on"), "\(run.errorOutput)")
    try disk.resize(toByteCount: 64 << 20)
    #expect(try place.run(pipeline, [other], ["--store", store]).exitCode == 0)
  }
}
