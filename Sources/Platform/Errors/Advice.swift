/// A command that an error or a report may recommend. A test holds each against the command line's
/// declarations.
package enum CommandName: String, CaseIterable, Sendable {
  case batch, run, runs, search, stages, verify, watch
  case check = "store check"
  case deliverNew = "deliver new"
  case deliverQueue = "deliver queue"
  case deliverRelease = "deliver release"
  case deliverRetry = "deliver retry"
  case deliverRun = "deliver run"
  case deliverSend = "deliver send"
  case deliverFetch = "deliver fetch"
  case deliverMissing = "deliver missing"
  case checkPipeline = "pipeline check"
  case forgetRuns = "runs forget"
  case gc = "store gc"
  case repair = "store repair"
  case restore = "store restore"
  case show = "runs show"
  case stamp = "proof stamp"
  case inboxForget = "inbox forget"
  case inboxList = "inbox list"
  case inboxRelease = "inbox release"
  case inboxRetry = "inbox retry"
  case inboxExport = "inbox export"
  case inboxShow = "inbox show"
  case keyImport = "proof key import"
  case keyPassphrase = "proof key passphrase"
  case keyRotate = "proof key rotate"
  case keyShow = "proof key show"
  case ledgerWithdraw = "proof ledger withdraw"
  case pluginCheck = "plugin check"
  case pluginNew = "plugin new"
  case pluginTest = "plugin test"
  case wordsEdit = "words edit"
  case wordsForget = "words forget"
}

/// An option that an error or a report may recommend. A test holds each against the command line's
/// declarations.
package enum OptionName: String, CaseIterable, Sendable {
  case adopt, device, dir, exclude, export, failed, force, from, help, include, keys, lang, list
  case name, near, once, out, plugins, replace, set, state, store, to, unrecorded
  case ignoreMounts = "ignore-mounts"
  case ignoreRoom = "ignore-room"
  case noSandbox = "no-sandbox"
  case otherStore = "other-store"
  case passphraseFile = "passphrase-file"
}

extension DefaultStringInterpolation {
  /// The command as a user types it: `"\(command: .inboxShow) \(key)"`.
  package mutating func appendInterpolation(command: CommandName) {
    appendLiteral("spool ")
    appendLiteral(command.rawValue)
  }

  /// The option as a user types it: `"choose another folder with \(option: .out)"`.
  package mutating func appendInterpolation(option: OptionName) {
    appendInterpolation(option: option.rawValue)
  }

  /// An option of another program: `"espeak-ng \(option: "voices")"`.
  package mutating func appendInterpolation(option: String) {
    appendLiteral("--")
    appendLiteral(option)
  }
}
