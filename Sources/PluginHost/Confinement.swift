import CConfinement
import Glibc

/// What was taken away from this process and all that it starts, and what could not be.
struct Confinement {
  /// What the program is not kept from, in words that follow "cannot keep it from".
  private(set) var missing: [String] = []

  /// Takes everything away.
  /// - Parameters:
  ///   - program: what is to run.
  ///   - isEnclosed: whether this is the first process in namespaces of its own.
  ///   - isCounted: whether a control group counts its processes.
  init(of program: ConfinedProgram, isEnclosed: Bool, isCounted: Bool) {
    // The limit of processes does not bind root.
    if !isCounted, geteuid() == 0 { missing.append("starting processes without end") }
    let places = ConfinedPlaces(of: program)
    let version = confinement_landlock_version()
    let isClosed = isEnclosed && Self.close(places)
    let hasOwnMemory = isEnclosed && Self.ownMemory(places, megabytes: program.limits.memory)
    let hasOwnProcesses = isEnclosed && confinement_own_processes()
    // Before the rules, which close the folders that it is told by.
    let rules = version > 0 ? places.rules(version, hasNetwork: program.limits.network) : -1
    if confinement_drop_privileges() != 0 { missing.append("setuid programs") }
    let hasRules = rules >= 0 && confinement_enforce_rules(rules) == 0
    let hasFilter =
      confinement_filter_calls(
        program.limits.network, !isClosed && version < 3, !isEnclosed) == 0

    if !hasRules { missing.append(isClosed ? "reading other files" : "other files") }
    if hasRules, !isClosed { missing.append("changing permissions and times of other files") }
    if !hasFilter {
      missing.append("system calls that reach around its confinement")
      if !isEnclosed {
        if !program.limits.network { missing.append("the network") }
        missing.append("slowing down what else runs, leaving shared memory")
      }
    }
    // Who can end the launcher can leave processes behind.
    if !isEnclosed, !hasRules || version < 6 {
      missing.append("ending other processes of the user, and leaving some behind")
    }
    if !hasOwnProcesses { missing.append("seeing what else runs") }
    if !hasOwnMemory { missing.append("leaving files in /dev/shm") }
  }

  private static func close(_ places: ConfinedPlaces) -> Bool {
    unsafe withTexts(places.writable) { writable in unsafe confinement_close_mounts(writable) }
  }

  private static func ownMemory(_ places: ConfinedPlaces, megabytes: Int) -> Bool {
    // A folder before what lies in it, which it would hide.
    let kept = places.own.sorted { $0.utf8.count < $1.utf8.count }
    return unsafe withTexts(kept) { kept in
      unsafe confinement_own_shared_memory(UInt(megabytes), kept)
    }
  }

  /// Texts as C takes them: with a null at the end.
  private static func withTexts(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Bool
  ) -> Bool {
    let copies = unsafe texts.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    let pointers = unsafe copies.map { unsafe UnsafePointer($0) } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { buffer in
      unsafe buffer.baseAddress.map { unsafe body($0) } ?? false
    }
  }
}
