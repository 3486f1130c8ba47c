@testable import Intake
import Platform
import Testing

/// Driven with times of the test's own.
@Suite("Settling")
struct SettlingTests {
  private let path: InboxPath
  private var tracker = StabilityTracker(rules: StabilityRules())

  init() throws { path = try #require(InboxPath("note.m4a")) }

  private static func stamp(_ byteCount: Int64, inode: UInt64 = 1) -> FileStamp {
    FileStamp(byteCount: byteCount, modified: 7, changed: byteCount, inode: inode)
  }

  private static let whole = Examination.examined(.whole, canSeeWriters: true, nameCount: 1)

  /// Looks every quarter of a second, as a watch would, until `end`, and answers every
  /// examination.
  private mutating func run(
    from start: Duration, to end: Duration, of path: InboxPath? = nil,
    stamp: (Duration) -> FileStamp = { _ in stamp(10) },
    examination: (Duration) -> Examination = { _ in whole }
  ) -> [(Duration, InboxEvent)] {
    let path = path ?? self.path
    var told: [(Duration, InboxEvent)] = []
    var now = start
    while now <= end {
      if tracker.contains(path) || now == start {
        tracker.record(stamp(now), at: path, now: now)
      }
      for event in tracker.events(at: now) {
        if case .atRest(let examined) = event {
          guard let stamp = tracker.stamp(of: examined) else { continue }
          tracker.record(examination(now), of: stamp, at: examined, now: now)
          if let arrival = tracker.event(of: examined, at: now)?.arrival {
            told.append((now, arrival))
          }
        } else if let arrival = event.arrival {
          told.append((now, arrival))
        }
      }
      now += .milliseconds(250)
    }
    return told
  }

  @Test("a file that rests and is whole settles after the rest period, and not before")
  mutating func rest() {
    let told = run(from: .zero, to: .seconds(10))
    #expect(told.map(\.0) == [.seconds(2)])
    #expect(
      told.map(\.1) == [
        .settled(
          StableRecording(path: path, stamp: Self.stamp(10), sidecar: nil, nameCount: 1))
      ])
    #expect(tracker.count == 0)
  }

  @Test("an old modification time settles nothing: only equal looks do")
  mutating func equalLooks() {
    tracker.record(Self.stamp(10), at: path, now: .zero)
    #expect(tracker.events(at: .seconds(60)) == [.waiting(path, "it is still changing")])
    tracker.record(Self.stamp(10), at: path, now: .seconds(60))
    #expect(tracker.events(at: .seconds(60)) == [])
    tracker.record(Self.stamp(10), at: path, now: .seconds(61))
    #expect(tracker.events(at: .seconds(61)) == [.atRest(path)])
  }

  @Test("a file that was seen growing rests longer")
  mutating func growth() {
    let told = run(from: .zero, to: .seconds(20)) { Self.stamp($0 < .seconds(1) ? 10 : 20) }
    #expect(told.map(\.0) == [.seconds(6)])
  }

  @Test("so does one whose writers the system does not show")
  mutating func hiddenWriters() {
    let told = run(
      from: .zero, to: .seconds(20),
      examination: { _ in .examined(.whole, canSeeWriters: false, nameCount: 1) })
    #expect(told.map(\.0) == [.seconds(5)])
  }

  @Test("one that its writer has closed does not: it rests from its last change on")
  mutating func closed() {
    tracker.record(Self.stamp(0), at: path, now: .zero)
    tracker.record(Self.stamp(20), at: path, now: .milliseconds(100))
    tracker.recordWriter(isAtWork: true, at: path)
    tracker.recordWriter(isAtWork: false, at: path)
    let told = run(from: .milliseconds(350), to: .seconds(20)) { _ in Self.stamp(20) }
    #expect(told.map(\.0) == [.milliseconds(2100)])
  }

  @Test("one that was closed and written to again may be opened for each piece: it rests longer")
  mutating func reopened() {
    tracker.record(Self.stamp(10), at: path, now: .zero)
    for isAtWork in [true, false, true, false] {
      tracker.recordWriter(isAtWork: isAtWork, at: path)
    }
    let told = run(from: .milliseconds(250), to: .seconds(20))
    #expect(told.map(\.0) == [.seconds(5)])
  }

  @Test("where leases do not tell, what was written to and not closed has a writer")
  mutating func stalledStranger() {
    let hidden = Examination.examined(.whole, canSeeWriters: false, nameCount: 1)
    tracker.record(Self.stamp(10), at: path, now: .zero)
    tracker.recordWriter(isAtWork: true, at: path)
    let stalled = run(
      from: .milliseconds(250), to: .seconds(300), examination: { _ in hidden })
    #expect(stalled.isEmpty, "\(stalled)")
    tracker.recordWriter(isAtWork: false, at: path)
    let closed = run(
      from: .seconds(301), to: .seconds(400), examination: { _ in hidden })
    #expect(closed.count == 1 && (closed.first?.0 ?? .zero) < .seconds(303))
    // Where leases do tell, they count for more: a file may be changed without being opened.
    tracker = StabilityTracker(rules: StabilityRules())
    tracker.record(Self.stamp(10), at: path, now: .zero)
    tracker.recordWriter(isAtWork: true, at: path)
    #expect(run(from: .milliseconds(250), to: .seconds(20)).count == 1)
  }

