import Foundation
import TestSupport
import Testing

/// Kills real watches while recordings arrive.
///
/// 30 recordings everywhere, which takes seconds; 300 with `SPOOL_LONG_TESTS=1`.
@Suite("A watch can be killed at any moment")
struct WatchKillTests {
  @Test("nothing is lost, nothing comes out twice, and every acknowledgement is right")
  func kills() throws {
    let count = LongTests.areWanted ? 300 : 30
    let inbox = try WatchedPlace()
    for number in 1...count { try inbox.make(number) }
    var random = SeededRandom(seed: 20_261_121)
    let writer = try inbox.begin(
      "for i in $(seq 1 \(count)); do cp made/$i.wav x$i.wav; mv x$i.wav inbox/n$i.wav; "
        + "[ $((i % 5)) = 0 ] && cp made/$i.wav inbox/again$i.wav; sleep 0.1; done")
    var kills = 0
    while writer.isRunning || kills < 5 {
      let watch = try inbox.watch(isAwaited: false)
      usleep(UInt32(150_000 + random.next() % 1_500_000))
      #expect(watch.isRunning, "it ended by itself: \(watch.errors) \(watch.output)")
      watch.kill9()
      kills += 1
    }
    let last = try inbox.watch()
    let isDone = try inbox.wait {
      try inbox.notes().count { $0.state == "uploaded" } == count
        && WatchedPlace.files(in: inbox.inbox).allSatisfy { $0.hasPrefix("accepted/") }
    }
    #expect(isDone, "\(last.output)")
    let notes = try inbox.notes()
    #expect(notes.count == count)
    #expect(notes.allSatisfy { $0.state == "uploaded" })
    // One export for each recording, under one of its names.
    let exports = WatchedPlace.files(in: inbox.place.out)
    #expect(exports.count == count, "\(exports)")
    #expect(exports.allSatisfy { !$0.contains(".spool-") })
    let numbers = Set(exports.compactMap { $0.split { !$0.isNumber }.first.flatMap { Int($0) } })
    #expect(numbers == Set(1...count))
    // Every file that was brought is kept, to the byte.
    let accepted = WatchedPlace.files(in: inbox.inbox)
    #expect(accepted.count == count + count / 5, "\(accepted)")
    for name in accepted {
      let number = name.split { !$0.isNumber }.first ?? ""
      #expect(
        FileManager.default.contentsEqual(
          atPath: inbox.inbox + "/" + name, andPath: inbox.place.file("made/\(number).wav")))
    }
    #expect(inbox.wait { (try? inbox.acknowledgements().count) == count })
    let words = try inbox.acknowledgements()
    #expect(Set(words.keys) == Set(notes.map { $0.noteId ?? $0.key }))
    #expect(words.values.allSatisfy { $0.status == "uploaded" && $0.type == "ack" })
    let check = try inbox.place.spool(["store", "check"])
    #expect(check.exitCode == 0, "\(check.text) \(check.errorOutput)")
  }
}
