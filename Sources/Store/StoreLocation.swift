import Glibc

/// Where the user wants the store to be.
public enum StoreLocation {
  /// The store's folder: the `--store` option, else `SPOOL_STORE`, else `spool` in the user's data
  /// folder (`XDG_DATA_HOME`, else `~/.local/share`).
  public static func resolve(option: String?, environment: [String: String]) -> String {
    if let option, !option.isEmpty { return option }
    if let named = environment["SPOOL_STORE"], !named.isEmpty { return named }
    // The specification of XDG_DATA_HOME has relative paths ignored.
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/spool" }
    return home(environment) + "/.local/share/spool"
  }

  private static func home(_ environment: [String: String]) -> String {
    if let home = environment["HOME"], !home.isEmpty { return home }
    guard let user = unsafe getpwuid(getuid()), let home = unsafe user.pointee.pw_dir else {
      return "/"
    }
    return unsafe String(cString: home)
  }
}
