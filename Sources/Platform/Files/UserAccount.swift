package import Glibc

/// What the system's list of users says, and the environment of the process.
package enum UserAccount {
  /// The home of the user of this process: HOME, else the one in the list; nil if neither names one.
  package static func home(_ environment: [String: String]) -> String? {
    if let home = environment["HOME"], !home.isEmpty { return home }
    guard let user = unsafe getpwuid(getuid()), let home = unsafe user.pointee.pw_dir else {
      return nil
    }
    return unsafe String(cString: home)
  }

  /// The folder of the user's data: XDG_DATA_HOME, else `.local/share` in the home; nil if there is
  /// neither. The specification requires a relative path to be ignored.
  package static func dataFolder(_ environment: [String: String]) -> String? {
    if let named = environment["XDG_DATA_HOME"], named.hasPrefix("/") { return named }
    return home(environment).map { $0 + "/.local/share" }
  }

  /// The name of a user; nil if the list has none of this number.
  package static func name(of user: uid_t) -> String? {
    guard let user = unsafe getpwuid(user), let name = unsafe user.pointee.pw_name else {
      return nil
    }
    return unsafe String(cString: name)
  }
}
