/// Which cache of a file a handle is for: its name and its version. Each name is an archive, which holds one version.
@usableFromInline
struct CacheLocation: Hashable, Sendable {
    let name: String
    let version: String
}
