internal import VellumCore

/// Replaces the schema of a copied file by this package's own, so that reading its rows runs no code of the file.
enum SchemaRepair {
    /// Gives every table with a name that this package uses its own definition, and removes everything else from the schema. Rows that do not
    /// fit do not match their checksums.
    ///
    /// - Parameters:
    ///   - copy: A file that is not open elsewhere. It must be opened again afterwards.
    ///   - check: Its schema.
    /// - Throws: ``SQLiteError``. Definitions whose rows are damaged may be left, without an error.
    static func run(_ copy: String, _ check: SchemaCheck) throws(SQLiteError) {
        let connection = try Connection(path: copy, isDefensive: false)
        try connection.execute(SQL.salvageSettings)
        try connection.execute(SQL.beginWriting)
        for item in check.items where !check.isOurs(item) {
            let sql = item.type == "table" && item.name == item.table ? check.definition(ofTable: item.name) : nil
            let change = try connection.prepare(sql == nil ? SQL.forgetSchemaItem : SQL.redefineTable)
            change.bind(item.type, at: 1)
            change.bind(item.name, at: 2)
            if let sql { change.bind(sql, at: 3) }
            do throws(SQLiteError) {
                try change.run()
            } catch {
                // Its row is damaged, too. The caller looks whether anything foreign is left.
                guard error.isDamage else { throw error }
                Log.error("A definition in a damaged schema could not be replaced.", error)
            }
        }
        try connection.execute(SQL.commit)
    }
}
