internal import PipelineModel
internal import Platform

extension RunRecord {
  /// Whether it has done what an earlier run was to do: the same pipeline on the same recordings, into
  /// the same folder. Of what was stopped, the exports must have the same names too, which its own would
  /// else not replace; a recording beside the first one may be another.
  func resolves(_ earlier: RunRecord) -> Bool {
    guard state == .done, pipeline == earlier.pipeline,
      request?.folder == earlier.request?.folder
    else { return false }
    let different = Set(inputs.keys).union(earlier.inputs.keys).filter {
      !takesTheSame(as: earlier, at: $0)
    }
    if earlier.state == .failed {
      // Another text, or none, is what mends a recording whose text was wrong.
      let sounds = earlier.soundInputs.map { Set($0) } ?? Set(earlier.inputs.keys)
      return different.isDisjoint(with: sounds)
    }
    guard earlier.isUnfinished, earlier.request != nil, request?.names == earlier.request?.names,
      request?.fileName == earlier.request?.fileName
    else { return false }
    if different.isDisjoint(with: earlier.inputs.keys) {
      return earlier.inputs.allSatisfy { name, path in
        inputs[name].map(ExportName.stem) == ExportName.stem(of: path)
      }
    }
    return hasReplaced(earlier, takingOther: different)
  }

  /// Whether an input is the same file, or has the same bytes.
  private func takesTheSame(as earlier: RunRecord, at name: String) -> Bool {
    guard let path = inputs[name] else { return earlier.inputs[name] == nil }
    return path == earlier.inputs[name]
      || recordings?[name] != nil && recordings?[name] == earlier.recordings?[name]
  }

  /// Whether its exports are where those of an earlier run of the same first recording would be: another
  /// one was put beside it, and the files are not called after that.
  private func hasReplaced(_ earlier: RunRecord, takingOther names: Set<String>) -> Bool {
    let first = earlier.orderedInputs.first { earlier.soundInputs?.contains($0.name) ?? true }
    guard let first, !names.contains(first.name), !published.isEmpty,
      ExportName.stem(of: first.path) == inputs[first.name].map(ExportName.stem),
      request?.pipelineText == earlier.request?.pipelineText, overrides == earlier.overrides
    else { return false }
    let stems = names.compactMap { inputs[$0].map(ExportName.stem) }
    return published.allSatisfy { file in
      let name = file.path.pathNames.last ?? ""
      return !stems.contains { name.hasPrefix($0) }
    }
  }
}
