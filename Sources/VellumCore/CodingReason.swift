internal import Foundation

/// Whether a value could not be encoded or decoded.
package func isOfCoding(_ error: any Error) -> Bool {
    error is DecodingError || error is EncodingError
}

/// Why a value could not be encoded or decoded, as the end of a sentence. It names types and
/// properties, never a value or a key of a dictionary.
package func codingReason(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let property, _):
        return "the property \(property.stringValue) is missing"
    case DecodingError.valueNotFound(let type, _):
        return "there is nil in the place of a value of type \(type)"
    case DecodingError.typeMismatch(let type, _):
        return "there is something else in the place of a value of type \(type)"
    case DecodingError.dataCorrupted:
        return
            """
            the bytes are damaged, in another format, or have a value that the type lacks, such as \
            a case that was removed
            """
    case EncodingError.invalidValue(let value, _):
        return "a value of type \(type(of: value)) in it is not valid"
    default:
        let error = error as NSError
        return "it threw \(error.domain) \(error.code)"
    }
}
