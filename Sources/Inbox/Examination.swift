/// What a container says of a recording that rests: whether its bytes are all there.
public enum ContainerVerdict: Hashable, Sendable {
  /// It holds all that it declares.
  case whole
  /// It ends before its declared length, or has no container yet; the text says in which way.
  case incomplete(String)
  /// All of it is there, and it will never read; the text says why. Of sidecars alone.
  case unreadable(String)
  /// Nothing is known to be missing, but it does not say either that this is all; the text says in
  /// which way.
  case unended(String)
  /// It is empty: nothing that can be waited for has begun to come.
  case empty
  /// It is no recording, neither by its name nor by its first bytes.
  case foreign
  /// It could not be examined now, for a reason that lies elsewhere; it will be tried again.
  case undecided(String)
}

/// What opening a resting file has shown.
enum Examination: Hashable {
  /// Somebody has it open for writing.
  case beingWritten
  /// Nobody was seen writing; `canSeeWriters` says whether that can be seen at all.
  case examined(ContainerVerdict, canSeeWriters: Bool, nameCount: Int)

  /// Why a sidecar does not read; nil where it does.
  var sidecarProblem: String? {
    switch self {
    case .examined(.incomplete(let what), _, _), .examined(.unreadable(let what), _, _): what
    case .examined, .beingWritten: nil
    }
  }
}
