/// How a decoder searches.
///
/// Frames of silence are always kept: without them every later time would be early.
struct SphinxSettings {
  /// How much less likely than the best a path may be before it is given up; nil for what the
  /// library finds right for recognition.
  var beam: Double?
  /// Whether the sounds that no path asks for are scored as well: only then are the scores of
  /// different sounds comparable, at three times the cost.
  var scoresEverySound = false
  /// Whether only every other frame is scored: it loses few words and saves a third.
  var isHasty = false
  /// Whether all that may have been said is kept, and the likeliest way through it searched: only
  /// then are there posteriors.
  var searchesLattice = false
  /// How much more than the sound the order of words counts.
  var languageWeight: Double?

  /// The settings as the library takes them.
  var arguments: [String] {
    var list = ["-remove_silence", "no", "-fwdflat", "no"]
    list += ["-bestpath", searchesLattice ? "yes" : "no"]
    if let beam {
      for name in ["-beam", "-pbeam", "-wbeam"] { list += [name, "\(beam)"] }
    }
    list += ["-compallsen", scoresEverySound ? "yes" : "no"]
    if isHasty { list += ["-ds", "2"] }
    if let languageWeight { list += ["-lw", "\(languageWeight)"] }
    return list
  }
}
