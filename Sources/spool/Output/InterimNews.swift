import PipelineEngine
import PipelineModel

/// What a person is told between the steps: that a run waits for another process, and where it goes
/// on. A pure value.
struct InterimNews {
  private var mediaSeconds: Double?
  private var reusedCount = 0
  private var lastWait: String?

  /// Takes note of an event, and gives the line that it is worth, if any. Waiting on and on for the
  /// same process is told once.
  mutating func take(_ event: RunEvent) -> String? {
    switch event {
    case .started(let run):
      mediaSeconds = run.mediaSeconds
      return run.resumes.map { "goes on with run \($0)" }
    case .reused: reusedCount += 1
    case .passStarted(_, _, let seconds):
      mediaSeconds = seconds ?? mediaSeconds
      lastWait = nil
    case .waiting(let number, let isStopped):
      let line = Self.wait(number, isStopped)
      guard line != lastWait else { return nil }
      lastWait = line
      return line
    case .resumed(let steps, let at, let total, let lost):
      lastWait = nil
      return resumption(of: steps, at: at, of: total ?? mediaSeconds, lost: lost)
    case .beganAnew(let steps, let setback, let lost):
      lastWait = nil
      let names = steps.map(\.name).joined(separator: ", ")
      return "Beginning anew with \(names): "
        + (reusedCount > 0 ? "\(Count.of(reusedCount, "stage")) reused, " : "")
        + Self.cause(setback) + (lost.map { ", \(Self.loss($0))" } ?? "")
    case .dropped(let step, let part, let at):
      let wayOn = at > 0 ? "goes on with it at \(Format.position(at))" : "begins anew with it"
      return "The \(part) of \(step) was damaged: \(step) \(wayOn)"
    default: break
    }
    return nil
  }

  private static func wait(_ number: Int, _ isStopped: Bool) -> String {
    let who = number > 0 ? "process \(number)" : "another process"
    guard isStopped else { return "Waiting for \(who), which does the same work" }
    let way = number > 0 ? "; kill -CONT \(number) lets it go on" : ""
    return "Waiting for \(who), which does the same work and is stopped\(way)"
  }

  /// Why work begins anew.
  private static func cause(_ setback: Setback) -> String {
    let run = setback.run.map { "run \($0)" }
    switch setback.cause {
    case .notesLost: return "no notes of what \(run ?? "an earlier run") had begun are left"
    case .damaged: return "\(setback.part ?? "what was there of it") was damaged"
    case .recordingChanged:
      return "\(Format.visible(setback.part ?? "the recording")) has changed since "
        + "\(run ?? "an earlier run"), and nothing of that is used"
    case .takenOver:
      let process = setback.processNumber.map { "process \($0)" } ?? "another process"
      return "taken over from \(process)\(run.map { " of \($0)" } ?? ""), which is stopped"
    }
  }

  private static func loss(_ seconds: Double) -> String {
    seconds < 0.05
      ? "no work lost" : "about \(Format.decimal(seconds, places: 1)) s of work lost"
  }

  /// `Going on with eq, export at 7:12 of 10:00: 3 stages reused, about 1.3 s of work lost`.
  private func resumption(
    of steps: [StepID], at: Double, of total: Double?, lost: Double
  ) -> String {
    var facts: [String] = []
    if reusedCount > 0 { facts.append("\(Count.of(reusedCount, "stage")) reused") }
    facts.append(Self.loss(lost))
    let names = steps.map(\.name).joined(separator: ", ")
    let place = Format.position(at) + (total.map { " of \(Format.position($0))" } ?? "")
    return "Going on with \(names) at \(place): \(facts.joined(separator: ", "))"
  }
}
