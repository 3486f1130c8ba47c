import PipelineModel
import Platform
import Store

/// Runs as `--json` shows them. The store's records have a form of their own.
extension RunRecord {
  /// The run without its pipeline's text, of which it has the digest.
  var line: JSONLine { line(of: nil) }

  /// - Parameters:
  ///   - hasText: whether its pipeline's text is shown too.
  ///   - recording: the one that an inbox took in and the run processed; nil for others.
  func line(withText hasText: Bool = false, of recording: Recording?) -> JSONLine {
    JSONLine([
      "id": id, "pipeline": pipeline, "pipelinePath": pipelinePath,
      "pipelineDigest": request.map { SHA256.digest(of: $0.pipelineText) }, "inputs": inputs,
      "note": recording?.key.name, "noteFile": recording?.fileName, "inputNames": inputNames,
      "overrides": overrides,
      "startedAt": DateTime(secondsSince1970: startedAt),
      "finishedAt": finishedAt.map(DateTime.init(secondsSince1970:)), "state": state,
      "steps": steps.map(\.line), "published": published, "mediaSeconds": mediaSeconds,
      "failure": failure, "failureCause": failureCause, "failureAdvice": failureAdvice,
      "request": request.map { $0.line(withText: hasText) },
      "recordings": recordings, "resumes": resumes, "batch": batch,
      "activeSeconds": activeSeconds, "plugins": plugins, "workplace": workplace,
      "findings": findings.isEmpty ? nil : findings,
    ])
  }
}

extension RunRequest {
  fileprivate func line(withText hasText: Bool) -> JSONLine {
    JSONLine([
      "pipelineText": hasText ? pipelineText : nil, "folder": folder, "isReplacing": isReplacing,
      "keepsEverything": keepsEverything, "names": names, "album": album,
      "pluginFolder": pluginFolder, "chapters": chapters, "titles": titles,
    ])
  }
}

extension StepRecord {
  /// The step as `--json` shows it.
  var line: JSONLine {
    JSONLine([
      "id": id, "kind": kind, "outcome": outcome, "key": key, "outputs": outputs,
      "inputs": inputs, "findings": foundValue, "resumedAtSeconds": resumedAtSeconds,
      "setback": loss?.line,
      "warnings": warnings, "failure": failure,
      "begunAt": begunAt.map(DateTime.init(secondsSince1970:)),
      "finishedAt": finishedAt.map(DateTime.init(secondsSince1970:)), "workSeconds": workSeconds,
    ])
  }
}

extension ResumeLoss {
  fileprivate var line: JSONLine {
    JSONLine([
      "cause": cause, "at": DateTime(secondsSince1970: at), "run": run,
      "processNumber": processNumber, "part": part, "furtherParts": furtherParts,
    ])
  }
}
