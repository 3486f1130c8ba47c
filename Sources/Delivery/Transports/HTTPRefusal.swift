import Platform

/// What the status of a response means for a delivery.
extension SpoolError {
  /// For a response that is no success.
  /// - Parameters:
  ///   - action: `send`
  ///   - subject: what the request was for, without credentials.
  ///   - detail: the server's own words, if it has some.
  init(
    refusal response: HTTPResponse, _ action: String, _ subject: String, detail: String? = nil
  ) {
    let words = detail.map { ": \(PlainText.line($0))" } ?? ""
    let reason = "the server answers with the status \(response.status)\(words)"
    func error(_ cause: Cause, _ kind: Kind? = nil, _ advice: String? = nil) -> SpoolError {
      SpoolError(action, subject, reason: reason, advice: advice, cause: cause, kind: kind)
    }
    switch response.status {
    case 300..<400:
      // The rest of the address may be a secret.
      let target = response["location"].flatMap {
        try? WebAddress(String($0.prefix { !"?#".contains($0) }), schemes: ["https", "http"]).origin
      }
      self.init(
        action, subject,
        reason:
          "the server redirects to \(target ?? "another address"), and got no credentials there",
        advice: "give the destination the address that the server redirects to", cause: .blocked)
    case 401, 407:
      self = error(
        .blocked, .denied, "check the user, the password or the keys of the destination")
    case 403: self = error(.environment, nil, "check what the user may do at the destination")
    case 413:
      self = error(
        .input, .tooLarge,
        "the server takes no files of this size: raise its limit for uploads (nginx calls it "
          + "client_max_body_size), then \(command: .deliverRetry)")
    case 507:
      self.init(
        "the destination of \(subject) is full", reason: reason,
        advice: "free some space there, then retry", cause: .fullDisk, kind: .noRoom)
    case 400, 411, 414, 415, 422:
      self = error(.input, .invalid, "choose another name, or look at the server's log")
    case 405, 501:
      self = error(.blocked, nil, "the server cannot do this here: check the address")
    case 404, 410: self = error(.environment, .missing, "check the address")
    default: self = error(.transient)
    }
  }
}

/// Words of a server, made safe to show.
enum PlainText {
  /// One line of at most 200 characters without control characters.
  static func line(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(200).map { scalar in
      scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
        ? " " : Character(scalar)
    }
    return String(scalars).trimmingSpaces
  }
}
