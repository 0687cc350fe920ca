public import VellumCore

extension VellumError.Code {
    /// The type is private or local, so its full name changes on every launch. Give it an `archiveName`.
    public static let unnamedArchive = VellumError.Code("unnamedArchive")
}
