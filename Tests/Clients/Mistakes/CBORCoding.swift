// Mistakes of a reader of the page of CBORCoding, and the diagnostics that must follow: these and
// no others.

import CBORCoding

struct Plain {
    var name: String
}

func coding(_ plain: Plain) throws {
    // expected-error@+1 {{instance method 'encode' requires that 'Plain' conform to 'Encodable'}}
    _ = try CBOREncoder().encode(plain)
}
