/// The SQL of what expires: who keeps the entries of an archive for how long, and which of them nobody keeps.
extension SQL {
    /// `family` is what archives that replace one another have in common; `seen` is when one was last opened. A claim says that
    /// someone takes the entries of an archive for so long, and wants them for a grace beyond that.
    static let createClaims = """
        ALTER TABLE archives ADD COLUMN family TEXT;
        ALTER TABLE archives ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE claims(
            archive INTEGER NOT NULL,
            age INTEGER NOT NULL,
            idle INTEGER NOT NULL,
            grace INTEGER NOT NULL,
            seen INTEGER NOT NULL,
            PRIMARY KEY(archive, age, idle)
        ) WITHOUT ROWID;
        """
}