  @Test("once events were lost, nobody is held for a writer because of them")
  mutating func lostEvents() {
    tracker.record(Self.stamp(10), at: path, now: .zero)
    tracker.recordWriter(isAtWork: true, at: path)
    tracker.forgetWriters()
    let told = run(
      from: .milliseconds(250), to: .seconds(20),
      examination: { _ in .examined(.whole, canSeeWriters: false, nameCount: 1) })
    #expect(told.map(\.0) == [.seconds(5)])
  }

  @Test("another file under the name begins anew, without being taken for growth")
  mutating func replaced() {
    let told = run(from: .zero, to: .seconds(20)) {
      $0 < .seconds(1) ? Self.stamp(10) : Self.stamp(20, inode: 2)
    }
    #expect(told.map(\.0) == [.seconds(3)])
  }

  @Test("while somebody has it open for writing it does not settle, and is asked after again")
  mutating func beingWritten() {
    let told = run(
      from: .zero, to: .seconds(20),
      examination: { $0 < .seconds(10) ? .beingWritten : Self.whole })
    let settledAt = told.first?.0 ?? .zero
    #expect(told.count == 1 && settledAt >= .seconds(10) && settledAt <= .seconds(11))
  }

  @Test("what opening has shown of an earlier version counts for nothing")
  mutating func staleExamination() {
    tracker.record(Self.stamp(10), at: path, now: .zero)
    tracker.record(Self.stamp(10), at: path, now: .seconds(1))
    tracker.record(Self.stamp(10), at: path, now: .seconds(2))
    tracker.record(Self.whole, of: Self.stamp(9), at: path, now: .seconds(2))
    #expect(tracker.events(at: .seconds(2)) == [.atRest(path)])
  }

  private static let cut = Examination.examined(
    .incomplete("cut"), canSeeWriters: true, nameCount: 1)

  @Test("an incomplete file settles when it is completed within all patience")
  mutating func completed() {
    let told = run(
      from: .zero, to: .seconds(700), stamp: { Self.stamp($0 < .seconds(590) ? 10 : 20) },
      examination: { $0 < .seconds(590) ? Self.cut : Self.whole })
    #expect(told.map(\.0) == [.seconds(595)])
  }

  @Test("an incomplete file is given up once after all patience, and followed no longer")
  mutating func incomplete() {
    let told = run(from: .zero, to: .seconds(700), examination: { _ in Self.cut })
    #expect(told.map(\.0) == [.seconds(600)])
    guard case .hopeless(let recording, let reason)? = told.first?.1 else {
      Issue.record("\(told)")
      return
    }
    #expect(recording.path == path && recording.stamp == Self.stamp(10))
    #expect(reason.contains("has not changed for 600 s") && reason.hasSuffix("cut"))
    #expect(!tracker.contains(path))
  }

