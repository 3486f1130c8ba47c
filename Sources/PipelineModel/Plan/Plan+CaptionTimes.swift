extension Plan {
  /// Stages that move all sound in time, which words follow by `retime` alone.
  private static let movers: Set<String> = ["trim", "cut", "silence", "speed"]

  /// Steps that write words with the times of sound before a cut, or behind some of several changes, where
  /// no export is of that sound, each with what helps.
  package var captionsOfOtherSound: [(step: StepID, warning: String)] {
    let exports = steps.filter { $0.descriptor.kind == "export" }
    return steps.filter { $0.descriptor.kind == "transcript" }.compactMap { step in
      guard let (heard, retimes) = heard(of: step) else { return nil }
      let before = stepsAbove(heard)
      let followed = retimes.flatMap(changes)
      let missing = exports.map { export in
        let above = stepsAbove(export)
        return isOfSameSound(before, above)
          ? self.movers(in: above.subtracting(before), behind: before) : []
      }
      let isMoved = missing.contains { $0.allSatisfy { followed.contains($0.step) } }
      guard let moves = missing.last, !isMoved else { return nil }
      let list = moves.map(\.step.name).joined(separator: ", ")
      if let joint = joint(ofStretches: moves.map(\.step)) {
        return (
          step.id,
          "writes words with the times before \(list), which are stretches that \(joint) joins: take "
            + "the words from these, by \(heard.id): { from: \(joint) }"
        )
      }
      let nearest = steps.prefix { $0.id != step.id }.last { gives(words: $0) }
      let source = nearest?.id == heard.id ? "" : ", from: \(heard.id)"
      if let retime = retimes.first {
        return (
          retime.id,
          "follows \(followed.map(\.name).joined(separator: ", ")) alone, and the sound is exported "
            + "behind \(list): \(Self.retimes(moves, source))"
        )
      }
      return (
        step.id,
        "writes words with the times before \(list), and the sound is exported behind: put "
          + "\(Self.retimes(moves, source)) above \(step.id)"
      )
    }
  }

  /// The lines by which words follow changes: each takes one that joins several sounds, at most.
  private static func retimes(_ moves: [(step: StepID, part: Int?)], _ source: String) -> String {
    var groups: [[(step: StepID, part: Int?)]] = [[]]
    for move in moves {
      if move.part != nil, groups.last?.contains(where: { $0.part != nil }) == true {
        groups.append([])
      }
      groups[groups.count - 1].append(move)
    }
    return groups.enumerated().map { index, group in
      let names = group.map(\.step.name).joined(separator: ", ")
      let part = group.compactMap(\.part).first.map { ", part: \($0)" } ?? ""
      return "retime: { changes: [\(names)]\(part)\(index == 0 ? source : "") }"
    }.joined(separator: ", and below it ")
  }

  /// The steps that move the sound of others; of one that joins or mixes several, with the part that theirs
  /// is. The first part of a `concat` stays where it is, and so does a track of a `mixdown` without an offset.
  private func movers(
    in ids: Set<StepID>, behind before: Set<StepID>
  ) -> [(step: StepID, part: Int?)] {
    var sound = before
    return steps.filter { ids.contains($0.id) }.compactMap { step in
      let part = part(of: sound, in: step)
      if part != nil { sound.insert(step.id) }
      if Self.movers.contains(step.descriptor.kind), part != nil { return (step.id, nil) }
      guard let part else { return nil }
      switch step.descriptor.kind {
      case "concat" where part > 1: return (step.id, part)
      case "mixdown" where step.hasOffset(track: part):
        let count = step.descriptor.inputs.first.map { step.sources(of: $0).count } ?? 1
        return (step.id, count > 1 ? part : nil)
      default: return nil
      }
    }
  }

  /// The number of the first source of a step's first input that has its sound from other steps, or
  /// from their recordings; nil if none has.
  private func part(of sound: Set<StepID>, in step: BoundStep) -> Int? {
    guard let port = step.descriptor.inputs.first else { return nil }
    let files = recordings(of: sound)
    return step.sources(of: port).firstIndex { source in
      switch source {
      case .step(let above, _): sound.contains(above)
      case .input(let name): files.contains(name)
      }
    }.map { $0 + 1 }
  }

  private func isOfSameSound(_ steps: Set<StepID>, _ others: Set<StepID>) -> Bool {
    !steps.isDisjoint(with: others)
      || !recordings(of: steps).isDisjoint(with: recordings(of: others))
  }

  /// The recordings that steps open.
  private func recordings(of ids: Set<StepID>) -> Set<String> {
    Set(
      ids.compactMap { step($0) }.flatMap(\.sources.values).compactMap { source in
        guard case .input(let name) = source, inputKinds[name] == .sound else { return nil }
        return name
      })
  }

  /// Whether a step gives words of its own.
  private func gives(words step: BoundStep) -> Bool {
    step.descriptor.kind != "retime"
      && step.descriptor.outputs.contains { $0.kind == .transcript }
  }

  /// The steps whose changes a `retime` follows.
  private func changes(of retime: BoundStep) -> [StepID] {
    retime.descriptor.inputs.filter { $0.name.name == "changes" }
      .flatMap { retime.sources(of: $0) }.compactMap {
        if case .step(let id, _) = $0 { id } else { nil }
      }
  }

  /// The step that heard the words of a step, and those that have moved them since; nil if none heard
  /// them.
  private func heard(of step: BoundStep) -> (step: BoundStep, retimes: [BoundStep])? {
    var next = step
    var retimes: [BoundStep] = []
    for _ in steps {
      if next.descriptor.kind == "retime" { retimes.append(next) }
      if next.sources[.sound] != nil { return (next, retimes) }
      guard case .step(let words, _)? = next.sources[PortName("transcript")],
        let maker = self.step(words)
      else { return nil }
      next = maker
    }
    return nil
  }

  /// The first step that all of these lead to; nil if each leads to the next one, or if none is.
  private func joint(ofStretches ids: [StepID]) -> StepID? {
    let isChain = zip(ids, ids.dropFirst()).allSatisfy { before, next in
      step(next).map { stepsAbove($0).contains(before) } ?? false
    }
    return isChain ? nil : steps.first { stepsAbove($0).isSuperset(of: ids) }?.id
  }

  /// All steps that a step has its input from, directly or through others.
  private func stepsAbove(_ step: BoundStep) -> Set<StepID> {
    var above: Set<StepID> = []
    var waiting = [step]
    while let next = waiting.popLast() {
      for case .step(let source, _) in next.sources.values where above.insert(source).inserted {
        if let maker = self.step(source) { waiting.append(maker) }
      }
    }
    return above
  }
}

extension BoundStep {
  /// Whether a track of a mixdown begins elsewhere than the mix, as its pipeline says: a session file or a
  /// time stamp may say so too.
  fileprivate func hasOffset(track: Int) -> Bool {
    guard case .group(let members) = parameters, case .list(let tracks)? = members["tracks"],
      tracks.indices.contains(track - 1), case .group(let settings) = tracks[track - 1],
      case .text(let offset)? = settings["offset"]
    else { return false }
    return offset.contains { ("1"..."9").contains($0) }
  }
}
