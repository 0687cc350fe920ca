/// Parses comma-separated values with quoted fields (RFC 4180).
enum CommaSeparatedValues {
    static func rows(of text: String) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        var bytes = text.utf8.makeIterator()
        var next = bytes.next()
        while let byte = next {
            next = bytes.next()
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && next == UInt8(ascii: "\""):
                field.append(byte)
                next = bytes.next()
            case UInt8(ascii: "\""):
                isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                row.append(String(decoding: field, as: UTF8.self))
                field = []
            case UInt8(ascii: "\n") where !isQuoted:
                row.append(String(decoding: field, as: UTF8.self))
                rows.append(row)
                (row, field) = ([], [])
            case UInt8(ascii: "\r") where !isQuoted:
                break
            default:
                field.append(byte)
            }
        }
        if !field.isEmpty || !row.isEmpty {
            row.append(String(decoding: field, as: UTF8.self))
            rows.append(row)
        }
        return rows
    }
}
