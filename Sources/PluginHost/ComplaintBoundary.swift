/// Where in a program's standard error what it says of one thing ends, and of another begins.
public enum ComplaintBoundary {
  /// The line that a host of many libraries writes before it opens the next one.
  public static let line = "spool: of another one from here on"
}
