internal import VellumCore

/// Makes the schema of a copy ours, so that its rows can be read without running anything that stands there.
enum SchemaRepair {
    /// Gives every table under a name of ours its definition, and takes everything else out of the schema. Rows that do not fit do not
    /// match their checksums.
    ///
    /// - Parameters:
    ///   - copy: A file that nobody else has open. It must be opened anew afterwards.
    ///   - check: What its schema holds.
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
            try change.run()
        }
        try connection.execute(SQL.commit)
    }
}
