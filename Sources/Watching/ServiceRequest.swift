/// What whoever runs a service may ask of it.
public enum ServiceRequest: Hashable, Sendable {
  /// Come to the end at a clean point.
  case end
  /// Take over the settings as they are now.
  case reload
}