  @Test("one whose form never tells its end rests for a minute, and no longer than patience allows")
  mutating func openEnded() throws {
    let open = Examination.examined(.openEnded, canSeeWriters: true, nameCount: 1)
    let told = run(from: .zero, to: .seconds(90), examination: { _ in open })
    #expect(told.map(\.0) == [.seconds(60)])
    guard case .settled(let recording)? = told.first?.1 else {
      Issue.record("\(told)")
      return
    }
    #expect(recording.doubt == nil)
    var hasty = StabilityRules()
    hasty.patience = .seconds(20)
    tracker = StabilityTracker(rules: hasty)
    #expect(
      run(from: .zero, to: .seconds(90), examination: { _ in open }).map(\.0) == [.seconds(20)])
    // What is appended in time is the same recording.
    tracker = StabilityTracker(rules: StabilityRules())
    let grown = run(
      from: .zero, to: .seconds(150),
      stamp: { Self.stamp($0 < .seconds(40) ? 10 : 20) }, examination: { _ in open })
    #expect(grown.map(\.0) == [.seconds(100)])
    // With markers, the sender says that it is whole.
    var marked = StabilityRules()
    marked.doneMarker = ".done"
    tracker = StabilityTracker(rules: marked)
    let marker = try #require(InboxPath("note.m4a.done"))
    for now in [Duration.zero, .seconds(1), .seconds(2)] {
      tracker.record(Self.stamp(0), at: marker, now: now)
    }
    let decided = run(from: .zero, to: .seconds(9), examination: { _ in open })
    #expect(decided.map(\.0) == [.seconds(2)])
  }

  @Test("a file that does not say that it is at its end is waited for, then taken with a doubt")
  mutating func unended() {
    let told = run(
      from: .zero, to: .seconds(700),
      examination: { _ in
        .examined(.unended("no page is the last"), canSeeWriters: true, nameCount: 1)
      })
    #expect(told.map(\.0) == [.seconds(600)])
    guard case .settled(let recording)? = told.first?.1 else {
      Issue.record("\(told)")
      return
    }
    #expect(recording.doubt == "no page is the last, and it has not changed for 600 s")
  }

  @Test("a file that somebody has opened again when it is to be given up is waited for")
  mutating func opened() {
    let told = run(
      from: .zero, to: .seconds(900),
      examination: {
        (.seconds(590)..<(.seconds(800))).contains($0) ? .beingWritten : Self.cut
      })
    #expect(told.count == 1 && (told.first?.0 ?? .zero) >= .seconds(800))
  }

  @Test("an empty file is given up early only where its writers would be seen")
  mutating func empty() {
    let seen = run(
      from: .zero, to: .seconds(700),
      examination: { _ in .examined(.empty, canSeeWriters: true, nameCount: 1) })
    #expect(seen.map(\.0) == [.seconds(5)])
    tracker = StabilityTracker(rules: StabilityRules())
    let hidden = run(
      from: .zero, to: .seconds(700),
      examination: { _ in .examined(.empty, canSeeWriters: false, nameCount: 1) })
    #expect(hidden.map(\.0) == [.seconds(600)])
  }

  @Test("where markers are used, nothing is given up without one")
  mutating func unmarked() {
    var rules = StabilityRules()
    rules.doneMarker = ".done"
    tracker = StabilityTracker(rules: rules)
    let told = run(from: .zero, to: .seconds(700), examination: { _ in Self.cut })
    #expect(told.map(\.1) == [.unsettled(path, .markerMissing)])
  }

  @Test("what is no recording is ignored as soon as it rests")
  mutating func foreign() {
    let told = run(
      from: .zero, to: .seconds(20),
      examination: { _ in .examined(.foreign, canSeeWriters: true, nameCount: 1) })
    #expect(told.map(\.0) == [.seconds(2)] && told.map(\.1) == [.ignored(path)])
  }

  @Test("a file that grows for ever is reported once, at the limit, and never settles")
  mutating func endless() {
    let told = run(from: .zero, to: .seconds(6 * 3600 + 1000)) {
      Self.stamp($0.components.seconds)
    }
    #expect(told.map(\.0) == [.seconds(6 * 3600)])
    #expect(told.map(\.1) == [.unsettled(path, .stillWritten)])
  }

  @Test("what could not be decided is tried again")
  mutating func undecided() {
    let told = run(
      from: .zero, to: .seconds(30),
      examination: {
        $0 < .seconds(8)
          ? .examined(.undecided("too many open files"), canSeeWriters: true, nameCount: 1)
          : Self.whole
      })
    #expect(told.count == 1 && (told.first?.0 ?? .zero) < .seconds(12))
  }

  @Test("the next look is never later than the next decision")
  mutating func nextLook() {
    var rules = StabilityRules()
    rules.sidecar = .awaited(atMost: .seconds(40))
    tracker = StabilityTracker(rules: rules)
    tracker.record(Self.stamp(10), at: path, now: .zero)
    var now = Duration.zero
    var looks = 0
    var settledAt: Duration?
    while settledAt == nil, let next = tracker.nextLook, next < .seconds(100) {
      now = max(now, next)
      looks += 1
      for due in tracker.due(at: now) { tracker.record(Self.stamp(10), at: due, now: now) }
      for event in tracker.events(at: now) {
        if case .atRest = event {
          tracker.record(Self.whole, of: Self.stamp(10), at: path, now: now)
        } else if event.arrival != nil {
          settledAt = now
        }
      }
    }
    #expect(settledAt == .seconds(40))
    #expect(looks < 40, "\(looks) looks")
  }

  @Test("files settle in the order in which they came")
  mutating func order() throws {
    let names = ["c", "a", "b"]
    for (index, name) in names.enumerated() {
      let path = try #require(InboxPath(name))
      for time in [0, 1, 5] {
        tracker.record(
          Self.stamp(1), at: path, now: .seconds(time) + .milliseconds(time == 0 ? index : 0))
      }
    }
    #expect(
      tracker.events(at: .seconds(5)) == names.compactMap { InboxPath($0).map { .atRest($0) } })
  }
}

extension InboxEvent {
  /// The event if the inbox's worker acts on it, but for what a file waits for.
  fileprivate var arrival: InboxEvent? {
    switch self {
    case .atRest, .unmeasured, .waiting: nil
    default: self
    }
  }
}
