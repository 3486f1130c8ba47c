import Foundation
import TestSupport
import Testing

/// A store that may only be read is looked at in a copy of its database.
@Suite(
  "Where nothing may be written for a look, that is said, and nothing of damage",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"),
  .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
struct ScratchSpaceTests {
  private let place: Workspace
  private let store: ReadOnlyFolder

  init() throws {
    place = try Workspace()
    try Reference.record(place.file("note.wav"), seconds: 1)
    try #require(try place.run(try place.quickPipeline(), [place.file("note.wav")]).exitCode == 0)
    store = try ReadOnlyFolder(place.store)
  }

  @Test("memory will do", arguments: ["/nowhere", "/proc"])
  func otherFolder(folder: String) throws {
    for words in [["store", "check"], ["runs"], ["status"], ["store", "gc", "--dry-run"]] {
      let result = try place.spool(
        words + ["--store", store.path], environment: ["TMPDIR": folder])
      #expect(result.exitCode == 0, "\(words): \(result.text)\(result.errorOutput)")
    }
  }

  @Test("without any room, no command calls the store damaged")
  func noFolder() throws {
    let unshare = try #require(Program(named: "unshare"))
    for words in [
      ["store", "check"], ["store", "repair", "--dry-run"], ["runs"], ["status"],
      ["store", "gc", "--dry-run"],
    ] {
      let result = try place.spool(
        words + ["--store", store.path], under: unshare,
        [
          "-m", "sh", "-c",
          "mount -t tmpfs -o ro tmpfs /dev/shm && export TMPDIR=/nowhere && exec \"$@\"", "sh",
        ])
      #expect(result.exitCode == 1, "\(words): \(result.text)")
      #expect(!(result.text + result.errorOutput).contains("damaged"), "\(words): \(result.text)")
      let complaint = try #require(Complaint(result.errorOutput), "\(words)")
      #expect(complaint.what == "cannot look at \(store.path)/spool.sqlite")
      #expect(complaint.why.contains("no room for scratch files (/nowhere: No such file"))
      #expect(complaint.why.contains("/dev/shm: Read-only file system"), "\(complaint.why)")
      #expect(complaint.next.contains("TMPDIR"))
    }
  }
}
