/// This edition of Spool, as it signs what it makes.
public enum Release {
  /// The program's name.
  public static let name = "Spool"
  /// Its version: major, minor and patch.
  public static let version = "0.1.0"
}
