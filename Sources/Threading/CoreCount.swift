import Glibc

/// The machine's cores.
public enum CoreCount {
  /// How many are switched on: how many threads that compute are worth having.
  public static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
